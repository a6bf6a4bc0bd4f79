// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/receive/video_receiver.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "common/base/log.h"
#include "common/base/rate_meter.h"
#include "common/base/seq.h"
#include "common/net/clock.h"
#include "media/decode/parameter_sets.h"
#include "stream/receive/frame_assembler.h"
#include "stream/receive/rtcp_feedback.h"

struct video_receiver {
    struct video_receiver_config config;
    struct rtp_receiver receiver;
    struct depacketiser *depacketiser;    // owned
    struct frame_assembler *foreign;      // owned; NULL: the sender is Weir's
    uint8_t sets[SDP_MAX_PARAMETER_SETS]; // of the description, or as they came last; Annex B
    size_t sets_len;
    struct rtcp_feedback feedback;
    struct rate_meter meter;
    usec_t rtt;
    usec_t now;        // the wake-up that wall_ahead was read at
    usec_t wall_ahead; // wall clock minus monotonic clock
    uint64_t packets;  // of this stream
    uint64_t malformed;
    uint64_t strange;        // another payload type or source
    int64_t first_timestamp; // extended
    int64_t last_timestamp;  // extended
    // One-way delays, between clocks that need not agree:
    usec_t least_delay;
    double delay_sum; // since the last second
    int delay_count;
    int64_t ecn_marked; // -1: not known
    // At the last second:
    uint64_t last_expected;
    uint64_t last_lost;
    uint64_t last_loss_events;
};

struct video_receiver *video_receiver_new(const struct video_receiver_config *config)
{
    struct video_receiver *in = calloc(1, sizeof(*in));
    if (!in)
        return NULL;
    in->config = *config;
    in->ecn_marked = -1;
    in->depacketiser = depacketiser_new();
    if (!in->depacketiser) {
        free(in);
        return NULL;
    }
    if (sdp_is_foreign(config->sdp)) {
        in->foreign = frame_assembler_new(config->sdp->ladder.source_fps);
        if (!in->foreign) {
            video_receiver_free(in);
            return NULL;
        }
        in->sets_len = parameter_sets_decode(config->sdp->sprop, in->sets, sizeof(in->sets));
    }
    rtp_receiver_init(&in->receiver);
    rtcp_feedback_init(&in->feedback, config->random);
    in->now = -1;
    in->least_delay = USEC_NEVER;
    return in;
}

void video_receiver_free(struct video_receiver *in)
{
    if (!in)
        return;
    depacketiser_free(in->depacketiser);
    frame_assembler_free(in->foreign);
    free(in);
}

// The wall clock is read once a wake-up, not once a packet.
static usec_t wall_of(struct video_receiver *in, usec_t when, usec_t now)
{
    if (now != in->now) {
        in->now = now;
        in->wall_ahead = clock_wall() - clock_now();
    }
    return when + in->wall_ahead;
}

static void send_feedback(struct video_receiver *in, usec_t now)
{
    uint8_t out[RTCP_MAX_PACKET];
    size_t len = rtcp_feedback_compound(&in->feedback, &in->receiver, out, sizeof(out), now);
    in->config.send_rtcp(in->config.ctx, out, len);
}

static void on_sender_report(struct video_receiver *in, const struct rtcp_item *item,
                             usec_t arrived)
{
    uint32_t shift = in->foreign ? frame_assembler_shift(in->foreign) : 0;
    rtp_receiver_sender_report(&in->receiver, item->sender.ntp, arrived);
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
        // The sound's comes the same way.
        bool ours = !in->receiver.started || item.ssrc == in->receiver.ssrc;
        if (item.kind == RTCP_IS_SR && ours)
            on_sender_report(in, &item, arrived);
        else if (item.kind == RTCP_IS_BYE)
            bye = ours;
    }
    in->malformed += got < 0;
    if (bye)
        in->config.on_bye(in->config.ctx, now);
}

// Protocol latency: the sender's write to our read (MIN_BUF TCP, section 3).
static usec_t measure_delay(struct video_receiver *in, const struct rtp_packet *p, usec_t arrived,
                            usec_t now)
{
    if (!p->has_adu)
        return QOE_UNKNOWN;
    usec_t wall = wall_of(in, arrived, now) + in->config.clock->offset;
    usec_t delay = wall - seq32_extend(wall, p->adu.written_us);
    in->least_delay = usec_min(in->least_delay, delay);
    in->delay_sum += (double)delay;
    in->delay_count++;
    return in->config.clock->known ? delay : QOE_UNKNOWN;
}

// An ADU is one packet. Only on a shared clock are the sender's times ours.
static void tell_adu(struct video_receiver *in, const struct rtp_packet *p, usec_t latency,
                     usec_t arrived, usec_t now)
{
    bool shared = in->config.clock->shared;
    struct event_adu adu = {.number = p->adu.frame,
                            .written = shared ? arrived - latency : QOE_UNKNOWN,
                            .read = shared ? arrived : QOE_UNKNOWN};
    trace_adu(in->config.events, &adu, now);
}

static void note_timestamp(struct video_receiver *in, const struct rtp_packet *p)
{
    int64_t timestamp = seq32_extend(in->last_timestamp, p->timestamp);
    if (!in->packets)
        in->first_timestamp = in->last_timestamp = p->timestamp;
    else if (timestamp > in->last_timestamp)
        in->last_timestamp = timestamp;
}

