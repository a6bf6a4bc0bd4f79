// SPDX-License-Identifier: GPL-2.0-or-later
// Two of NIST Net's queues: DRED (Goel, Krasic, Li, Walpole 2002, "Supporting low latency TCP-based
// media streams", section 3.2) and DRD, Derivative Random Drop (Fiksdal 2003). Both use the queue's
// length at the instant of an arrival, without an average. With q the length that the arrival
// meets:
//
//     q <= min          all pass
//     min < q < max     p rises linearly from p_min (10 %) to p_max
//     max <= q          p_max: DRED 1.0, DRD 0.95
//     beyond `limit`    all are dropped, whatever their ECN bits
//
// The paper defines where DRED's probability begins to rise and where all packets are dropped
// (drdcongest). It does not define the range from drdmax to drdcongest, which it sets to the same
// length. Here the rise ends at drdmax, and from there to `limit` the probability is constant: with
// 1.0 every ECT packet is marked there and every other one dropped. The thesis has no length beyond
// which DRD drops more than 95 %; the 5 % that pass fill the queue up to `limit`, as a router's
// memory is finite. In their texts DRD drops, and DRED marks or drops; here `ecn` applies to both.
#include <stdlib.h>

#include "lab/link/queue_kinds.h"

struct dred {
    struct queue queue;
    struct packet_list list;
};

static double probability(const struct queue *q)
{
    const struct queue_config *c = &q->config;
    double length = queue_length(q);
    double min = queue_threshold(q, c->min), max = queue_threshold(q, c->max);
    if (length <= min)
        return 0;
    if (length >= max)
        return c->p_max;
    return c->p_min + (c->p_max - c->p_min) * (length - min) / (max - min);
}

static void dred_enqueue(struct queue *q, struct packet *p, usec_t now)
{
    if (queue_dropped_full(q, p, now))
        return;
    if (rng_unit(&q->rng) < probability(q) && queue_signal(q, p, now))
        return;
    queue_put(q, &((struct dred *)q)->list, p, now);
}

static struct packet *dred_dequeue(struct queue *q, usec_t now)
{
    return queue_take(q, &((struct dred *)q)->list, now);
}

static void dred_free(struct queue *q)
{
    queue_list_free(&((struct dred *)q)->list);
    free(q);
}

static const struct queue_ops dred_ops = {
    .enqueue = dred_enqueue,
    .dequeue = dred_dequeue,
    .free = dred_free,
};

struct queue *queue_dred_new(void)
{
    struct dred *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->queue.ops = &dred_ops;
    return &d->queue;
}
