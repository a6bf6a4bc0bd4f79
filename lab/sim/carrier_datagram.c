// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/protocol/datagram_receiver.h"
#include "common/protocol/datagram_sender.h"
#include "common/wire/rtp.h"
#include "lab/sim/stream_carrier.h"

static const double MAX_RATE_BPS = 10e9;

struct carrier_datagram {
    struct stream_carrier base;
    struct datagram_sender sender;
    struct datagram_receiver receiver;
    bool waits; // the sender was refused
    bool ect;
};

static bool datagram_room(struct stream_carrier *c, usec_t now)
{
    struct carrier_datagram *d = (struct carrier_datagram *)c;
    d->waits = !datagram_sender_room(&d->sender, now);
    return !d->waits;
}

static void datagram_send(struct stream_carrier *c, const uint8_t *rtp, size_t len, usec_t now)
{
    struct carrier_datagram *d = (struct carrier_datagram *)c;
    struct stream_head head = {STREAM_MEDIA, d->sender.next_number, now};
    datagram_sender_sent(&d->sender, (uint32_t)len, now);
    struct packet *p = stream_packet(c->flow, &head, (uint32_t)len + STREAM_UDP_HEADERS, rtp, len);
    if (!p)
        return;
    p->ecn = d->ect ? ECN_ECT0 : ECN_NOT;
    node_push(c->flow->source.to, p, now);
}

static bool datagram_wish(const struct stream_carrier *c, struct feedback_wish *out)
{
    *out = datagram_sender_wish(&((const struct carrier_datagram *)c)->sender);
    return true;
}

static void datagram_media_rate(struct stream_carrier *c, int bps, usec_t now)
{
    struct controller *cc = ((struct carrier_datagram *)c)->sender.controller;
    if (cc->ops->media_rate)
        cc->ops->media_rate(cc, bps, now);
}

static bool datagram_is_empty(const struct stream_carrier *c)
{
    (void)c;
    return true;
}

static void datagram_back(struct stream_carrier *c, struct packet *p, usec_t now)
{
    struct carrier_datagram *d = (struct carrier_datagram *)c;
    struct ccfb report;
    int err = ccfb_decode(stream_body(p), p->bytes - STREAM_UDP_HEADERS, &report);
    assert(err == 0); // what our own sink wrote
    packet_free(p);
    datagram_sender_feedback(&d->sender, &report, now);
    c->flow->counts.lost = d->sender.counts.lost;
    c->flow->counts.timeouts = d->sender.counts.rtos;
    c->on_room(c->ctx, now);
}

static usec_t datagram_next(struct stream_carrier *c, usec_t now)
{
    struct carrier_datagram *d = (struct carrier_datagram *)c;
    usec_t next = datagram_sender_next_timeout(&d->sender);
    if (d->waits)
        next = usec_min(next, usec_max(datagram_sender_next_send(&d->sender, now), now + 1));
    return next;
}

static void datagram_run(struct stream_carrier *c, usec_t now)
{
    struct carrier_datagram *d = (struct carrier_datagram *)c;
    if (datagram_sender_next_timeout(&d->sender) <= now)
        datagram_sender_timeout(&d->sender, now);
    c->on_room(c->ctx, now);
}

// ---- At the viewer

static void report_if_due(struct carrier_datagram *d, usec_t now)
{
    uint8_t bytes[FLOW_LARGE];
    struct ccfb report;
    size_t len = 0;
    if (datagram_receiver_next_report(&d->receiver) > now ||
        !datagram_receiver_report(&d->receiver, &report, now))
        return;
    int err = ccfb_append(&report, bytes, sizeof(bytes) - sizeof(struct stream_head), &len);
    assert(err == 0);
    struct stream_head head = {STREAM_BACK, 0, now};
    struct flow *f = d->base.flow;
    struct packet *p = stream_packet(f, &head, (uint32_t)len + STREAM_UDP_HEADERS, bytes, len);
    if (!p)
        return;
    f->counts.feedback_packets++;
    f->counts.feedback_bytes += p->bytes;
    node_push(f->sink.to, p, now);
}

