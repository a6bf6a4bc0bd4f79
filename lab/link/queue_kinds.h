// SPDX-License-Identifier: GPL-2.0-or-later
// Shared by the disciplines and queue_new; not for other files.
#ifndef WEIR_LINK_QUEUE_KINDS_H
#define WEIR_LINK_QUEUE_KINDS_H

#include <assert.h>

#include "common/base/decls.h"
#include "lab/link/queue.h"

DECLS_BEGIN

enum { QUEUE_MTU = 1500 }; // bytes, where an algorithm's "a packet" means a size

// Each returns an empty queue with its ops and own state set; queue_new sets the rest. NULL: no
// memory.
struct queue *queue_fifo_new(void);
struct queue *queue_red_new(void);
struct queue *queue_dred_new(void);
struct queue *queue_codel_new(void);
struct queue *queue_dualpi2_new(void);

// Adds the packet to a list of the queue.
static inline void queue_put(struct queue *q, struct packet_list *l, struct packet *p, usec_t now)
{
    p->queued_at = now;
    q->bytes += p->bytes;
    q->packets++;
    packet_list_push(l, p);
}

// Removes the list's oldest packet from the queue, to be transmitted or dropped. NULL: the list is
// empty.
static inline struct packet *queue_take(struct queue *q, struct packet_list *l, usec_t now)
{
    struct packet *p = packet_list_pop(l);
    if (!p)
        return NULL;
    assert(now >= p->queued_at);
    p->queue_delay += now - p->queued_at;
    q->bytes -= p->bytes;
    q->packets--;
    return p;
}

// Returns true if the arriving packet was dropped, because it would exceed the hard limit.
static inline bool queue_dropped_full(struct queue *q, struct packet *p, usec_t now)
{
    if (!queue_exceeds(q, q->config.limit, p->bytes, 1))
        return false;
    packet_drop(p, q->dropper, LINK_DROP_FULL, now);
    return true;
}

// A packet that arrives with CE was marked by another link, and is not counted as marked here.
static inline void queue_mark(struct packet *p)
{
    if (p->ecn != ECN_CE)
        packet_mark(p);
}

// Signals congestion: returns true if the packet was dropped, false if it was marked.
static inline bool queue_signal(struct queue *q, struct packet *p, usec_t now)
{
    if (q->config.ecn && packet_is_ect(p)) {
        queue_mark(p);
        return false;
    }
    packet_drop(p, q->dropper, LINK_DROP_AQM, now);
    return true;
}

// Thresholds and lengths as one number: in packets if both thresholds are, else in bytes.
static inline bool queue_counts_bytes(const struct queue *q)
{
    return q->config.min.bytes || q->config.max.bytes;
}

static inline double queue_threshold(const struct queue *q, struct queue_size s)
{
    if (!queue_counts_bytes(q))
        return (double)s.packets;
    return s.bytes ? (double)s.bytes : (double)(s.packets * (uint64_t)QUEUE_MTU);
}

static inline double queue_length(const struct queue *q)
{
    return (double)(queue_counts_bytes(q) ? q->bytes : q->packets);
}

static inline void queue_list_free(struct packet_list *l)
{
    for (struct packet *p = packet_list_pop(l); p; p = packet_list_pop(l))
        packet_free(p);
}

DECLS_END
#endif
