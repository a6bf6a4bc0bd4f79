// SPDX-License-Identifier: GPL-2.0-or-later
// A packet on an emulated link, and the pool that packets come from. A packet has one owner at a
// time: the node that it was pushed into, then the next one, finally the sink or the drop handler,
// which returns it to its pool.
#ifndef WEIR_LINK_PACKET_H
#define WEIR_LINK_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum ecn { ECN_NOT = 0, ECN_ECT1 = 1, ECN_ECT0 = 2, ECN_CE = 3 }; // RFC 3168, section 5

enum link_drop {
    LINK_DROP_LOSS, // the link's random loss or mask
    LINK_DROP_FULL, // the queue's limit
    LINK_DROP_AQM,  // active queue management: RED, DRED, DRD, CoDel, DualPI2
    LINK_DROP_POOL, // the emulator's own memory bound
    LINK_DROP_CAUSES
};

struct packet {
    struct packet *next; // used by the owner, for lists
    uint32_t bytes;      // size of the IP packet, which costs transmission time
    uint32_t flow;       // set by the caller: the flow whose stats count it
    uint8_t ecn;         // enum ecn
    bool marked;         // true if a queue on this link set CE
    usec_t pushed_at;    // when it entered the link
    usec_t queued_at;    // when it entered a queue
    usec_t queue_delay;  // time in queues of this link, without its own transmission
    usec_t due;          // used by the owner
    struct packet_pool *pool;
    uint32_t capacity; // size of `data`
    uint8_t data[];    // used by the caller: the bytes, or the data of a simulated endpoint
};

struct packet_pool {
    struct packet *free; // owned; a list
    size_t data_bytes;   // capacity of each packet's data
    size_t limit;        // max packets in use at once
    size_t out;
    size_t made;
};

void packet_pool_init(struct packet_pool *pool, size_t data_bytes, size_t limit);
// All packets must have been returned.
void packet_pool_destroy(struct packet_pool *pool);
// Returns a packet whose fields except `pool` and `capacity` are 0; `data` is not cleared. NULL:
// `limit` packets are in use, or no memory.
struct packet *packet_new(struct packet_pool *pool);
// NULL is allowed.
void packet_free(struct packet *p);

// Returns true for ECT(0), ECT(1) and CE: a queue marks such packets where it would drop others.
static inline bool packet_is_ect(const struct packet *p)
{
    return p->ecn != ECN_NOT;
}

// Sets Congestion Experienced. Only for packets for which packet_is_ect() is true.
static inline void packet_mark(struct packet *p)
{
    p->marked = true;
    p->ecn = ECN_CE;
}

// A FIFO of packets, linked by their `next`.
struct packet_list {
    struct packet *head;
    struct packet **tail; // NULL until first used
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

// Receives the packets that a node drops: counts them and returns them to their pool.
struct dropper {
    void (*dropped)(struct dropper *d, struct packet *p, enum link_drop cause, usec_t now);
};

static inline void packet_drop(struct packet *p, struct dropper *d, enum link_drop cause,
                               usec_t now)
{
    d->dropped(d, p, cause, now);
}

DECLS_END
#endif
