// SPDX-License-Identifier: GPL-2.0-or-later
// `weir-send --prepare FILE`: encodes a file into a stored ladder beside it, FILE.weir.mkv, once
// and for all. Interrupted, it goes on where it stopped.
#ifndef WEIR_SENDER_PREPARE_PREPARE_H
#define WEIR_SENDER_PREPARE_PREPARE_H

#include "sender/options/options.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PREPARE_LAYERS = 3 }; // unless the options say another number

int prepare_run(const struct options *o); // an exit code

#ifdef __cplusplus
}
#endif
#endif
