// SPDX-License-Identifier: GPL-2.0-or-later
// Implements `weir-send --prepare SOURCE`: encodes a film, or each film of a folder, that has no
// up-to-date stored ladder.
#ifndef WEIR_SENDER_PREPARE_PREPARE_H
#define WEIR_SENDER_PREPARE_PREPARE_H

#include "common/base/decls.h"
#include "sender/options/options.h"

DECLS_BEGIN

int prepare_run(const struct options *o); // returns the program's exit code

DECLS_END
#endif
