// SPDX-License-Identifier: GPL-2.0-or-later
// Reordering: with a probability a packet is held `by` longer, and later packets overtake it.
#ifndef WEIR_LINK_REORDER_H
#define WEIR_LINK_REORDER_H

#include "common/base/decls.h"
#include "common/base/rng.h"
#include "lab/link/held_packets.h"

DECLS_BEGIN

struct reorder {
    struct node node;
    double probability;
    usec_t by;
    struct rng rng;
    struct held_packets held;
};

void reorder_init(struct reorder *r, struct node *to, double probability, usec_t by, uint64_t seed);
// Applies to later packets.
void reorder_set(struct reorder *r, double probability, usec_t by);

DECLS_END
#endif
