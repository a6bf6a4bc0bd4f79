// SPDX-License-Identifier: GPL-2.0-or-later
// Packets that a node holds until they are due. The node embeds this struct and uses the functions
// here as its `run` and `destroy`.
#ifndef WEIR_LINK_HELD_PACKETS_H
#define WEIR_LINK_HELD_PACKETS_H

#include "common/base/decls.h"
#include "lab/link/node.h"

DECLS_BEGIN

struct held_packets {        // all zero at first
    struct packet_list list; // in the order of `due`; packets with equal `due` in the order of
                             // arrival
    usec_t latest;           // `due` of the last packet in the list
};

static inline bool held_packets_any(const struct held_packets *h)
{
    return h->list.head != NULL;
}

// Takes over `p` until `due`. Wakes `n` when the first packet is due.
void held_packets_push(struct held_packets *h, struct node *n, struct packet *p, usec_t due);
// Passes the packets that are due to n->to, and wakes `n` when the next one is due.
void held_packets_run(struct held_packets *h, struct node *n, usec_t now);
void held_packets_destroy(struct held_packets *h); // returns the packets to their pools

DECLS_END
#endif
