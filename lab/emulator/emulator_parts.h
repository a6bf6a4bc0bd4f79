// SPDX-License-Identifier: GPL-2.0-or-later
// Shared by emulator.c and emulator_open.c.
#ifndef WEIR_EMULATOR_EMULATOR_PARTS_H
#define WEIR_EMULATOR_EMULATOR_PARTS_H

#include "common/base/decls.h"
#include "lab/link/node.h"

DECLS_BEGIN

enum {
    // Room after the MTU, so that a longer packet is detected.
    EMULATOR_SLACK = 64,
    // Max packets held per direction: 12 s of 100 Mbit/s, and 160 MB, at the usual MTU.
    EMULATOR_PACKETS_MAX = 100 * 1000,
};

extern const struct node_ops emulator_sink_ops;

DECLS_END
#endif
