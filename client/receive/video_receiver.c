// SPDX-License-Identifier: GPL-2.0-or-later
#include "client/receive/video_receiver.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/rate_meter.h"
#include "common/base/seq.h"
#include "common/net/clock.h"
#include "common/net/timer.h"
#include "common/protocol/server_dialect.h"
#include "media/decode/parameter_sets.h"
#include "stream/qoe/qoe.h"
#include "stream/receive/frame_receiver.h"
#include "stream/receive/loss_meter.h"
#include "stream/receive/rtcp_exchange.h"

struct video_receiver {
    struct video_receiver_config config;
    struct clock_sync unknown;      // that of a sender whose own is not known
    struct av_sync *sync;           // borrowed; NULL: the audio needs no reports
    struct frame_receiver *frames;  // owned
    struct repair_receiver *repair; // owned; NULL: nothing is requested nor recovered
    struct timer *request;          // owned; when packets are to be requested
    usec_t request_at;              // that it is set to
    bool postponed;                 // it fired, and fires again
    bool waits;                     // as repair_receiver_config.patience says
    int64_t first, begun; // extended numbers of the first packet, and of the first one since the
                          // media continued elsewhere; -1: not known
    uint8_t sets[SDP_MAX_PARAMETER_SETS]; // of the description, or the last received ones; Annex B
    size_t sets_len;
    const struct server_dialect *dialect; // static; of the SDP
    struct rtcp_exchange rtcp;
    struct rate_meter meter;
    struct loss_meter loss;
    usec_t rtt;
    usec_t now;           // the wake-up at which wall_ahead was read
    usec_t wall_ahead;    // wall clock minus monotonic clock
    int64_t ecn_marked;   // packets with the CE mark; -1: unknown
    int64_t second_bytes; // of RTP over a second network; -1: there is none
};

static void request_missing(struct video_receiver *in, usec_t now);

// Frames that lack what the packet shows to be missing follow: the viewer does not need a key frame
// for them while their packets are requested.
static void on_packet(void *ctx, const struct rtp_packet *p, int64_t ext_seq, usec_t arrived,
                      usec_t now)
{
    struct video_receiver *in = ctx;
    request_missing(in, now);
    if (in->config.ops->on_packet)
        in->config.ops->on_packet(in->config.ctx, p, ext_seq, arrived, now);
}

static void on_frame(void *ctx, struct received_frame *f, usec_t now)
{
    struct video_receiver *in = ctx;
    if (in->dialect->sets_from_sdp)
        in->sets_len = parameter_sets_learn(in->config.sdp->codec, f, in->sets, in->sets_len,
                                            sizeof(in->sets));
    // Without memory the frame stays as it is.
    (void)parameter_sets_prepend(in->config.sdp->codec, f, in->sets, in->sets_len);
    in->config.ops->on_frame(in->config.ctx, f, now);
}

// A loop that was busy finds packets in the sockets that seem to be missing, however punctual the
// timer is: they are read first, in this turn, and the timer fires again in the next one.
static void on_request_time(void *ctx, usec_t now)
{
    struct video_receiver *in = ctx;
    if (!in->postponed) {
        in->postponed = true;
        timer_set(in->request, now + 1);
        return;
    }
    in->postponed = false;
    in->request_at = USEC_NEVER;
    int64_t oldest = video_receiver_oldest(in);
    request_missing(in, now);
    if (in->config.ops->on_given_up && video_receiver_oldest(in) != oldest)
        in->config.ops->on_given_up(in->config.ctx, now);
}

struct video_receiver *video_receiver_new(const struct video_receiver_config *config)
{
    const struct sdp *sdp = config->sdp;
    struct video_receiver *in = calloc(1, sizeof(*in));
    if (!in)
        return NULL;
    in->config = *config;
    in->ecn_marked = in->second_bytes = in->first = in->begun = -1;
    in->dialect = server_dialect_of(sdp);
    struct frame_receiver_config frames = {.ext = sdp->ext,
                                           .payload_type = sdp->payload_type,
                                           .codec = sdp->codec,
                                           .frames = sdp_has_frames(sdp),
                                           .third_party = in->dialect->numbers_from_stamps,
                                           .adus = !sdp_has_pictures(sdp),
                                           .fps = sdp->ladder.source_fps,
                                           .clock = config->clock ? config->clock : &in->unknown,
                                           .sink = config->sink,
                                           .on_packet = on_packet,
                                           .on_frame = on_frame,
                                           .ctx = in};
    in->frames = frame_receiver_new(&frames);
    in->request = timer_new(config->loop, on_request_time, in);
    in->request_at = USEC_NEVER;
    if (!in->frames || !in->request) {
        video_receiver_free(in);
        return NULL;
    }
    if (in->dialect->sets_from_sdp)
        in->sets_len = parameter_sets_decode(sdp->sprop, in->sets, sizeof(in->sets));
    rtcp_exchange_init(&in->rtcp, config->random, sdp->nack, sdp->pli, sdp->tmmbr);
    in->now = -1;
    return in;
}

