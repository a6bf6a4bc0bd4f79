// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/receive/video_receiver.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "common/base/log.h"
#include "common/base/rate_meter.h"
#include "common/net/clock.h"
#include "media/decode/parameter_sets.h"
#include "player/report/viewing_trace.h"
#include "stream/receive/frame_receiver.h"
#include "stream/receive/rtcp_feedback.h"

struct video_receiver {
    struct video_receiver_config config;
    struct frame_receiver *frames;        // owned
    uint8_t sets[SDP_MAX_PARAMETER_SETS]; // of the description, or as they came last; Annex B
    size_t sets_len;
    bool foreign; // the sender is a third party's
    struct rtcp_feedback feedback;
    struct rate_meter meter;
    usec_t rtt;
    usec_t now;         // the wake-up that wall_ahead was read at
    usec_t wall_ahead;  // wall clock minus monotonic clock
    uint64_t malformed; // RTCP
    int64_t ecn_marked; // packets with the CE mark; -1: unknown
    // At the last second:
    uint64_t last_expected;
    uint64_t last_lost;
    uint64_t last_loss_events;
};

static void on_event(void *ctx, const struct viewing_event *e)
{
    struct video_receiver *in = ctx;
    viewing_trace(in->config.events, e);
}

static void on_packet(void *ctx, const struct rtp_packet *p, int64_t ext_seq, usec_t arrived,
                      usec_t now)
{
    struct video_receiver *in = ctx;
    in->config.on_packet(in->config.ctx, p, ext_seq, arrived, now);
}

static void on_frame(void *ctx, struct received_frame *f, usec_t now)
{
    struct video_receiver *in = ctx;
    if (in->foreign)
        in->sets_len = parameter_sets_learn(f, in->sets, in->sets_len, sizeof(in->sets));
    (void)parameter_sets_prepend(f, in->sets,
                                 in->sets_len); // without memory the frame stays as it is
    in->config.on_frame(in->config.ctx, f, now);
}

struct video_receiver *video_receiver_new(const struct video_receiver_config *config)
{
    const struct sdp *sdp = config->sdp;
    struct video_receiver *in = calloc(1, sizeof(*in));
    if (!in)
        return NULL;
    in->config = *config;
    in->ecn_marked = -1;
    in->foreign = sdp_is_foreign(sdp);
    struct frame_receiver_config frames = {
        .ext = sdp->ext,
        .payload_type = sdp->payload_type,
        .frames = sdp_has_frames(sdp),
        .third_party = in->foreign,
        .adus = !sdp->h264,
        .fps = sdp->ladder.source_fps,
        .clock = config->clock,
        .sink = {.qoe = config->qoe, .on_event = on_event, .ctx = in},
        .on_packet = on_packet,
        .on_frame = on_frame,
        .ctx = in};
    in->frames = frame_receiver_new(&frames);
    if (!in->frames) {
        video_receiver_free(in);
        return NULL;
    }
    if (in->foreign)
        in->sets_len = parameter_sets_decode(sdp->sprop, in->sets, sizeof(in->sets));
    rtcp_feedback_init(&in->feedback, config->random);
    in->now = -1;
    return in;
}

void video_receiver_free(struct video_receiver *in)
{
    if (!in)
        return;
    frame_receiver_free(in->frames);
    free(in);
}

static struct rtp_receiver *rtp_of(const struct video_receiver *in)
{
    return frame_receiver_rtp(in->frames);
}

static void send_feedback(struct video_receiver *in, usec_t now)
{
    uint8_t out[RTCP_MAX_PACKET];
    size_t len = rtcp_feedback_compound(&in->feedback, rtp_of(in), out, sizeof(out), now);
    in->config.send_rtcp(in->config.ctx, out, len);
}

static void on_sender_report(struct video_receiver *in, const struct rtcp_item *item,
                             usec_t arrived)
{
    uint32_t shift = frame_receiver_shift(in->frames);
    rtp_receiver_sender_report(rtp_of(in), item->sender.ntp, arrived);
    in->config.on_report(in->config.ctx, item->sender.ntp, item->sender.rtp_timestamp + shift);
}

