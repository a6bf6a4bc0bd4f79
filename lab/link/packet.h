// SPDX-License-Identifier: GPL-2.0-or-later
// A packet on an emulated link, and the pool that packets come from. A packet has one holder at a
// time: the node that it was pushed into, then the next one, at last the sink or the drop handler,
// who gives it back to its pool.
#ifndef WEIR_LINK_PACKET_H
#define WEIR_LINK_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ecn { ECN_NOT = 0, ECN_ECT1 = 1, ECN_ECT0 = 2, ECN_CE = 3 }; // RFC 3168, section 5

enum link_drop {
    LINK_DROP_LOSS, // the link's random loss or mask
    LINK_DROP_FULL, // the queue's limit
    LINK_DROP_AQM,  // the queue's active management: RED, DRED, DRD, CoDel, DualPI2
    LINK_DROP_POOL, // the emulator's own memory bound
    LINK_DROP_CAUSES
};

struct packet {
    struct packet *next; // the holder's, for lists
    uint32_t bytes;      // the IP packet; what a rate is spent on
    uint32_t flow;       // the caller's: which flow it counts for
    uint8_t ecn;         // enum ecn
    bool marked;         // a queue on this link turned it into CE
    usec_t pushed_at;    // entered the link
    usec_t queued_at;    // entered a queue
    usec_t queue_delay;  // waited in queues of this link, without its own transmission
    usec_t due;          // the holder's
    struct packet_pool *pool;
    uint32_t capacity; // of `data`
    uint8_t data[];    // the caller's: the bytes, or what a simulated endpoint needs
};

struct packet_pool {
    struct packet *free; // owned; a list
    size_t data_bytes;   // capacity of each packet's data
    size_t limit;        // packets that may be out at once
    size_t out;
    size_t made;
};

void packet_pool_init(struct packet_pool *pool, size_t data_bytes, size_t limit);
// Every packet must have come back.
void packet_pool_destroy(struct packet_pool *pool);
// All fields but `pool` and `capacity` are 0, `data` is not cleared. NULL: `limit` are out, or no
// memory.
struct packet *packet_new(struct packet_pool *pool);
void packet_free(struct packet *p); // NULL is fine

// True for ECT(0), ECT(1) and CE: a queue marks such packets where it would drop others.
static inline bool packet_is_ect(const struct packet *p)
{
    return p->ecn != ECN_NOT;
}

// Congestion Experienced. Only for packets that packet_is_ect.
static inline void packet_mark(struct packet *p)
{
    p->marked = true;
    p->ecn = ECN_CE;
}

// A list of packets, first in first out, by their `next`.
struct packet_list {
    struct packet *head;
    struct packet **tail; // NULL while never used
};

static inline void packet_list_push(struct packet_list *l, struct packet *p)
{
    p->next = NULL;
    if (!l->head)
        l->tail = &l->head;
    *l->tail = p;
    l->tail = &p->next;
}

static inline struct packet *packet_list_pop(struct packet_list *l)
{
    struct packet *p = l->head;
    if (p)
        l->head = p->next;
    return p;
}

// Whoever takes packets that a node drops: counts them and gives them back to their pool.
struct dropper {
    void (*dropped)(struct dropper *d, struct packet *p, enum link_drop cause, usec_t now);
};

static inline void packet_drop(struct packet *p, struct dropper *d, enum link_drop cause,
                               usec_t now)
{
    d->dropped(d, p, cause, now);
}

#ifdef __cplusplus
}
#endif
#endif