void video_receiver_free(struct video_receiver *in)
{
    if (!in)
        return;
    timer_free(in->request);
    frame_receiver_free(in->frames);
    repair_receiver_free(in->repair);
    free(in);
}

void video_receiver_set_sync(struct video_receiver *in, struct av_sync *sync)
{
    in->sync = sync;
}

static struct rtp_receiver *rtp_of(const struct video_receiver *in)
{
    return frame_receiver_rtp(in->frames);
}

static void send_feedback(struct video_receiver *in, usec_t now)
{
    uint8_t out[RTCP_MAX_PACKET];
    size_t len = rtcp_feedback_compound(&in->rtcp.feedback, rtp_of(in), out, sizeof(out), now);
    in->config.back.send_rtcp(in->config.back.ctx, TRACK_VIDEO, out, len);
}

// The timer is not moved to a later time: it may fire too early.
static void arm(struct video_receiver *in)
{
    usec_t when = repair_receiver_next_timeout(in->repair);
    if (when >= in->request_at)
        return;
    in->request_at = when;
    timer_set(in->request, when);
}

static void request_missing(struct video_receiver *in, usec_t now)
{
    if (!in->repair)
        return;
    bool requested = false;
    while (rtcp_exchange_requests(&in->rtcp, in->repair, now)) {
        send_feedback(in, now);
        requested = true;
    }
    if (requested && in->config.ops->on_nacked)
        in->config.ops->on_nacked(in->config.ctx, now);
    arm(in);
}

// The number of packets that a report tells says which was the last one, though it or the BYE that
// comes with it may be late: a BYE of before the media continued elsewhere ends nothing. Returns
// true if it is such a report.
static bool take_count(struct video_receiver *in, uint32_t packets, usec_t now)
{
    // Of relayed media some numbers were left out.
    if (!in->waits || in->first < 0 || in->config.sdp->via[0])
        return false;
    int64_t last = in->first + packets - 1;
    if (rtp_of(in)->started && last <= rtp_of(in)->highest_seq + rtp_of(in)->max_dropout)
        repair_receiver_sent(in->repair, last);
    request_missing(in, now);
    return last < in->begun;
}

