// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/flow_mtp.h"

#include <stdlib.h>

#include "common/mtp/mtp_receiver.h"
#include "lab/sim/mtp_acks.h"

enum { MAX_PACKET = 9000 };

struct flow_mtp {
    struct flow flow;
    struct flow_mtp_config config;
    struct mtp_sender sender;
    struct mtp_receiver receiver;
    bool started;
};

static void send_one(struct flow_mtp *f, const struct mtp_out *out, usec_t now)
{
    uint8_t header[MTP_HEADER_BYTES];
    struct mtp_header h = {out->flags, out->len != 0, (uint32_t)out->number, (uint32_t)out->slot,
                           (uint32_t)out->time};
    mtp_header_encode(&h, header);
    uint32_t bytes = out->len ? f->config.packet_bytes : FLOW_UDP_HEADERS + MTP_HEADER_BYTES;
    struct flow_head head = {FLOW_DATA, ECN_NOT, 0, out->number, now};
    struct media_packet body = {.body = header, .body_len = sizeof(header)};
    flow_send(&f->flow, &f->flow.source, &head, bytes, &body);
}

// Returns the payload of a packet, where the window counts bytes. Otherwise one byte represents it.
static uint16_t payload(const struct flow_mtp *f, uint32_t bytes)
{
    return f->config.full_bytes ? (uint16_t)(bytes - FLOW_UDP_HEADERS - MTP_HEADER_BYTES) : 1;
}

// The source always has data.
static bool pull(struct flow_mtp *f, struct mtp_out *out, usec_t now)
{
    static const uint8_t data[MAX_PACKET] = {0};
    if (f->sender.queue.packets == 0)
        (void)mtp_sender_push(&f->sender, data, payload(f, f->config.packet_bytes), 0, false, now);
    return mtp_sender_pull(&f->sender, out, now);
}

static void send_all(struct flow_mtp *f, usec_t now)
{
    struct mtp_out out;
    while (now < f->flow.stop && pull(f, &out, now))
        send_one(f, &out, now);
    mtp_acks_count(&f->flow, &f->sender);
}

static void source_push(struct node *n, struct packet *p, usec_t now)
{
    struct flow_mtp *f = (struct flow_mtp *)n;
    struct mtp_ack ack;
    mtp_acks_read(p, f->flow.id, &f->sender, &ack);
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

static void sink_push(struct node *n, struct packet *p, usec_t now)
{
    struct flow_mtp *f = (struct flow_mtp *)flow_of_sink(n);
    struct mtp_header h;
    // The simulation does not carry the payload's byte, so it is zero here.
    uint8_t record[MTP_HEADER_BYTES + 1] = {0};
    memcpy(record, flow_body(p), MTP_HEADER_BYTES);
    int err = mtp_header_decode(record, sizeof(record), &h);
    assert(err == 0); // always valid, as our own source wrote it
    flow_arrived(&f->flow, p, now);
    if (mtp_receiver_packet(&f->receiver, &h) == MTP_DELIVER)
        f->flow.counts.good_bytes += p->bytes;
    packet_free(p);
    struct mtp_ack ack;
    mtp_receiver_ack(&f->receiver, &ack);
    mtp_acks_send(&f->flow, &ack, f->flow.id, now);
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
                                       .slot_bytes = payload(f, config->full_bytes),
                                       .counts_slots = config->full_bytes != 0,
                                       .counts_bytes = config->full_bytes != 0,
                                       .window = MTP_MAX_WINDOW,
                                       .cwnd = config->initial_window,
                                       .min_rto = config->min_rto,
                                       .rto_slack = config->newreno ? config->min_rto : 0,
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
