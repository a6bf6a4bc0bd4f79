// SPDX-License-Identifier: GPL-2.0-or-later
// Packets that a node holds until their time has come. The node embeds them, and its `run` and
// `destroy` are these.
#ifndef WEIR_LINK_HELD_PACKETS_H
#define WEIR_LINK_HELD_PACKETS_H

#include "lab/link/node.h"

#ifdef __cplusplus
extern "C" {
#endif

struct held_packets {        // all zero to begin with
    struct packet_list list; // by `due`, those of one instant as they came
    usec_t latest;           // `due` of the last in the list
};

static inline bool held_packets_any(const struct held_packets *h)
{
    return h->list.head != NULL;
}

// Takes `p` over until `due`, and wakes `n` when the first one is due.
void held_packets_push(struct held_packets *h, struct node *n, struct packet *p, usec_t due);
// Passes on what is due to n->to, and wakes `n` for the next.
void held_packets_run(struct held_packets *h, struct node *n, usec_t now);
void held_packets_destroy(struct held_packets *h); // gives them back to their pools

#ifdef __cplusplus
}
#endif
#endif
