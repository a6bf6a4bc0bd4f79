// SPDX-License-Identifier: GPL-2.0-or-later
// Exact timing of a rate. Nodes run at whole microseconds, but packets end between them. So the
// server counts work, not time: units of 1e-9 bit, of which a rate serves a whole number per
// microsecond. A packet leaves at the first whole microsecond at which all its work is done. The
// work that the server could have done since the true end is the credit of the next packet, if that
// was already waiting. So a busy period ends when its bits are sent, rounded up once, for any
// number of packets; and at high rates the credit of one microsecond lets several packets leave in
// it. Storing the end as a fractional time was rejected: no fraction of a second is exact for every
// rate.
#include "lab/link/bottleneck.h"

#include <math.h>

// These bounds keep all arithmetic in 64 bits: the longest packet is 1.4e17, a rate's microsecond
// at most 1e15, and no product exceeds the packet's own work and one microsecond.
static const uint32_t BYTES_MAX = 1 << 24;
static const double BPS_MAX = 1e12;
static const int64_t E9 = 1000 * 1000 * 1000;

static uint32_t cost_bytes(const struct bottleneck *b, const struct packet *p)
{
    assert(p->bytes <= BYTES_MAX && b->overhead <= BYTES_MAX - p->bytes);
    return p->bytes + b->overhead;
}

static void follow_schedule(struct bottleneck *b, usec_t now)
{
    if (now < b->rate_until)
        return;
    b->bps = rate_schedule_at(&b->schedule, now - b->start, &b->rate_until);
    if (b->rate_until != USEC_NEVER)
        b->rate_until += b->start;
    assert(b->bps >= 0 && b->bps <= BPS_MAX);
    b->per_usec_e9 = llround(b->bps * 1e3);
    b->queue->rate_bps = b->bps;
}

// At rate 0 packets stay in the queue.
static void serve_next(struct bottleneck *b, int64_t credit_e9, usec_t at, usec_t now)
{
    struct packet *p = b->per_usec_e9 ? b->queue->ops->dequeue(b->queue, now) : NULL;
    b->serving = p;
    if (!p)
        return;
    b->since = usec_max(at, p->queued_at);
    // A packet that has just arrived could not be served before, so it gets no credit.
    b->bits_left_e9 = (int64_t)cost_bytes(b, p) * 8 * E9 - (p->queued_at < at ? credit_e9 : 0);
}

static void wake_for_rate(struct bottleneck *b)
{
    usec_t when = b->rate_until;
    if (!b->serving && (b->per_usec_e9 || b->queue->packets == 0))
        when = USEC_NEVER;
    else if (b->serving && b->per_usec_e9)
        when = usec_min(when, b->since + (b->bits_left_e9 + b->per_usec_e9 - 1) / b->per_usec_e9);
    node_wake_at(&b->node, when);
}

static void serve_until(struct bottleneck *b, usec_t at)
{
    if (!b->serving || at <= b->since)
        return;
    b->bits_left_e9 -= b->per_usec_e9 * (at - b->since);
    b->since = at;
}

static void rate_push(struct node *n, struct packet *p, usec_t now)
{
    struct bottleneck *b = (struct bottleneck *)n;
    if (!b->serving)
        follow_schedule(b, now);
    p->queued_at = now;
    b->queue->ops->enqueue(b->queue, p, now);
    if (!b->serving)
        serve_next(b, 0, now, now);
    wake_for_rate(b);
}

// Takes the next packet before forwarding this one, because its receiver may push at once.
static void finish_served(struct bottleneck *b, usec_t at, usec_t now)
{
    while (b->serving && b->bits_left_e9 <= 0) {
        struct packet *done = b->serving;
        serve_next(b, -b->bits_left_e9, at, now);
        node_push(b->node.to, done, now);
    }
}

