// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/mtp/mtp_flow.h"
#include "common/mtp/mtp_info.h"
#include "common/mtp/mtp_receive_flow.h"
#include "lab/sim/mtp_acks.h"
#include "lab/sim/sim_transport.h"

enum { MAX_RECORD = MTP_RECORD_HEAD + STREAM_MAX_RTP };

struct sim_mtp {
    struct sim_transport base;
    struct mtp_flow mtp;
    struct mtp_receive_flow sink;
    bool waits;       // room was refused to the sender
    usec_t intake_at; // bytes of the next packet, if the queue accepts all packets
    int media_bps;
};

static bool pull(struct sim_mtp *m, usec_t now)
{
    uint8_t record[MAX_RECORD];
    struct flow *f = m->base.flow;
    int64_t slot;
    size_t len = mtp_flow_pull(&m->mtp, record, &slot, now);
    if (!len)
        return false;
    uint8_t ecn = m->mtp.sender.config.ecn ? ECN_ECT0 : ECN_NOT;
    struct flow_head head = {FLOW_DATA, ecn, 0, slot, now};
    struct media_packet body = {.body = record, .body_len = len};
    flow_send(f, &f->source, &head, (uint32_t)len + FLOW_UDP_HEADERS, &body);
    mtp_acks_count(f, &m->mtp.sender);
    return true;
}

static bool mtp_room(struct media_transport *base, usec_t now)
{
    struct sim_mtp *m = (struct sim_mtp *)base;
    m->waits = now < m->intake_at || !mtp_flow_room(&m->mtp, now);
    return !m->waits;
}

// A queue that drops packets instead of refusing them accepts packets only at the media's rate.
static int mtp_send(struct media_transport *base, enum media_track track,
                    const struct media_packet *packet, usec_t now)
{
    struct sim_mtp *m = (struct sim_mtp *)base;
    uint8_t rtp[STREAM_MAX_RTP];
    size_t len = packet->head_len + packet->body_len;
    (void)track; // one flow carries both
    assert(len <= sizeof(rtp));
    if (!mtp_room(base, now))
        return ERR_AGAIN;
    if (packet->head_len)
        memcpy(rtp, packet->head, packet->head_len);
    memcpy(rtp + packet->head_len, packet->body, packet->body_len);
    if (mtp_flow_push(&m->mtp, rtp, len, now) != 0)
        return ERR_AGAIN;
    if (m->mtp.options.drops && m->media_bps > 0)
        m->intake_at = usec_max(m->intake_at, now - USEC_PER_MSEC) +
                       (usec_t)len * 8 * USEC_PER_SEC / m->media_bps;
    pull(m, now);
    return 0;
}

static void mtp_media_rate(struct media_transport *base, int bps, usec_t now)
{
    (void)now;
    ((struct sim_mtp *)base)->media_bps = bps;
}

static bool mtp_is_empty(const struct sim_transport *base)
{
    return ((const struct sim_mtp *)base)->mtp.sender.queue.packets == 0;
}

// Asks the session before each record; if it has no packet, the record may be empty.
static void resume(struct sim_mtp *m, usec_t now)
{
    do {
        if (m->waits && now >= m->intake_at && mtp_flow_room(&m->mtp, now))
            m->base.on_room(m->base.ctx, now);
    } while (pull(m, now));
}

static void mtp_back(struct sim_transport *base, struct packet *p, usec_t now)
{
    struct sim_mtp *m = (struct sim_mtp *)base;
    struct mtp_ack ack;
    mtp_acks_read(p, m->mtp.token, &m->mtp.sender, &ack);
    mtp_flow_ack(&m->mtp, &ack, now);
    resume(m, now);
}

static usec_t mtp_next(struct sim_transport *base, usec_t now)
{
    struct sim_mtp *m = (struct sim_mtp *)base;
    usec_t next = mtp_flow_next_timeout(&m->mtp);
    return m->waits && m->intake_at > now ? usec_min(next, m->intake_at) : next;
}

static void mtp_run(struct sim_transport *base, usec_t now)
{
    struct sim_mtp *m = (struct sim_mtp *)base;
    if (mtp_flow_next_timeout(&m->mtp) <= now)
        mtp_flow_timeout(&m->mtp, now);
    resume(m, now);
}

