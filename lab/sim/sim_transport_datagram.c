// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "common/base/err.h"
#include "common/wire/rtp.h"
#include "lab/sim/datagram_ends.h"
#include "lab/sim/sim_transport.h"

static const double MAX_RATE_BPS = 10e9;

struct sim_datagram {
    struct sim_transport base;
    struct datagram_ends ends;
    uint32_t media_ssrc; // of reports that use flow numbers
    bool waits;          // the sender was refused
};

static bool datagram_room(struct media_transport *base, usec_t now)
{
    struct sim_datagram *d = (struct sim_datagram *)base;
    d->waits = !datagram_sender_room(&d->ends.sender, now);
    return !d->waits;
}

static int datagram_send(struct media_transport *base, enum media_track track,
                         const struct media_packet *packet, usec_t now)
{
    struct sim_datagram *d = (struct sim_datagram *)base;
    uint32_t len = (uint32_t)(packet->head_len + packet->body_len);
    (void)track; // one flow carries both
    if (!datagram_room(base, now))
        return ERR_AGAIN;
    enum ecn ect = d->ends.sender.controller->l4s ? ECN_ECT1 : ECN_ECT0;
    datagram_ends_send(&d->ends, len, len + FLOW_UDP_HEADERS, base->responsive ? ect : ECN_NOT,
                       packet, now);
    return 0;
}

static bool datagram_wish(const struct media_transport *base, struct feedback_wish *out)
{
    *out = datagram_sender_wish(&((const struct sim_datagram *)base)->ends.sender);
    return true;
}

static void datagram_media_rate(struct media_transport *base, int bps, usec_t now)
{
    struct controller *cc = ((struct sim_datagram *)base)->ends.sender.controller;
    if (cc->ops->media_rate)
        cc->ops->media_rate(cc, bps, now);
}

static bool datagram_is_empty(const struct sim_transport *base)
{
    (void)base;
    return true;
}

static void datagram_back(struct sim_transport *base, struct packet *p, usec_t now)
{
    datagram_ends_back(&((struct sim_datagram *)base)->ends, p, now);
    base->on_room(base->ctx, now);
}

static usec_t datagram_next(struct sim_transport *base, usec_t now)
{
    struct sim_datagram *d = (struct sim_datagram *)base;
    return datagram_ends_next(&d->ends, d->waits, now);
}

static void datagram_run(struct sim_transport *base, usec_t now)
{
    struct sim_datagram *d = (struct sim_datagram *)base;
    datagram_ends_run(&d->ends, now);
    d->waits = false; // if it still does, it asks again
    base->on_room(base->ctx, now);
}

// ---- At the viewer

static void datagram_arrived(struct sim_transport *base, struct packet *p, usec_t now)
{
    static const struct rtp_ext_ids ids = {RTP_EXT_CAPTURE_ID, RTP_EXT_ADU_ID, RTP_EXT_FEEDBACK_ID,
                                           RTP_EXT_MADE_ID};
    struct sim_datagram *d = (struct sim_datagram *)base;
    size_t len = p->bytes - FLOW_UDP_HEADERS;
    struct rtp_packet rtp;
    int err = rtp_decode(flow_body(p), len, ids, &rtp);
    assert(err == 0); // what our own source wrote
    struct feedback_wish wish = {.interval = rtp.feedback.interval * (usec_t)RTP_FEEDBACK_UNIT_US,
                                 .packets = rtp.feedback.packets};
    bool numbered = rtp.has_feedback && rtp.feedback.has_number;
    datagram_receiver_packet(&d->ends.receiver, numbered ? d->media_ssrc : rtp.ssrc,
                             numbered ? rtp.feedback.number : rtp.seq, p->ecn, (uint32_t)len,
                             rtp.has_feedback ? &wish : NULL, now);
    base->flow->counts.good_bytes += p->bytes;
    base->deliver(base->ctx, flow_body(p), len, now);
    packet_free(p);
    datagram_ends_report_if_due(&d->ends, now);
}