static void pull_frames(struct video_receiver *in, usec_t now)
{
    struct received_frame *f;
    while ((f = depacketiser_pull(in->depacketiser))) {
        if (in->foreign)
            in->sets_len = parameter_sets_learn(f, in->sets, in->sets_len, sizeof(in->sets));
        (void)parameter_sets_prepend(f, in->sets, in->sets_len); // without them it is as it was
        in->config.on_frame(in->config.ctx, f, now);
    }
}

// `p` has an adu.
static void on_frame_packet(struct video_receiver *in, const struct rtp_packet *p, int64_t ext_seq,
                            usec_t arrived, usec_t now)
{
    in->config.on_packet(in->config.ctx, p, ext_seq, arrived, now);
    (void)depacketiser_push(in->depacketiser, p, ext_seq, arrived); // counts what is malformed
}

static void on_foreign_packet(struct video_receiver *in, const struct rtp_packet *p,
                              int64_t ext_seq, usec_t arrived, usec_t now)
{
    frame_assembler_push(in->foreign, p, ext_seq, arrived);
    for (struct foreign_packet f; frame_assembler_pull(in->foreign, &f);) {
        on_frame_packet(in, &f.packet, f.ext_seq, f.arrived, now);
        free((void *)(uintptr_t)f.packet.payload);
    }
}

static void on_rtp(struct video_receiver *in, const uint8_t *data, size_t len, usec_t arrived,
                   usec_t now)
{
    struct rtp_packet p;
    if (rtp_decode(data, len, in->config.sdp->ext, &p) != 0) {
        in->malformed++;
        return;
    }
    if (p.payload_type != in->config.sdp->payload_type) {
        in->strange++;
        return;
    }
    int64_t ext_seq;
    enum rtp_verdict verdict = rtp_receiver_packet(&in->receiver, &p, in->rtt, &ext_seq, arrived);
    if (verdict == RTP_DISCARD)
        in->strange++;
    if (verdict == RTP_DISCARD || verdict == RTP_DUPLICATE)
        return;
    note_timestamp(in, &p);
    in->packets++;
    rate_meter_add(&in->meter, len, now);
    struct qoe_packet measured = {.bytes = len, .latency = measure_delay(in, &p, arrived, now)};
    qoe_on_packet(in->config.qoe, &measured, now);
    if (!in->config.sdp->h264 && p.has_adu)
        tell_adu(in, &p, measured.latency, arrived, now);
    if (sdp_has_frames(in->config.sdp)) {
        if (in->foreign)
            on_foreign_packet(in, &p, ext_seq, arrived, now);
        else if (p.has_adu)
            on_frame_packet(in, &p, ext_seq, arrived, now);
        else
            in->malformed++;
        pull_frames(in, now);
    }
    in->feedback.nack_count = rtp_receiver_holes(&in->receiver, in->feedback.nacks, RTCP_MAX_NACKS);
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
    // Some senders mix both on one port or channel (RFC 5761).
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
    struct qoe_receiver counts = {.expected = rtp_receiver_expected(&in->receiver),
                                  .lost = rtp_receiver_lost(&in->receiver),
                                  .reordered = in->receiver.reordered,
                                  .loss_events = in->receiver.loss_events,
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
    // Packets taken for lost may still come, so the count can go down as well.
    uint64_t lost = counts.lost > in->last_lost ? counts.lost - in->last_lost : 0;
    if (lost)
        trace_loss(in->config.events, lost, counts.loss_events - in->last_loss_events, now);
    in->last_expected = counts.expected;
    in->last_lost = counts.lost;
    in->last_loss_events = counts.loss_events;

    *out = (struct video_receiver_figures){
        .rate_bps = rate_meter_bps(&in->meter, now), .loss = NAN, .queue = NAN};
    if (expected)
        out->loss = fmin((double)lost / (double)expected, 1);
    if (in->delay_count)
        out->queue = (in->delay_sum / in->delay_count - (double)in->least_delay) / 1e6;
    in->delay_sum = 0;
    in->delay_count = 0;
}

void video_receiver_send_pli(struct video_receiver *in, usec_t now)
{
    if (!in->config.sdp->pli)
        return; // the next one comes when it comes
    log_debug("asking for a key frame");
    in->feedback.pli = true;
    send_feedback(in, now);
}

void video_receiver_send_bye(struct video_receiver *in, usec_t now)
{
    in->feedback.bye = true;
    send_feedback(in, now);
    video_receiver_tell(in);
    uint64_t malformed = in->malformed + depacketiser_malformed(in->depacketiser);
    if (malformed || in->strange)
        log_warn("%" PRIu64 " malformed packets, %" PRIu64 " of another stream: left out",
                 malformed, in->strange);
}

void video_receiver_set_rtt(struct video_receiver *in, usec_t rtt)
{
    in->rtt = rtt;
}

uint64_t video_receiver_packets(const struct video_receiver *in)
{
    return in->packets;
}

usec_t video_receiver_media_span(const struct video_receiver *in)
{
    return rtp_usec(in->last_timestamp - in->first_timestamp, RTP_CLOCK_RATE);
}
