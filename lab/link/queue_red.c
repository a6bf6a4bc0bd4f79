// SPDX-License-Identifier: GPL-2.0-or-later
// Random Early Detection: Floyd, Jacobson 1993, "Random Early Detection Gateways for Congestion
// Avoidance", the algorithm of its figure 2. The average is of the length that arrivals meet, in
// the unit of the thresholds. In byte mode a packet's size does not change its probability (the
// paper's section 4 leaves that open).
//
// Choices that the paper leaves to the gateway:
//   - figure 2's count is one higher after a signal than at the start, so the distance would be
//     uniform in 1 .. 1 / p_b - 1; `passed` counts as section 7 derives it, up to 1 / p_b;
//   - at max and above every packet is dropped, or marked if it is ECT, as in the paper; the hard
//     limit bounds the queue of senders that ignore marks;
//   - gentle (Floyd 2000, "Recommendation on using the gentle_ variant of RED"): between max and
//     2 max the probability rises further, from p_max to 1;
//   - the idle time counts in packets of 1000 bytes (the paper: "a small packet", typical of the
//     link), from when the last one left the queue. A link at rate 0 sends none of them.
#include <math.h>
#include <stdlib.h>

#include "lab/link/queue_kinds.h"

enum { IDLE_PACKET_BYTES = 1000 };

struct red {
    struct queue queue;
    struct packet_list list;
    double average;
    // Arrivals without a signal since the last signal, or since the average was below min.
    uint64_t passed;
    usec_t idle_since; // when the queue became empty; USEC_NEVER: not empty, or never used
};

static void update_average(struct red *r, usec_t now)
{
    struct queue *q = &r->queue;
    const double weight = q->config.weight;
    if (q->packets) {
        r->average += weight * (queue_length(q) - r->average);
    } else if (r->idle_since != USEC_NEVER) {
        double m = usec_to_sec(now - r->idle_since) * q->rate_bps / (8.0 * IDLE_PACKET_BYTES);
        r->average *= pow(1 - weight, m);
        r->idle_since = now; // this arrival may be dropped, and the queue stay empty
    }
}

// Returns the paper's p_b; below 0 under min.
static double base_probability(const struct red *r)
{
    const struct queue_config *c = &r->queue.config;
    double min = queue_threshold(&r->queue, c->min), max = queue_threshold(&r->queue, c->max);
    if (r->average < min)
        return -1;
    if (r->average < max)
        return c->p_max * (r->average - min) / (max - min);
    if (c->gentle && r->average < 2 * max)
        return c->p_max + (1 - c->p_max) * (r->average - max) / max;
    return 1;
}

static bool chosen(struct red *r)
{
    double p_b = base_probability(r);
    if (p_b < 0) {
        r->passed = 0;
        return false;
    }
    // Section 7, method 2: the distance between signals is uniform in 1 .. 1 / p_b, not geometric.
    double left = 1 - (double)r->passed * p_b;
    double p_a = p_b >= left ? 1 : p_b / left;
    if (rng_unit(&r->queue.rng) >= p_a) {
        r->passed++;
        return false;
    }
    r->passed = 0;
    return true;
}

static void red_enqueue(struct queue *q, struct packet *p, usec_t now)
{
    struct red *r = (struct red *)q;
    update_average(r, now);
    if (queue_dropped_full(q, p, now)) {
        r->passed = 0;
        return;
    }
    if (chosen(r) && queue_signal(q, p, now))
        return;
    r->idle_since = USEC_NEVER;
    queue_put(q, &r->list, p, now);
}

static struct packet *red_dequeue(struct queue *q, usec_t now)
{
    struct red *r = (struct red *)q;
    struct packet *p = queue_take(q, &r->list, now);
    if (p && !q->packets)
        r->idle_since = now;
    return p;
}

static void red_free(struct queue *q)
{
    queue_list_free(&((struct red *)q)->list);
    free(q);
}

static const struct queue_ops red_ops = {
    .enqueue = red_enqueue,
    .dequeue = red_dequeue,
    .free = red_free,
};

struct queue *queue_red_new(void)
{
    struct red *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->queue.ops = &red_ops;
    r->idle_since = USEC_NEVER;
    return &r->queue;
}
