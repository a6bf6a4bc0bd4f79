// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/flow_datagram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/protocol/datagram_receiver.h"
#include "common/protocol/datagram_sender.h"
#include "lab/sim/spacing.h"

struct flow_datagram {
    struct flow flow;
    struct flow_datagram_config config;
    struct datagram_sender sender;
    struct datagram_receiver receiver;
    uint16_t first_seq;
    bool started;
    int64_t backlog; // number of waiting media packets
    struct spacing media;
    usec_t media_at; // when the next media packet comes; USEC_NEVER: greedy, or not started
};

struct datagram_data {
    int64_t number;
    usec_t sent_at;
    struct feedback_wish wish;
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
    struct datagram_data data = {f->sender.next_number, now, datagram_sender_wish(&f->sender)};
    datagram_sender_sent(&f->sender, f->config.packet_bytes, now);
    f->backlog -= f->config.media_bps != 0;
    struct packet *p = flow_packet(&f->flow, true, f->config.packet_bytes, sizeof(data));
    if (!p)
        return;
    p->ecn = f->config.ect ? ECN_ECT0 : ECN_NOT;
    memcpy(p->data, &data, sizeof(data));
    node_push(f->flow.source.to, p, now);
}

// Sends all packets that may leave now, then sleeps until the next may.
static void send_all(struct flow_datagram *f, usec_t now)
{
    if (now >= f->flow.stop) {
        node_wake_at(&f->flow.source, USEC_NEVER);
        return;
    }
    produce(f, now);
    while (has_data(f) && datagram_sender_room(&f->sender, now))
        send_one(f, now);
    usec_t next = usec_min(datagram_sender_next_timeout(&f->sender), f->media_at);
    if (has_data(f))
        next = usec_min(next, usec_max(datagram_sender_next_send(&f->sender, now), now + 1));
    node_wake_at(&f->flow.source, next);
}

static void source_run(struct node *n, usec_t now)
{
    struct flow_datagram *f = (struct flow_datagram *)n;
    if (!f->started && f->config.media_bps)
        f->media_at = now;
    f->started = true;
    if (datagram_sender_next_timeout(&f->sender) <= now)
        datagram_sender_timeout(&f->sender, now);
    send_all(f, now);
}

static void source_push(struct node *n, struct packet *p, usec_t now)
{
    struct flow_datagram *f = (struct flow_datagram *)n;
    struct ccfb report;
    int err = ccfb_decode(p->data, p->bytes - DATAGRAM_HEADERS, &report);
    assert(err == 0); // always valid, as our own sink wrote it
    packet_free(p);
    datagram_sender_feedback(&f->sender, &report, now);
    f->flow.counts.lost = f->sender.counts.lost;
    f->flow.counts.timeouts = f->sender.counts.rtos;
    send_all(f, now);
}

static void send_report(struct flow_datagram *f, usec_t now)
{
    struct ccfb report;
    if (!datagram_receiver_report(&f->receiver, &report, now))
        return;
    size_t len = 0;
    size_t need = ccfb_bytes(report.count);
    struct packet *p = flow_packet(&f->flow, false, DATAGRAM_HEADERS + (uint32_t)need, need);
    if (!p)
        return;
    int err = ccfb_append(&report, p->data, p->capacity, &len);
    assert(err == 0 && len == need);
    f->flow.counts.feedback_packets++;
    f->flow.counts.feedback_bytes += p->bytes;
    node_push(f->flow.sink.to, p, now);
}

static void report_if_due(struct flow_datagram *f, usec_t now)
{
    if (datagram_receiver_next_report(&f->receiver) <= now)
        send_report(f, now);
    usec_t next = datagram_receiver_next_report(&f->receiver);
    node_wake_at(&f->flow.sink, next == USEC_NEVER ? next : usec_max(next, now + 1));
}

static void sink_push(struct node *n, struct packet *p, usec_t now)
{
    struct flow_datagram *f = (struct flow_datagram *)flow_of_sink(n);
    struct datagram_data data;
    memcpy(&data, p->data, sizeof(data));
    flow_arrived(&f->flow, p, data.number, data.sent_at, now);
    f->flow.counts.good_bytes += p->bytes;
    uint16_t seq = (uint16_t)(f->first_seq + data.number);
    datagram_receiver_packet(&f->receiver, f->flow.id, seq, p->ecn, p->bytes - DATAGRAM_HEADERS,
                             &data.wish, now);
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
    const struct controller *c = f->sender.controller;
    struct controller_info info = {0};
    c->ops->info(c, &info, now);
    *out = (struct flow_state){.rate_bps = f->started && now < base->stop ? info.rate_bps : 0,
                               .cwnd = (double)NAN,
                               .loss_events = info.loss_events,
                               .srtt = f->sender.rto.srtt};
}

static void datagram_free(struct flow *base)
{
    struct flow_datagram *f = (struct flow_datagram *)base;
    datagram_sender_destroy(&f->sender);
    free(f);
}

static const struct flow_ops OPS = {.state = datagram_state, .free = datagram_free};
static const struct node_ops SOURCE_OPS = {.push = source_push, .run = source_run};
static const struct node_ops SINK_OPS = {.push = sink_push, .run = sink_run};

static bool start_ends(struct flow_datagram *f, usec_t start)
{
    struct controller_config limits = {.packet_bytes = f->config.packet_bytes,
                                       .max_rate_bps = (double)f->config.max_bps};
    struct controller *c = controller_new(f->config.cc, &limits, start);
    struct datagram_sender_config sender = {.first_seq = f->first_seq};
    if (!c || datagram_sender_init(&f->sender, c, &sender, start))
        return false;
    if (f->config.media_bps && c->ops->media_rate)
        c->ops->media_rate(c, (double)f->config.media_bps, start);
    datagram_receiver_init(&f->receiver, f->flow.id + 1, start);
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