static void on_rtcp(struct video_receiver *in, const uint8_t *data, size_t len, usec_t arrived,
                    usec_t now)
{
    size_t at = 0;
    struct rtcp_item item;
    int got;
    bool bye = false;
    while ((got = rtcp_next(data, len, &at, &item)) == 1) {
        // The audio's RTCP arrives on the same path.
        bool ours = !rtp_of(in)->started || item.ssrc == rtp_of(in)->ssrc;
        if (item.kind == RTCP_IS_SR && ours)
            on_sender_report(in, &item, arrived);
        else if (item.kind == RTCP_IS_BYE)
            bye = ours;
    }
    in->malformed += got < 0;
    if (bye)
        in->config.on_bye(in->config.ctx, now);
}

static void on_rtp(struct video_receiver *in, const uint8_t *data, size_t len, usec_t arrived,
                   usec_t now)
{
    if (now != in->now) { // the wall clock is read once a wake-up, not once a packet
        in->now = now;
        in->wall_ahead = clock_wall() - clock_now();
    }
    if (!frame_receiver_packet(in->frames, data, len, in->rtt, in->wall_ahead, arrived, now))
        return;
    rate_meter_add(&in->meter, len, now);
    in->feedback.nack_count = rtp_receiver_holes(rtp_of(in), in->feedback.nacks, RTCP_MAX_NACKS);
    if (!in->config.sdp->nack)
        in->feedback.nack_count = 0;
    if (in->feedback.nack_count) {
        send_feedback(in, now);
        in->config.on_nacked(in->config.ctx, now);
    }
}

void video_receiver_packet(struct video_receiver *in, bool rtcp, const uint8_t *data, size_t len,
                           usec_t arrived, usec_t now)
{
    // Some senders mix RTP and RTCP on one port or channel (RFC 5761).
    if (rtcp || rtcp_is(data, len))
        on_rtcp(in, data, len, arrived, now);
    else
        on_rtp(in, data, len, arrived, now);
}

static struct qoe_receiver tell_counts(struct video_receiver *in)
{
    int64_t marked = in->config.ecn_marked(in->config.ctx);
    if (marked >= 0) // else its connection may be gone already
        in->ecn_marked = marked;
    struct qoe_receiver counts = {.expected = rtp_receiver_expected(rtp_of(in)),
                                  .lost = rtp_receiver_lost(rtp_of(in)),
                                  .reordered = rtp_of(in)->reordered,
                                  .loss_events = rtp_of(in)->loss_events,
                                  .ecn_marked = in->ecn_marked};
    qoe_on_receiver(in->config.qoe, &counts);
    return counts;
}

void video_receiver_tell(struct video_receiver *in)
{
    (void)tell_counts(in);
}

void video_receiver_second(struct video_receiver *in, struct video_receiver_figures *out,
                           usec_t now)
{
    send_feedback(in, now);
    struct qoe_receiver counts = tell_counts(in);
    uint64_t expected = counts.expected - in->last_expected;
    // Packets counted as lost may still arrive, so the count can also decrease.
    uint64_t lost = counts.lost > in->last_lost ? counts.lost - in->last_lost : 0;
    if (lost)
        trace_loss(in->config.events, lost, counts.loss_events - in->last_loss_events, now);
    in->last_expected = counts.expected;
    in->last_lost = counts.lost;
    in->last_loss_events = counts.loss_events;

    *out = (struct video_receiver_figures){.rate_bps = rate_meter_bps(&in->meter, now),
                                           .loss = NAN,
                                           .queue = frame_receiver_queue(in->frames)};
    if (expected)
        out->loss = fmin((double)lost / (double)expected, 1);
}

void video_receiver_send_pli(struct video_receiver *in, usec_t now)
{
    if (!in->config.sdp->pli)
        return; // the server does not take PLI: wait for its next key frame
    log_debug("requesting a key frame");
    in->feedback.pli = true;
    send_feedback(in, now);
}

void video_receiver_send_bye(struct video_receiver *in, usec_t now)
{
    in->feedback.bye = true;
    send_feedback(in, now);
    video_receiver_tell(in);
    uint64_t malformed = in->malformed + frame_receiver_malformed(in->frames);
    uint64_t strange = frame_receiver_strange(in->frames);
    if (malformed || strange)
        log_warn("%" PRIu64 " malformed packets, %" PRIu64 " of another stream: ignored", malformed,
                 strange);
}

void video_receiver_set_rtt(struct video_receiver *in, usec_t rtt)
{
    in->rtt = rtt;
}

uint64_t video_receiver_packets(const struct video_receiver *in)
{
    return frame_receiver_packets(in->frames);
}

usec_t video_receiver_media_span(const struct video_receiver *in)
{
    return frame_receiver_media_span(in->frames);
}
