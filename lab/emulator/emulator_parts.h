// SPDX-License-Identifier: GPL-2.0-or-later
// What emulator.c and emulator_open.c share.
#ifndef WEIR_EMULATOR_EMULATOR_PARTS_H
#define WEIR_EMULATOR_EMULATOR_PARTS_H

#include "lab/link/node.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    // Room behind the MTU, so that a longer packet is seen to be one.
    EMULATOR_SLACK = 64,
    // Held at once, a direction: 12 s of 100 Mbit/s, and 160 MB, at the usual MTU.
    EMULATOR_PACKETS_MAX = 100 * 1000,
};

extern const struct node_ops emulator_sink_ops;

#ifdef __cplusplus
}
#endif
#endif
