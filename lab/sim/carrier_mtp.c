// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>

#include "common/mtp/mtp_flow.h"
#include "common/mtp/mtp_receive_flow.h"
#include "common/mtp/mtp_udp_ack.h"
#include "lab/sim/stream_carrier.h"

enum { MAX_RECORD = MTP_RECORD_HEAD + STREAM_MAX_RTP };

struct carrier_mtp {
    struct stream_carrier base;
    struct mtp_flow mtp;
    struct mtp_receive_flow sink;
    bool waits;       // the sender was refused
    usec_t intake_at; // of the next packet, where the queue takes all that comes
    int media_bps;
};

static bool pull(struct carrier_mtp *m, usec_t now)
{
    uint8_t record[MAX_RECORD];
    struct flow *f = m->base.flow;
    int64_t slot;
    size_t len = mtp_flow_pull(&m->mtp, record, &slot, now);
    if (!len)
        return false;
    struct stream_head head = {STREAM_MEDIA, slot, now};
    struct packet *p = stream_packet(f, &head, (uint32_t)len + STREAM_UDP_HEADERS, record, len);
    if (p)
        node_push(f->source.to, p, now);
    const struct mtp_sender_counts *c = &m->mtp.sender.counts;
    f->counts.retransmits = c->resends;
    f->counts.timeouts = c->timeouts;
    f->counts.fast_retransmits = c->fast_recoveries;
    f->counts.lost = c->lost;
    return true;
}

static bool mtp_room(struct stream_carrier *c, usec_t now)
{
    struct carrier_mtp *m = (struct carrier_mtp *)c;
    m->waits = now < m->intake_at || !mtp_flow_room(&m->mtp, now);
    return !m->waits;
}

// A queue that drops instead of refusing takes packets at the media's rate only.
static void mtp_send(struct stream_carrier *c, const uint8_t *rtp, size_t len, usec_t now)
{
    struct carrier_mtp *m = (struct carrier_mtp *)c;
    int err = mtp_flow_push(&m->mtp, rtp, len, now);
    assert(err == 0); // there was room
    if (m->mtp.options.drops && m->media_bps > 0)
        m->intake_at = usec_max(m->intake_at, now - USEC_PER_MSEC) +
                       (usec_t)len * 8 * USEC_PER_SEC / m->media_bps;
    pull(m, now);
}

static void mtp_media_rate(struct stream_carrier *c, int bps, usec_t now)
{
    (void)now;
    ((struct carrier_mtp *)c)->media_bps = bps;
}

static bool mtp_is_empty(const struct stream_carrier *c)
{
    return ((const struct carrier_mtp *)c)->mtp.sender.queue.packets == 0;
}

// The session is asked before each record: what finds no packet may leave empty.
static void resume(struct carrier_mtp *m, usec_t now)
{
    do {
        if (m->waits && now >= m->intake_at && mtp_flow_room(&m->mtp, now))
            m->base.on_room(m->base.ctx, now);
    } while (pull(m, now));
}

static void mtp_back(struct stream_carrier *c, struct packet *p, usec_t now)
{
    struct carrier_mtp *m = (struct carrier_mtp *)c;
    struct mtp_ack ack;
    int err = mtp_udp_ack_decode(stream_body(p), p->bytes - STREAM_UDP_HEADERS, m->mtp.token,
                                 m->mtp.sender.cum, &ack);
    assert(err == 0); // what our own sink wrote
    packet_free(p);
    mtp_flow_ack(&m->mtp, &ack, now);
    resume(m, now);
}

static usec_t mtp_next(struct stream_carrier *c, usec_t now)
{
    struct carrier_mtp *m = (struct carrier_mtp *)c;
    usec_t next = mtp_flow_next_timeout(&m->mtp);
    return m->waits && m->intake_at > now ? usec_min(next, m->intake_at) : next;
}

static void mtp_run(struct stream_carrier *c, usec_t now)
{
    struct carrier_mtp *m = (struct carrier_mtp *)c;
    if (mtp_flow_next_timeout(&m->mtp) <= now)
        mtp_flow_timeout(&m->mtp, now);
    resume(m, now);
}