static void rate_run(struct node *n, usec_t now)
{
    struct bottleneck *b = (struct bottleneck *)n;
    usec_t at = n->next_run_at; // the server's clock does not wait for a late caller
    serve_until(b, at);
    // Packets that ended before the rate changes are sent at the old rate.
    finish_served(b, at, now);
    follow_schedule(b, at);
    if (!b->serving)
        serve_next(b, 0, at, now);
    wake_for_rate(b);
}

static void take_next(struct bottleneck *b, usec_t now)
{
    b->serving = b->queue->ops->dequeue(b->queue, now);
    b->bytes_left = b->serving ? cost_bytes(b, b->serving) : 0;
}

// Netravali et al. 2015 (Mahimahi's LinkShell): an opportunity carries whole packets and parts, and
// ends when the queue is empty.
static void use_opportunity(struct bottleneck *b, usec_t now)
{
    uint32_t room = TRACE_OPPORTUNITY_BYTES;
    if (!b->serving)
        take_next(b, now);
    while (b->serving && b->bytes_left <= room) {
        struct packet *done = b->serving;
        room -= b->bytes_left;
        b->serving = NULL;
        if (room > 0)
            take_next(b, now);
        bool is_over = !b->serving;
        node_push(b->node.to, done, now);
        if (is_over)
            return;
    }
    if (b->serving)
        b->bytes_left -= room;
}

static void trace_push(struct node *n, struct packet *p, usec_t now)
{
    struct bottleneck *b = (struct bottleneck *)n;
    p->queued_at = now;
    b->queue->ops->enqueue(b->queue, p, now);
    if (n->next_run_at != USEC_NEVER || b->queue->packets == 0)
        return;
    // The queue was idle: past opportunities are lost, and so is one at this instant if it was
    // used.
    uint64_t first = trace_first_from(b->trace, now - b->start);
    if (b->opportunity < first)
        b->opportunity = first;
    node_wake_at(n, b->start + trace_at(b->trace, b->opportunity));
}

static void trace_run(struct node *n, usec_t now)
{
    struct bottleneck *b = (struct bottleneck *)n;
    usec_t next = n->next_run_at;
    while (next <= now) {
        b->opportunity++;
        use_opportunity(b, now);
        bool is_idle = !b->serving && b->queue->packets == 0;
        next = is_idle ? USEC_NEVER : b->start + trace_at(b->trace, b->opportunity);
    }
    node_wake_at(n, next);
}

static void bottleneck_destroy(struct node *n)
{
    struct bottleneck *b = (struct bottleneck *)n;
    packet_free(b->serving);
    queue_free(b->queue);
}

static const struct node_ops RATE_OPS = {
    .push = rate_push, .run = rate_run, .destroy = bottleneck_destroy};
static const struct node_ops TRACE_OPS = {
    .push = trace_push, .run = trace_run, .destroy = bottleneck_destroy};

void bottleneck_init(struct bottleneck *b, struct node *to, struct queue *queue,
                     const struct rate_schedule *schedule, const struct trace *trace,
                     uint32_t overhead, usec_t now)
{
    assert(!schedule != !trace);
    *b = (struct bottleneck){
        .queue = queue, .overhead = overhead, .start = now, .trace = trace, .rate_until = now};
    node_init(&b->node, trace ? &TRACE_OPS : &RATE_OPS, to);
    if (trace) {
        queue->rate_bps = trace_mean_bps(trace);
        return;
    }
    b->schedule = *schedule;
    follow_schedule(b, now);
}

void bottleneck_set_rate(struct bottleneck *b, double bps, usec_t now)
{
    assert(!b->trace);
    while (node_next_run_at(&b->node) <= now)
        node_run(&b->node, now);
    serve_until(b, now);
    b->schedule = (struct rate_schedule){.count = 1, .steps = {{0, bps}}};
    b->start = now;
    b->rate_until = now;
    follow_schedule(b, now);
    if (!b->serving)
        serve_next(b, 0, now, now);
    wake_for_rate(b);
}
