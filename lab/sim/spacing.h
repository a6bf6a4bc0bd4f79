// SPDX-License-Identifier: GPL-2.0-or-later
// Packets of one size at a constant rate: instants in whole microseconds, without drift.
#ifndef WEIR_SIM_SPACING_H
#define WEIR_SIM_SPACING_H

#include "common/base/usec.h"

struct spacing {
    int64_t bits_e6; // bits of a packet, in 1e-6 bit
    int64_t bps;
    int64_t carry;
};

static inline struct spacing spacing_of(uint32_t bytes, int64_t bps)
{
    struct spacing s = {(int64_t)bytes * 8 * 1000000, bps, 0};
    return s;
}

// Returns when the packet after the one at `at` is due.
static inline usec_t spacing_after(struct spacing *s, usec_t at)
{
    s->carry += s->bits_e6;
    usec_t step = s->carry / s->bps;
    s->carry %= s->bps;
    return at + step;
}

#endif