static void on_rtcp(struct video_receiver *in, const uint8_t *data, size_t len, usec_t arrived,
                    usec_t now)
{
    struct rtcp_received got = rtcp_exchange_compound(&in->rtcp, rtp_of(in), data, len, arrived);
    uint32_t timestamp = got.timestamp + frame_receiver_shift(in->frames);
    if (got.has_report && in->sync)
        av_sync_report(in->sync, false, got.ntp, timestamp);
    if (got.has_report && in->config.ops->on_report)
        in->config.ops->on_report(in->config.ctx, got.ntp, timestamp);
    bool stale = got.has_report && take_count(in, got.packets, now);
    if (got.bye && !stale && in->config.ops->on_bye)
        in->config.ops->on_bye(in->config.ctx, now);
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
    request_missing(in, now); // packets without frames, and those of third parties
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

void video_receiver_report(struct video_receiver *in)
{
    struct qoe *qoe = in->config.sink.qoe;
    if (!qoe)
        return;
    const struct stream_return *back = &in->config.back;
    int64_t marked = back->ecn_marked ? back->ecn_marked(back->ctx) : -1;
    if (marked >= 0) // otherwise the connection may already be freed
        in->ecn_marked = marked;
    int64_t second = back->second_bytes ? back->second_bytes(back->ctx) : -1;
    if (second >= 0)
        in->second_bytes = second;
    struct qoe_receiver counts = {.expected = rtp_receiver_expected(rtp_of(in)),
                                  .lost = rtp_receiver_lost(rtp_of(in)),
                                  .reordered = rtp_of(in)->reordered,
                                  .loss_events = rtp_of(in)->loss_events,
                                  .ecn_marked = in->ecn_marked,
                                  .second_bytes = in->second_bytes};
    qoe_on_receiver(qoe, &counts);
    repair_receiver_report(in->repair, qoe);
}

void video_receiver_second(struct video_receiver *in, struct video_receiver_stats *out, usec_t now)
{
    rtcp_exchange_second(&in->rtcp);
    send_feedback(in, now);
    video_receiver_report(in);
    struct loss_reading loss = loss_meter_read(&in->loss, rtp_of(in));
    *out = (struct video_receiver_stats){.rate_bps = rate_meter_bps(&in->meter, now),
                                         .loss = loss.fraction,
                                         .queue = frame_receiver_queue(in->frames),
                                         .lost = loss.lost,
                                         .loss_events = loss.loss_events};
}

void video_receiver_send_pli(struct video_receiver *in, usec_t now)
{
    if (!rtcp_exchange_need_key(&in->rtcp))
        return; // the next key frame comes without a request
    log_debug("requesting a key frame");
    send_feedback(in, now);
}

bool video_receiver_limit(struct video_receiver *in, double bps, usec_t now)
{
    if (!rtcp_exchange_limit(&in->rtcp, (uint64_t)bps))
        return false;
    send_feedback(in, now);
    return true;
}

void video_receiver_send_bye(struct video_receiver *in, usec_t now)
{
    in->rtcp.feedback.bye = true;
    send_feedback(in, now);
    video_receiver_report(in);
    uint64_t malformed = in->rtcp.malformed + frame_receiver_malformed(in->frames);
    uint64_t strange = frame_receiver_strange(in->frames);
    if (malformed || strange)
        log_warn("%" PRIu64 " malformed packets, %" PRIu64 " of another stream: ignored", malformed,
                 strange);
}

void video_receiver_set_rtt(struct video_receiver *in, usec_t rtt, usec_t now)
{
    in->rtt = rtt;
    if (in->repair)
        repair_receiver_set_rtt(in->repair, rtt, now);
}

int video_receiver_set_repair(struct video_receiver *in, const struct video_repair *repair)
{
    bool third_party = in->dialect->numbers_from_stamps;
    bool wanted = repair->wanted != REPAIR_MODE_OFF;
    rtp_of(in)->in_order = third_party && !repair->datagram;
    frame_receiver_set_repair(in->frames, NULL);
    repair_receiver_free(in->repair);
    in->repair = NULL;
    in->waits = false;
    timer_set(in->request, USEC_NEVER);
    in->request_at = USEC_NEVER;
    if (!repair->datagram || (third_party && !wanted))
        return 0;
    // Without repair Weir's sender is told of losses, too: the encoder does without what was lost.
    struct repair_receiver_config config = {.ext = in->config.sdp->ext,
                                            .requests = in->rtcp.takes_nack,
                                            .repeats = wanted,
                                            .takes_parity = repair->agreed == REPAIR_MODE_FEC ||
                                                            repair->agreed == REPAIR_MODE_AUTO,
                                            .patience = repair->patience};
    in->repair = repair_receiver_new(&config);
    frame_receiver_set_repair(in->frames, in->repair);
    if (!in->repair)
        return ERR_NO_MEMORY;
    if (rtp_of(in)->started) // what follows the packets so far is expected
        repair_receiver_begin(in->repair, rtp_of(in)->highest_seq + 1, in->now);
    in->waits = config.requests && repair->patience;
    return in->waits ? frame_receiver_wait(in->frames) : 0;
}

void video_receiver_begin(struct video_receiver *in, uint16_t seq, bool jumps, usec_t now)
{
    if (!in->waits || (in->first >= 0 && !jumps))
        return;
    in->begun = rtp_of(in)->started ? seq16_extend(rtp_of(in)->highest_seq, seq) : seq;
    in->first = in->first < 0 ? in->begun : in->first;
    repair_receiver_begin(in->repair, in->begun, now);
    request_missing(in, now);
}

int64_t video_receiver_oldest(const struct video_receiver *in)
{
    return in->waits ? repair_receiver_oldest(in->repair) : INT64_MAX;
}

bool video_receiver_is_complete(const struct video_receiver *in)
{
    return !in->waits || repair_receiver_is_complete(in->repair);
}

void video_receiver_set_keep(struct video_receiver *in, usec_t keep)
{
    if (in->repair)
        repair_receiver_set_keep(in->repair, keep);
}

uint64_t video_receiver_packets(const struct video_receiver *in)
{
    return frame_receiver_packets(in->frames);
}

usec_t video_receiver_media_span(const struct video_receiver *in)
{
    return frame_receiver_media_span(in->frames);
}

uint32_t video_receiver_shift(const struct video_receiver *in)
{
    return frame_receiver_shift(in->frames);
}