// ---- At the viewer

static void acknowledge_if_due(struct sim_mtp *m, usec_t now)
{
    struct mtp_ack ack;
    if (m->sink.ack_at > now)
        return;
    mtp_receive_flow_ack(&m->sink, &ack);
    mtp_acks_send(m->base.flow, &ack, m->mtp.token, now);
}

static void mtp_arrived(struct sim_transport *base, struct packet *p, usec_t now)
{
    struct sim_mtp *m = (struct sim_mtp *)base;
    const uint8_t *payload;
    size_t len;
    if (mtp_receive_flow_record(&m->sink, flow_body(p), p->bytes - FLOW_UDP_HEADERS, p->ecn,
                                &payload, &len, now) == MTP_RECEIVE_FLOW_RTP) {
        base->flow->counts.good_bytes += p->bytes;
        base->deliver(base->ctx, payload, len, now);
    }
    packet_free(p);
    acknowledge_if_due(m, now);
}

static usec_t mtp_sink_next(const struct sim_transport *base)
{
    return ((const struct sim_mtp *)base)->sink.ack_at;
}

static int64_t mtp_marked(const struct sim_transport *base)
{
    return ((const struct sim_mtp *)base)->sink.marked;
}

static void mtp_sink_run(struct sim_transport *base, usec_t now)
{
    acknowledge_if_due((struct sim_mtp *)base, now);
}

// ----

static void mtp_state(const struct sim_transport *base, struct flow_state *out, usec_t now)
{
    (void)now;
    const struct mtp_sender *s = &((const struct sim_mtp *)base)->mtp.sender;
    *out = flow_window_state(s->cwnd, (double)base->media.max_packet, s->rto.srtt);
}

static void mtp_info_of(struct media_transport *base, struct transport_info *out, usec_t now)
{
    mtp_info_fill(&((struct sim_mtp *)base)->mtp, out, now);
}

static void mtp_free(struct sim_transport *base)
{
    mtp_flow_destroy(&((struct sim_mtp *)base)->mtp);
    free(base);
}

static const struct media_transport_ops MEDIA_OPS = {
    .room = mtp_room,
    .send = mtp_send,
    .on_media_rate = mtp_media_rate,
    .info = mtp_info_of,
};
static const struct sim_transport_ops OPS = {
    .is_empty = mtp_is_empty,
    .back = mtp_back,
    .next = mtp_next,
    .run = mtp_run,
    .arrived = mtp_arrived,
    .sink_next = mtp_sink_next,
    .sink_run = mtp_sink_run,
    .marked = mtp_marked,
    .state = mtp_state,
    .free = mtp_free,
};

int sim_transport_mtp_check(const char *params)
{
    struct mtp_options options;
    return mtp_options_parse(params, &options);
}

struct sim_transport *sim_transport_mtp_new(const struct sim_transport_config *config,
                                            const char *params, usec_t now)
{
    struct sim_mtp *m = calloc(1, sizeof(*m));
    struct mtp_options options;
    if (!m)
        return NULL;
    m->base = (struct sim_transport){
        .media = {.ops = &MEDIA_OPS, .max_packet = config->packet_bytes, .measures = true},
        .ops = &OPS,
        .flow = config->flow,
        .may_lose = true};
    int err = mtp_options_parse(params, &options);
    if (config->as_tcp) {
        options.min_rto = config->tcp.min_rto;
        options.cwnd = (int)config->tcp.initial_window;
        options.karn = !config->tcp.timestamps;
    }
    if (err ||
        mtp_flow_init(&m->mtp, &options, config->token, (uint16_t)config->packet_bytes, now)) {
        free(m);
        return NULL;
    }
    mtp_flow_tell(&m->mtp, &m->base.media);
    (void)mtp_flow_use_ecn(&m->mtp);
    m->base.media.drops = options.drops;
    mtp_receive_flow_init(&m->sink, config->token);
    if (config->as_tcp)
        m->sink.delayed_ack = config->delayed_ack;
    return &m->base;
}