static void datagram_arrived(struct stream_carrier *c, struct packet *p, usec_t now)
{
    static const struct rtp_ext_ids ids = {RTP_EXT_CAPTURE_ID, RTP_EXT_ADU_ID, RTP_EXT_FEEDBACK_ID};
    struct carrier_datagram *d = (struct carrier_datagram *)c;
    size_t len = p->bytes - STREAM_UDP_HEADERS;
    struct rtp_packet rtp;
    int err = rtp_decode(stream_body(p), len, ids, &rtp);
    assert(err == 0); // what our own source wrote
    struct feedback_wish wish = {.interval = rtp.feedback.interval * (usec_t)RTP_FEEDBACK_UNIT_US,
                                 .packets = rtp.feedback.packets};
    datagram_receiver_packet(&d->receiver, rtp.ssrc, rtp.seq, p->ecn, (uint32_t)len,
                             rtp.has_feedback ? &wish : NULL, now);
    c->flow->counts.good_bytes += p->bytes;
    c->deliver(c->ctx, stream_body(p), len, now);
    packet_free(p);
    report_if_due(d, now);
}

static usec_t datagram_sink_next(const struct stream_carrier *c)
{
    return datagram_receiver_next_report(&((const struct carrier_datagram *)c)->receiver);
}

static int64_t datagram_marked(const struct stream_carrier *c)
{
    return (int64_t)((const struct carrier_datagram *)c)->receiver.marked;
}

static void datagram_sink_run(struct stream_carrier *c, usec_t now)
{
    report_if_due((struct carrier_datagram *)c, now);
}

// ----

static void datagram_state(const struct stream_carrier *c, struct flow_state *out, usec_t now)
{
    const struct datagram_sender *s = &((const struct carrier_datagram *)c)->sender;
    struct controller_info info = {0};
    s->controller->ops->info(s->controller, &info, now);
    *out = (struct flow_state){.rate_bps = info.rate_bps,
                               .cwnd = (double)NAN,
                               .loss_events = info.loss_events,
                               .srtt = s->rto.srtt};
}

static void datagram_path(const struct stream_carrier *c, struct stream_path *out, usec_t now)
{
    const struct datagram_sender *s = &((const struct carrier_datagram *)c)->sender;
    struct controller_info info = {0};
    s->controller->ops->info(s->controller, &info, now);
    *out = (struct stream_path){.delivered_bytes = (double)s->counts.bytes_arrived,
                                .allowed_bps = info.rate_bps,
                                .rtt = s->rto.latest};
}

static void datagram_free(struct stream_carrier *c)
{
    datagram_sender_destroy(&((struct carrier_datagram *)c)->sender);
    free(c);
}

static const struct stream_carrier_ops OPS = {
    .room = datagram_room,
    .send = datagram_send,
    .wish = datagram_wish,
    .media_rate = datagram_media_rate,
    .is_empty = datagram_is_empty,
    .back = datagram_back,
    .next = datagram_next,
    .run = datagram_run,
    .arrived = datagram_arrived,
    .sink_next = datagram_sink_next,
    .sink_run = datagram_sink_run,
    .marked = datagram_marked,
    .state = datagram_state,
    .path = datagram_path,
    .free = datagram_free,
};

struct stream_carrier *carrier_datagram_new(const struct stream_carrier_config *config,
                                            const char *controller, bool responsive, usec_t now)
{
    struct carrier_datagram *d = calloc(1, sizeof(*d));
    if (!d)
        return NULL;
    struct controller_config limits = {.packet_bytes = config->packet_bytes,
                                       .max_rate_bps = MAX_RATE_BPS};
    *d = (struct carrier_datagram){.base = {.ops = &OPS,
                                            .flow = config->flow,
                                            .packet_bytes = config->packet_bytes,
                                            .may_lose = true},
                                   .ect = responsive};
    struct controller *cc = controller_new(controller, &limits, now);
    struct datagram_sender_config sender = {.first_seq = config->first_seq,
                                            .most_rto = RTO_MOST_LIVE}; // as the transports
    if (!cc || datagram_sender_init(&d->sender, cc, &sender, now)) {
        free(d);
        return NULL;
    }
    datagram_receiver_init(&d->receiver, config->ssrc + 1, now);
    return &d->base;
}
