// SPDX-License-Identifier: GPL-2.0-or-later
// CoDel, RFC 8289. When packets have waited longer than `target` for a whole `interval`, one is
// dropped, then further ones at increasing frequency, interval / sqrt(count) apart, until a packet
// has waited less than the target or less than a packet's worth of bytes is left.
//
// ECN: a marked packet is delivered, so a dequeue marks at most one, and the next due drop happens
// at a later dequeue.
#include <math.h>
#include <stdlib.h>

#include "lab/link/queue_kinds.h"

struct codel {
    struct queue queue;
    struct packet_list list;
    // When the wait will have been above target for an interval; USEC_NEVER: it is not above.
    usec_t first_above;
    usec_t drop_next;
    uint32_t count; // drops since the dropping state began, or an initial value in its place
    uint32_t last_count;
    bool dropping;
};

// RFC 8289, section 5, control_law: the drop rate rises with the square root of the drops, because
// TCP's throughput falls with it.
static usec_t control_law(const struct codel *c, usec_t t)
{
    return t + (usec_t)llround((double)c->queue.config.interval / sqrt(c->count));
}

// RFC 8289, section 5, dodequeue: takes the oldest packet, and finds whether the queue was too long
// for too long.
static struct packet *take_oldest(struct codel *c, usec_t now, bool *may_drop)
{
    struct queue *q = &c->queue;
    struct packet *p = queue_take(q, &c->list, now);
    *may_drop = false;
    if (!p || now - p->queued_at < q->config.target || q->bytes <= QUEUE_MTU)
        c->first_above = USEC_NEVER;
    else if (c->first_above == USEC_NEVER)
        c->first_above = now + q->config.interval;
    else
        *may_drop = now >= c->first_above;
    return p;
}

// Drops packets as long as drops are due.
static struct packet *keep_dropping(struct codel *c, struct packet *p, bool may_drop, usec_t now)
{
    c->dropping = may_drop;
    while (c->dropping && now >= c->drop_next) {
        c->count++;
        if (!queue_signal(&c->queue, p, now)) {
            c->drop_next = control_law(c, c->drop_next);
            break;
        }
        p = take_oldest(c, now, &may_drop);
        c->dropping = may_drop;
        if (may_drop)
            c->drop_next = control_law(c, c->drop_next);
    }
    return p;
}

static struct packet *begin_dropping(struct codel *c, struct packet *p, usec_t now)
{
    bool may_drop;
    if (queue_signal(&c->queue, p, now))
        p = take_oldest(c, now, &may_drop);
    c->dropping = true;
    // Soon after the last dropping state: starts at the rate that controlled the queue then
    // (section 5, deque).
    uint32_t delta = c->count - c->last_count;
    bool recent = now - c->drop_next < 16 * c->queue.config.interval;
    c->count = delta > 1 && recent ? delta : 1;
    c->drop_next = control_law(c, now);
    c->last_count = c->count;
    return p;
}

static void codel_enqueue(struct queue *q, struct packet *p, usec_t now)
{
    if (!queue_dropped_full(q, p, now))
        queue_put(q, &((struct codel *)q)->list, p, now);
}

static struct packet *codel_dequeue(struct queue *q, usec_t now)
{
    struct codel *c = (struct codel *)q;
    bool may_drop;
    struct packet *p = take_oldest(c, now, &may_drop);
    if (!p) {
        c->dropping = false;
        return NULL;
    }
    if (c->dropping)
        return keep_dropping(c, p, may_drop, now);
    return may_drop ? begin_dropping(c, p, now) : p;
}

static void codel_free(struct queue *q)
{
    queue_list_free(&((struct codel *)q)->list);
    free(q);
}

static const struct queue_ops codel_ops = {
    .enqueue = codel_enqueue,
    .dequeue = codel_dequeue,
    .free = codel_free,
};

struct queue *queue_codel_new(void)
{
    struct codel *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->queue.ops = &codel_ops;
    c->first_above = USEC_NEVER;
    return &c->queue;
}
