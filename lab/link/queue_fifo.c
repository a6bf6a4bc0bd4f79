// SPDX-License-Identifier: GPL-2.0-or-later
// First in, first out. Drop-tail drops arrivals that do not fit; drop-head makes room by dropping
// the oldest, so that a receiver learns of congestion one queue earlier (Lakshman, Neidhardt, Ott
// 1996, "The Drop from Front Strategy in TCP and in TCP over ATM").
#include <stdlib.h>

#include "lab/link/queue_kinds.h"

struct fifo {
    struct queue queue;
    struct packet_list list;
};

static void drop_oldest(struct fifo *f, uint32_t bytes, usec_t now)
{
    struct queue *q = &f->queue;
    while (q->packets && queue_exceeds(q, q->config.limit, bytes, 1))
        packet_drop(queue_take(q, &f->list, now), q->dropper, LINK_DROP_FULL, now);
}

static void fifo_enqueue(struct queue *q, struct packet *p, usec_t now)
{
    struct fifo *f = (struct fifo *)q;
    // A packet larger than the whole limit would displace all others and still not fit.
    bool never_fits = q->config.limit.bytes && p->bytes > q->config.limit.bytes;
    if (q->config.kind == QUEUE_DROPHEAD && !never_fits)
        drop_oldest(f, p->bytes, now);
    if (queue_dropped_full(q, p, now))
        return;
    // The length that the arrival meets, without itself (RFC 8257, section 3.1).
    if (packet_is_ect(p) && queue_exceeds(q, q->config.mark, 0, 0))
        queue_mark(p);
    queue_put(q, &f->list, p, now);
}

static struct packet *fifo_dequeue(struct queue *q, usec_t now)
{
    return queue_take(q, &((struct fifo *)q)->list, now);
}

static void fifo_free(struct queue *q)
{
    queue_list_free(&((struct fifo *)q)->list);
    free(q);
}

static const struct queue_ops fifo_ops = {
    .enqueue = fifo_enqueue,
    .dequeue = fifo_dequeue,
    .free = fifo_free,
};

struct queue *queue_fifo_new(void)
{
    struct fifo *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->queue.ops = &fifo_ops;
    return &f->queue;
}
