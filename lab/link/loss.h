// SPDX-License-Identifier: GPL-2.0-or-later
// Losses that do not come from a queue: independent, in bursts (Gilbert 1960, Elliott 1963), or
// exactly the packets of a mask.
//
// Gilbert-Elliott: the state is advanced before each packet: good -> bad with p, bad -> good with
// r; then the packet is lost with probability `good` or `bad`. The long-run loss is (r good + p
// bad) / (p + r); a bad period lasts 1 / r packets.
#ifndef WEIR_LINK_LOSS_H
#define WEIR_LINK_LOSS_H

#include "common/base/decls.h"
#include "common/base/rng.h"
#include "lab/link/node.h"

DECLS_BEGIN

enum { LOSS_MASK_MAX = 1024 };

enum loss_kind { LOSS_NONE, LOSS_IID, LOSS_GILBERT_ELLIOTT, LOSS_MASK };

struct loss_config {
    enum loss_kind kind;
    double probability;              // iid
    double p, r, good, bad;          // Gilbert-Elliott
    uint16_t mask_packets;           // mask: number of packets that it covers
    bool mask_repeats;               // true: the mask repeats; false: later packets pass
    uint8_t mask[LOSS_MASK_MAX / 8]; // packet i is lost if bit i % 8 of byte i / 8 is set
};

struct loss {
    struct node node;
    struct loss_config config;
    struct dropper *dropper; // borrowed
    struct rng rng;
    bool is_bad;
    uint64_t seen; // packets since the mask was set
};

void loss_init(struct loss *l, struct node *to, const struct loss_config *config,
               struct dropper *dropper, uint64_t seed);
void loss_set(struct loss *l, const struct loss_config *config);

DECLS_END
#endif
