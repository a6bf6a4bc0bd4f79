// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/flow_datagram.h"

#include <stdlib.h>

#include "lab/sim/datagram_ends.h"
#include "lab/sim/spacing.h"

struct flow_datagram {
    struct flow flow;
    struct flow_datagram_config config;
    struct datagram_ends ends;
    uint16_t first_seq;
    bool started;
    int64_t backlog; // number of waiting media packets
    struct spacing media;
    usec_t media_at; // when the next media packet comes; USEC_NEVER: greedy, or not started
};

static bool has_data(const struct flow_datagram *f)
{
    return f->config.media_bps == 0 || f->backlog > 0;
}

static void produce(struct flow_datagram *f, usec_t now)
{
    int64_t max = f->config.media_bps / 8 / f->config.packet_bytes + 1;
    while (f->media_at <= now) {
        f->backlog += f->backlog < max;
        f->media_at = spacing_after(&f->media, f->media_at);
    }
}

static void send_one(struct flow_datagram *f, usec_t now)
{
    struct feedback_wish wish = datagram_sender_wish(&f->ends.sender);
    struct media_packet body = {.body = (const uint8_t *)&wish, .body_len = sizeof(wish)};
    f->backlog -= f->config.media_bps != 0;
    enum ecn ect = f->ends.sender.controller->l4s ? ECN_ECT1 : ECN_ECT0;
    datagram_ends_send(&f->ends, f->config.packet_bytes, f->config.packet_bytes,
                       f->config.ect ? ect : ECN_NOT, &body, now);
}

// Sends all packets that may leave now, then sleeps until the next may.
static void send_all(struct flow_datagram *f, usec_t now)
{
    if (now >= f->flow.stop) {
        node_wake_at(&f->flow.source, USEC_NEVER);
        return;
    }
    produce(f, now);
    while (has_data(f) && datagram_sender_room(&f->ends.sender, now))
        send_one(f, now);
    node_wake_at(&f->flow.source,
                 usec_min(datagram_ends_next(&f->ends, has_data(f), now), f->media_at));
}

static void source_run(struct node *n, usec_t now)
{
    struct flow_datagram *f = (struct flow_datagram *)n;
    if (!f->started && f->config.media_bps)
        f->media_at = now;
    f->started = true;
    datagram_ends_run(&f->ends, now);
    send_all(f, now);
}

static void source_push(struct node *n, struct packet *p, usec_t now)
{
    struct flow_datagram *f = (struct flow_datagram *)n;
    datagram_ends_back(&f->ends, p, now);
    send_all(f, now);
}

static void report_if_due(struct flow_datagram *f, usec_t now)
{
    datagram_ends_report_if_due(&f->ends, now);
    usec_t next = datagram_receiver_next_report(&f->ends.receiver);
    node_wake_at(&f->flow.sink, next == USEC_NEVER ? next : usec_max(next, now + 1));
}

static void sink_push(struct node *n, struct packet *p, usec_t now)
{
    struct flow_datagram *f = (struct flow_datagram *)flow_of_sink(n);
    uint16_t seq = (uint16_t)(f->first_seq + flow_head_of(p).number);
    struct feedback_wish wish;
    memcpy(&wish, flow_body(p), sizeof(wish));
    flow_arrived(&f->flow, p, now);
    f->flow.counts.good_bytes += p->bytes;
    datagram_receiver_packet(&f->ends.receiver, f->flow.id, seq, p->ecn,
                             p->bytes - FLOW_UDP_HEADERS, &wish, now);
    packet_free(p);
    report_if_due(f, now);
}

static void sink_run(struct node *n, usec_t now)
{
    report_if_due((struct flow_datagram *)flow_of_sink(n), now);
}

static void datagram_state(const struct flow *base, struct flow_state *out, usec_t now)
{
    const struct flow_datagram *f = (const struct flow_datagram *)base;
    datagram_ends_state(&f->ends, out, now);
    if (!f->started || now >= base->stop)
        out->rate_bps = 0;
}

static void datagram_free(struct flow *base)
{
    struct flow_datagram *f = (struct flow_datagram *)base;
    datagram_ends_destroy(&f->ends);
    free(f);
}

static const struct flow_ops OPS = {.state = datagram_state, .free = datagram_free};
static const struct node_ops SOURCE_OPS = {.push = source_push, .run = source_run};
static const struct node_ops SINK_OPS = {.push = sink_push, .run = sink_run};

static bool start_ends(struct flow_datagram *f, usec_t start)
{
    uint32_t full = f->config.full_bytes ? f->config.full_bytes : f->config.packet_bytes;
    struct controller_config limits = {.packet_bytes = full,
                                       .max_rate_bps = (double)f->config.max_bps};
    struct datagram_sender_config sender = {.first_seq = f->first_seq};
    if (!datagram_ends_init(&f->ends, &f->flow, f->config.cc, &limits, &sender, f->flow.id + 1,
                            start))
        return false;
    struct controller *c = f->ends.sender.controller;
    if (f->config.media_bps && c->ops->media_rate)
        c->ops->media_rate(c, (double)f->config.media_bps, start);
    return true;
}

struct flow *flow_datagram_new(const struct flow_env *env,
                               const struct flow_datagram_config *config, uint32_t id, usec_t start,
                               usec_t stop, uint64_t seed)
{
    struct flow_datagram *f = calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    struct rng rng = rng_seeded(seed);
    *f = (struct flow_datagram){
        .flow = {.ops = &OPS, .env = env, .id = id, .start = start, .stop = stop},
        .config = *config,
        .first_seq = (uint16_t)rng_u64(&rng),
        .media_at = USEC_NEVER};
    if (config->media_bps)
        f->media = spacing_of(config->packet_bytes, config->media_bps);
    node_init(&f->flow.source, &SOURCE_OPS, NULL);
    node_init(&f->flow.sink, &SINK_OPS, NULL);
    node_wake_at(&f->flow.source, start);
    if (!start_ends(f, start)) {
        free(f);
        return NULL;
    }
    return &f->flow;
}
