// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/flow_mtp.h"

#include <stdlib.h>
#include <string.h>

#include "common/mtp/mtp_receiver.h"
#include "common/mtp/mtp_udp_ack.h"

enum { UDP_HEADERS = 28 }; // IPv4 and UDP headers

struct flow_mtp {
    struct flow flow;
    struct flow_mtp_config config;
    struct mtp_sender sender;
    struct mtp_receiver receiver;
    bool started;
};

struct mtp_data {
    uint8_t header[MTP_HEADER_BYTES];
    int64_t number;
    usec_t sent_at;
};

static void send_one(struct flow_mtp *f, const struct mtp_out *out, usec_t now)
{
    uint32_t bytes = out->len ? f->config.packet_bytes : UDP_HEADERS + MTP_HEADER_BYTES;
    struct packet *p = flow_packet(&f->flow, true, bytes, sizeof(struct mtp_data));
    if (!p)
        return;
    struct mtp_header h = {out->flags, out->len, (uint32_t)out->number, (uint32_t)out->slot,
                           (uint32_t)out->time};
    struct mtp_data data = {.number = out->number, .sent_at = now};
    mtp_header_encode(&h, data.header);
    memcpy(p->data, &data, sizeof(data));
    node_push(f->flow.source.to, p, now);
}

// The source always has data: one byte represents a packet.
static bool pull(struct flow_mtp *f, struct mtp_out *out, usec_t now)
{
    static const uint8_t byte = 0;
    if (f->sender.queue.packets == 0)
        (void)mtp_sender_push(&f->sender, &byte, 1, 0, false, now);
    return mtp_sender_pull(&f->sender, out, now);
}

static void send_all(struct flow_mtp *f, usec_t now)
{
    struct mtp_out out;
    while (now < f->flow.stop && pull(f, &out, now))
        send_one(f, &out, now);
    const struct mtp_sender_counts *c = &f->sender.counts;
    f->flow.counts.retransmits = c->resends;
    f->flow.counts.timeouts = c->timeouts;
    f->flow.counts.fast_retransmits = c->fast_recoveries;
    f->flow.counts.lost = c->lost;
}

static void source_push(struct node *n, struct packet *p, usec_t now)
{
    struct flow_mtp *f = (struct flow_mtp *)n;
    struct mtp_ack ack;
    int err = mtp_udp_ack_decode(p->data, p->bytes - UDP_HEADERS, f->flow.id, f->sender.cum, &ack);
    assert(err == 0); // always valid, as our own sink wrote it
    packet_free(p);
    mtp_sender_ack(&f->sender, &ack, now);
    send_all(f, now);
    flow_wake_by(n, mtp_sender_next_timeout(&f->sender));
}

static void source_run(struct node *n, usec_t now)
{
    struct flow_mtp *f = (struct flow_mtp *)n;
    if (!f->started || mtp_sender_next_timeout(&f->sender) <= now) {
        mtp_sender_timeout(&f->sender, now);
        f->started = true;
        send_all(f, now);
    }
    node_wake_at(n, now < f->flow.stop ? mtp_sender_next_timeout(&f->sender) : USEC_NEVER);
}

static void send_ack(struct flow_mtp *f, usec_t now)
{
    uint8_t bytes[MTP_UDP_ACK_MAX];
    struct mtp_ack ack;
    mtp_receiver_ack(&f->receiver, &ack);
    size_t len = mtp_udp_ack_encode(&ack, f->flow.id, bytes);
    struct packet *p = flow_packet(&f->flow, false, UDP_HEADERS + (uint32_t)len, len);
    if (!p)
        return;
    memcpy(p->data, bytes, len);
    node_push(f->flow.sink.to, p, now);
}

static void sink_push(struct node *n, struct packet *p, usec_t now)
{
    struct flow_mtp *f = (struct flow_mtp *)flow_of_sink(n);
    struct mtp_data data;
    struct mtp_header h;
    memcpy(&data, p->data, sizeof(data));
    // The simulation does not carry the payload's byte, so it is zero here.
    uint8_t record[MTP_HEADER_BYTES + 1] = {0};
    memcpy(record, data.header, sizeof(data.header));
    int err = mtp_header_decode(record, sizeof(record), &h);
    assert(err == 0); // always valid, as our own source wrote it
    flow_arrived(&f->flow, p, data.number, data.sent_at, now);
    if (mtp_receiver_packet(&f->receiver, &h) == MTP_DELIVER)
        f->flow.counts.good_bytes += p->bytes;
    packet_free(p);
    send_ack(f, now);
}

static void mtp_state(const struct flow *base, struct flow_state *out, usec_t now)
{
    (void)now;
    const struct flow_mtp *f = (const struct flow_mtp *)base;
    *out = flow_window_state(f->sender.cwnd, f->config.packet_bytes, f->sender.rto.srtt);
}

static void mtp_free(struct flow *base)
{
    struct flow_mtp *f = (struct flow_mtp *)base;
    mtp_sender_destroy(&f->sender);
    free(f);
}

static const struct flow_ops OPS = {.state = mtp_state, .free = mtp_free};
static const struct node_ops SOURCE_OPS = {.push = source_push, .run = source_run};
static const struct node_ops SINK_OPS = {.push = sink_push};

struct flow *flow_mtp_new(const struct flow_env *env, const struct flow_mtp_config *config,
                          uint32_t id, usec_t start, usec_t stop)
{
    struct flow_mtp *f = calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    f->flow = (struct flow){.ops = &OPS, .env = env, .id = id, .start = start, .stop = stop};
    f->config = *config;
    struct mtp_sender_config sender = {.mode = config->mode,
                                       .slot_bytes = 1,
                                       .window = MTP_MAX_WINDOW,
                                       .cwnd = config->initial_window,
                                       .min_rto = config->min_rto,
                                       // As the simulator's TCPs and those of ns-2.
                                       .once_a_window = true,
                                       .karn = !config->timestamps,
                                       .newreno = config->newreno,
                                       .rack = config->newreno,
                                       .keeps_window = config->newreno,
                                       .queue = {.block = true}};
    node_init(&f->flow.source, &SOURCE_OPS, NULL);
    node_init(&f->flow.sink, &SINK_OPS, NULL);
    node_wake_at(&f->flow.source, start);
    mtp_receiver_init(&f->receiver, MTP_MAX_WINDOW);
    if (mtp_sender_init(&f->sender, &sender, start)) {
        free(f);
        return NULL;
    }
    return &f->flow;
}
