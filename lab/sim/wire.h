// SPDX-License-Identifier: GPL-2.0-or-later
// An access link: a rate, then a delay, and an endless queue. A packet leaves when its last bit has
// crossed; what a node and its queue would find out event by event is known at its arrival, so that
// it costs one event.
//
// `overhead` is time that a host takes for a packet, uniform in [0, overhead), order kept: it
// breaks the phase that packets of a simulation keep for ever otherwise (Floyd, Jacobson 1992, "On
// traffic phase effects in packet-switched gateways", section 3).
#ifndef WEIR_SIM_WIRE_H
#define WEIR_SIM_WIRE_H

#include "common/base/rng.h"
#include "lab/link/held_packets.h"

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif
#endif
