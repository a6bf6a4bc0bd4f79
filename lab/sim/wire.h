// SPDX-License-Identifier: GPL-2.0-or-later
// An access link: a rate, then a delay, with an unlimited queue. A packet leaves when its last bit
// has crossed. Its departure is computed at its arrival, so that it costs one event instead of
// several.
//
// `overhead` is the time that a host spends on a packet, uniform in [0, overhead), with order kept.
// It breaks the phase that packets of a simulation otherwise keep forever (Floyd, Jacobson 1992,
// "On traffic phase effects in packet-switched gateways", section 3).
#ifndef WEIR_SIM_WIRE_H
#define WEIR_SIM_WIRE_H

#include "common/base/decls.h"
#include "common/base/rng.h"
#include "lab/link/held_packets.h"

DECLS_BEGIN

struct wire {
    struct node node;
    int64_t bps;
    usec_t delay;
    usec_t overhead;
    struct rng rng;
    int64_t free_at_ns; // the last bit of the last packet has left
    struct held_packets held;
};

// bps: 1e6 .. 1e11.
void wire_init(struct wire *w, struct node *to, int64_t bps, usec_t delay, usec_t overhead,
               uint64_t seed);

DECLS_END
#endif
