// SPDX-License-Identifier: GPL-2.0-or-later
// Implements `weir-send --prepare FILE`: encodes a file into a stored ladder, FILE.weir.mkv. After
// an interruption, the next run continues where this one stopped.
#ifndef WEIR_SENDER_PREPARE_PREPARE_H
#define WEIR_SENDER_PREPARE_PREPARE_H

#include "sender/options/options.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PREPARE_LAYERS = 3 }; // default number of temporal layers

int prepare_run(const struct options *o); // returns the program's exit code

#ifdef __cplusplus
}
#endif
#endif