// ---- At the viewer

static void acknowledge_if_due(struct carrier_mtp *m, usec_t now)
{
    uint8_t bytes[MTP_UDP_ACK_MAX];
    struct mtp_ack ack;
    if (m->sink.ack_at > now)
        return;
    mtp_receive_flow_ack(&m->sink, &ack);
    size_t len = mtp_udp_ack_encode(&ack, m->mtp.token, bytes);
    struct stream_head head = {STREAM_BACK, 0, now};
    struct flow *f = m->base.flow;
    struct packet *p = stream_packet(f, &head, (uint32_t)len + STREAM_UDP_HEADERS, bytes, len);
    if (p)
        node_push(f->sink.to, p, now);
}

static void mtp_arrived(struct stream_carrier *c, struct packet *p, usec_t now)
{
    struct carrier_mtp *m = (struct carrier_mtp *)c;
    const uint8_t *payload;
    size_t len;
    if (mtp_receive_flow_record(&m->sink, stream_body(p), p->bytes - STREAM_UDP_HEADERS, &payload,
                                &len, now) == MTP_RECEIVE_FLOW_RTP) {
        c->flow->counts.good_bytes += p->bytes;
        c->deliver(c->ctx, payload, len, now);
    }
    packet_free(p);
    acknowledge_if_due(m, now);
}

static usec_t mtp_sink_next(const struct stream_carrier *c)
{
    return ((const struct carrier_mtp *)c)->sink.ack_at;
}

static void mtp_sink_run(struct stream_carrier *c, usec_t now)
{
    acknowledge_if_due((struct carrier_mtp *)c, now);
}

// ----

static void mtp_state(const struct stream_carrier *c, struct flow_state *out, usec_t now)
{
    (void)now;
    const struct mtp_sender *s = &((const struct carrier_mtp *)c)->mtp.sender;
    *out = flow_window_state(s->cwnd, c->packet_bytes, s->rto.srtt);
}

static void mtp_path(const struct stream_carrier *c, struct stream_path *out, usec_t now)
{
    (void)now;
    const struct mtp_sender *s = &((const struct carrier_mtp *)c)->mtp.sender;
    struct mtp_info i = mtp_sender_info(s);
    double mean = i.counts.packets ? (double)i.counts.bytes / (double)i.counts.packets : 0;
    *out = (struct stream_path){.delivered_bytes =
                                    (double)i.counts.acked_bytes + (double)i.sacked * mean,
                                .unsent_bytes = (double)i.queued_bytes,
                                .allowed_bps = (double)NAN,
                                .rtt = s->rto.latest};
}

static void mtp_free(struct stream_carrier *c)
{
    mtp_flow_destroy(&((struct carrier_mtp *)c)->mtp);
    free(c);
}

static const struct stream_carrier_ops OPS = {
    .room = mtp_room,
    .send = mtp_send,
    .media_rate = mtp_media_rate,
    .is_empty = mtp_is_empty,
    .back = mtp_back,
    .next = mtp_next,
    .run = mtp_run,
    .arrived = mtp_arrived,
    .sink_next = mtp_sink_next,
    .sink_run = mtp_sink_run,
    .state = mtp_state,
    .path = mtp_path,
    .free = mtp_free,
};

int carrier_mtp_check(const char *params)
{
    struct mtp_options options;
    return mtp_options_parse(params, &options);
}

struct stream_carrier *carrier_mtp_new(const struct stream_carrier_config *config,
                                       const char *params, usec_t now)
{
    struct carrier_mtp *m = calloc(1, sizeof(*m));
    struct mtp_options options;
    if (!m)
        return NULL;
    m->base = (struct stream_carrier){
        .ops = &OPS, .flow = config->flow, .packet_bytes = config->packet_bytes, .may_lose = true};
    if (mtp_options_parse(params, &options) ||
        mtp_flow_init(&m->mtp, &options, config->token, (uint16_t)config->packet_bytes, now)) {
        free(m);
        return NULL;
    }
    mtp_receive_flow_init(&m->sink, config->token);
    return &m->base;
}
