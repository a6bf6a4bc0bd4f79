// SPDX-License-Identifier: GPL-2.0-or-later
// DualPI2, RFC 9332, appendix A: two queues, L for ECT(1) and CE, C for the rest, and one
// proportional-integral controller, whose output p' is squared for C and multiplied by k for L:
//
//     each Tupdate:  p' += alpha (q - target) + beta (q - q of the last time)
//     p_C = p'^2        C: dropped, or marked if ECT(0) and `ecn`
//     p_CL = k p'       L: marked; and always when the packet waited longer than `step` and more
//                       than TH_LEN packets are behind it
//
// q is the longer wait of the two queues' heads, 0 when both are empty. The updates apply at their
// exact times though they are computed at the next packet: between packets a queue only ages, so
// the input of each update is known.
//
// Overload, as in A.1: from p_CL = p_Lmax = 1 on, L packets are first dropped at p_C; from p_C =
// p_Cmax = min(1 / k^2, 1) on, ECT(0) packets in C are dropped, not marked.
//
// The choices that the RFC leaves open: `step` is the middle of A.1's ramp, 800 to 1200 us. Marks
// and drops come from `recur`, evenly spaced, not random. The scheduler is weighted round robin in
// bytes, 15 : 1 for L while both wait, so that L hardly waits for the Classic queue, and
// unresponsive L traffic cannot starve C.
#include <stdlib.h>

#include "lab/link/queue_kinds.h"

enum {
    WEIGHT_L = 15,
    WEIGHT_C = 1,
    TH_LEN = 1,        // A.1, Th_len: on a slow link a single packet waits long without a queue
    STEPS_MAX = 10000, // max updates computed at one packet; 150 s of them at 15 ms
};

struct half {
    struct packet_list list;
    uint64_t packets; // packets in the list
    double count;     // state of `recur`, in [0, 1)
};

struct dualpi2 {
    struct queue queue;
    struct half l, c;
    int64_t credit; // credit of C, in weighted bytes; > 0: C sends next
    double p;       // the RFC's p', in [0, 1]
    usec_t previous_wait;
    usec_t next_update; // USEC_NEVER until the first packet
};

// A.1: returns true every 1 / likelihood packets. The RFC tests `count` > 1, which would spare the
// first packet at a likelihood of 1.
static bool recur(struct half *h, double likelihood)
{
    h->count += likelihood;
    if (h->count < 1)
        return false;
    h->count -= 1;
    return true;
}

static usec_t wait_of(const struct half *h, usec_t now)
{
    return h->list.head ? now - h->list.head->queued_at : 0;
}

// Returns true if further updates leave p unchanged until a packet arrives or leaves.
static bool update_once(struct dualpi2 *d, usec_t now)
{
    const struct queue_config *c = &d->queue.config;
    usec_t wait = usec_max(wait_of(&d->l, now), wait_of(&d->c, now));
    usec_t grown = wait - d->previous_wait;
    double p = d->p + c->alpha * usec_to_sec(wait - c->target) + c->beta * usec_to_sec(grown);
    d->p = p < 0 ? 0 : p > 1 ? 1 : p;
    d->previous_wait = wait;
    if (d->queue.packets)
        return d->p >= 1 && wait >= c->target && grown >= 0;
    return d->p <= 0;
}

static void update(struct dualpi2 *d, usec_t now)
{
    const usec_t interval = usec_max(d->queue.config.interval, 1);
    if (d->next_update == USEC_NEVER)
        d->next_update = now + interval;
    bool settled = false;
    for (int i = 0; i < STEPS_MAX && !settled && d->next_update <= now; i++) {
        settled = update_once(d, d->next_update);
        d->next_update += interval;
    }
    if (d->next_update > now)
        return;
    // The remaining updates change nothing, or exceed the bound; the head's wait continued
    // meanwhile.
    usec_t skipped = (now - d->next_update) / interval * interval + interval;
    d->next_update += skipped;
    if (d->queue.packets)
        d->previous_wait += skipped;
}

static bool is_l4s(const struct packet *p)
{
    return p->ecn & 1; // ECT(1) or CE
}

static void dualpi2_enqueue(struct queue *q, struct packet *p, usec_t now)
{
    struct dualpi2 *d = (struct dualpi2 *)q;
    update(d, now);
    if (queue_dropped_full(q, p, now))
        return;
    struct half *h = is_l4s(p) ? &d->l : &d->c;
    h->packets++;
    queue_put(q, &h->list, p, now);
}

static struct half *scheduled(struct dualpi2 *d)
{
    if (!d->l.list.head || !d->c.list.head)
        return d->l.list.head ? &d->l : &d->c;
    bool l = d->credit <= 0;
    int64_t bytes = (l ? &d->l : &d->c)->list.head->bytes;
    d->credit += l ? WEIGHT_C * bytes : -WEIGHT_L * bytes;
    return l ? &d->l : &d->c;
}

// A.1, the native AQM of L. The packet has already left the queue.
static bool over_step(const struct dualpi2 *d, const struct packet *p, usec_t now)
{
    return now - p->queued_at > d->queue.config.step && d->l.packets > TH_LEN;
}

// Returns true if the packet was dropped.
static bool signal_l(struct dualpi2 *d, struct packet *p, usec_t now)
{
    struct queue *q = &d->queue;
    double p_cl = q->config.k * d->p;
    bool overload = p_cl >= 1;
    if (overload && recur(&d->l, d->p * d->p)) {
        packet_drop(p, q->dropper, LINK_DROP_AQM, now);
        return true;
    }
    if (overload || over_step(d, p, now) || recur(&d->l, p_cl))
        queue_mark(p);
    return false;
}

static bool signal_c(struct dualpi2 *d, struct packet *p, usec_t now)
{
    struct queue *q = &d->queue;
    if (!recur(&d->c, d->p * d->p))
        return false;
    if (d->p < 1 && q->config.k * d->p < 1) // p_C < p_Cmax
        return queue_signal(q, p, now);
    packet_drop(p, q->dropper, LINK_DROP_AQM, now);
    return true;
}

static struct packet *dualpi2_dequeue(struct queue *q, usec_t now)
{
    struct dualpi2 *d = (struct dualpi2 *)q;
    update(d, now);
    while (q->packets) {
        struct half *h = scheduled(d);
        struct packet *p = queue_take(q, &h->list, now);
        h->packets--;
        if (!(h == &d->l ? signal_l(d, p, now) : signal_c(d, p, now)))
            return p;
    }
    return NULL;
}

static void dualpi2_free(struct queue *q)
{
    struct dualpi2 *d = (struct dualpi2 *)q;
    queue_list_free(&d->l.list);
    queue_list_free(&d->c.list);
    free(q);
}

static const struct queue_ops dualpi2_ops = {
    .enqueue = dualpi2_enqueue,
    .dequeue = dualpi2_dequeue,
    .free = dualpi2_free,
};

struct queue *queue_dualpi2_new(void)
{
    struct dualpi2 *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->queue.ops = &dualpi2_ops;
    d->credit = (WEIGHT_C - WEIGHT_L) * QUEUE_MTU; // L's 15 packets go first
    d->next_update = USEC_NEVER;
    return &d->queue;
}