static usec_t datagram_sink_next(const struct sim_transport *base)
{
    return datagram_receiver_next_report(&((const struct sim_datagram *)base)->ends.receiver);
}

static void datagram_sink_run(struct sim_transport *base, usec_t now)
{
    datagram_ends_report_if_due(&((struct sim_datagram *)base)->ends, now);
}

// ----

static void datagram_state(const struct sim_transport *base, struct flow_state *out, usec_t now)
{
    datagram_ends_state(&((const struct sim_datagram *)base)->ends, out, now);
}

static void datagram_info(struct media_transport *base, struct transport_info *out, usec_t now)
{
    const struct datagram_sender *s = &((const struct sim_datagram *)base)->ends.sender;
    struct controller_info info = {0};
    s->controller->ops->info(s->controller, &info, now);
    transport_info_clear(out);
    out->allowed_bps = info.rate_bps;
    out->leads = info.leads;
    out->unsent_bytes = 0;
    transport_info_add_datagrams(out, s, base->responsive);
}

static bool datagram_fate(struct media_transport *base, bool *lost)
{
    return datagram_sender_fate(&((struct sim_datagram *)base)->ends.sender, lost);
}

static void datagram_set_max_rate(struct media_transport *base, double bps, usec_t now)
{
    (void)now;
    struct controller *cc = ((struct sim_datagram *)base)->ends.sender.controller;
    controller_set_max_rate(cc, bps > 0 ? bps : MAX_RATE_BPS);
}

static void datagram_free(struct sim_transport *base)
{
    datagram_ends_destroy(&((struct sim_datagram *)base)->ends);
    free(base);
}

static const struct media_transport_ops MEDIA_OPS = {
    .room = datagram_room,
    .send = datagram_send,
    .wish = datagram_wish,
    .on_media_rate = datagram_media_rate,
    .info = datagram_info,
    .fate = datagram_fate,
    .set_max_rate = datagram_set_max_rate,
};
static void datagram_mark(struct sim_transport *base, int packets)
{
    datagram_receiver_mark(&((struct sim_datagram *)base)->ends.receiver, packets);
}

static int64_t datagram_marked(const struct sim_transport *base)
{
    return (int64_t)((const struct sim_datagram *)base)->ends.receiver.marked;
}

static const struct sim_transport_ops OPS = {
    .is_empty = datagram_is_empty,
    .back = datagram_back,
    .next = datagram_next,
    .run = datagram_run,
    .arrived = datagram_arrived,
    .sink_next = datagram_sink_next,
    .sink_run = datagram_sink_run,
    .marked = datagram_marked,
    .mark = datagram_mark,
    .state = datagram_state,
    .free = datagram_free,
};

struct sim_transport *sim_transport_datagram_new(const struct sim_transport_config *config,
                                                 const char *controller, bool responsive,
                                                 usec_t now)
{
    struct sim_datagram *d = calloc(1, sizeof(*d));
    if (!d)
        return NULL;
    struct controller_config limits = {.packet_bytes = config->packet_bytes,
                                       .max_rate_bps = MAX_RATE_BPS};
    d->base = (struct sim_transport){.media = {.ops = &MEDIA_OPS,
                                               .max_packet = config->packet_bytes,
                                               .responsive = responsive,
                                               .measures = responsive},
                                     .ops = &OPS,
                                     .flow = config->flow,
                                     .may_lose = true};
    d->media_ssrc = config->ssrc;
    struct datagram_sender_config sender = {.first_seq = config->first_seq,
                                            .max_rto = RTO_MAX_LIVE}; // as the transports
    if (!datagram_ends_init(&d->ends, config->flow, controller, &limits, &sender, config->ssrc + 1,
                            now)) {
        free(d);
        return NULL;
    }
    return &d->base;
}
