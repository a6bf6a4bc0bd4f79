// SPDX-License-Identifier: GPL-2.0-or-later
// Propagation delay: a packet leaves `delay` after its arrival, with jitter uniform within +-jitter
// of that (never below 0). Order is kept: a packet never leaves before an earlier one.
#ifndef WEIR_LINK_DELAY_H
#define WEIR_LINK_DELAY_H

#include "common/base/decls.h"
#include "common/base/rng.h"
#include "lab/link/held_packets.h"

DECLS_BEGIN

struct delay {
    struct node node;
    usec_t delay;
    usec_t jitter;
    struct rng rng;
    struct held_packets held;
    usec_t latest; // time at which the last packet that arrived leaves
};

void delay_init(struct delay *d, struct node *to, usec_t delay, usec_t jitter, uint64_t seed);
// Applies to later packets; order is kept.
void delay_set(struct delay *d, usec_t delay, usec_t jitter);

DECLS_END
#endif
