// SPDX-License-Identifier: GPL-2.0-or-later
#include "client/receive/audio_receiver.h"

#include <string.h>

#include "common/base/err.h"
#include "common/base/seq.h"
#include "common/repair/loss_detector.h"
#include "media/coded/audio.h"

void audio_receiver_init(struct audio_receiver *in, const struct sdp *sdp,
                         audio_receiver_fn *on_packet, void *ctx, uint64_t random)
{
    memset(in, 0, sizeof(*in));
    in->sdp = sdp;
    in->dialect = server_dialect_of(sdp);
    in->on_packet = on_packet;
    in->ctx = ctx;
    rtp_receiver_init(&in->receiver);
    in->receiver.clock_rate = sdp->audio.clock_rate ? sdp->audio.clock_rate : RTP_OPUS_CLOCK_RATE;
    in->sync.rate = in->receiver.clock_rate;
    rtcp_feedback_init(&in->feedback, random);
}

void audio_receiver_destroy(struct audio_receiver *in)
{
    loss_detector_free(in->detector);
    in->detector = NULL;
}

int audio_receiver_set_repair(struct audio_receiver *in, bool requests)
{
    audio_receiver_destroy(in);
    if (requests)
        in->detector = loss_detector_new();
    return requests && !in->detector ? ERR_NO_MEMORY : 0;
}

void audio_receiver_set_path(struct audio_receiver *in, usec_t rtt, usec_t keep)
{
    if (!in->detector)
        return;
    struct loss_detector_path path = {.rtt = rtt, .rtt_variation = rtt / 8, .min_rtt = rtt};
    loss_detector_set_path(in->detector, &path);
    loss_detector_set_keep(in->detector, keep);
}

void audio_receiver_near(struct audio_receiver *in, usec_t media)
{
    in->reference = audio_samples(media);
}

static void take_report(struct audio_receiver *in, const struct early_report *of)
{
    rtp_receiver_sender_report(&in->receiver, of->ntp, of->arrived);
    av_sync_report(&in->sync, true, of->ntp, of->stamp);
}

static void keep_early(struct audio_receiver *in, const struct early_report *of)
{
    if (in->early[0].ssrc != of->ssrc)
        in->early[1] = in->early[0];
    in->early[0] = *of;
}

// The first packet of a source came.
static void take_early(struct audio_receiver *in)
{
    for (int i = 0; i < AUDIO_EARLY_REPORTS; i++)
        if (in->early[i].is_told && in->early[i].ssrc == in->receiver.ssrc) {
            take_report(in, &in->early[i]);
            in->early[i].is_told = false;
        }
}

// A compound begins with the report of its source (RFC 3550, 6.1).
static bool on_rtcp(struct audio_receiver *in, const uint8_t *data, size_t len, usec_t arrived)
{
    struct rtcp_item item;
    size_t at = 0;
    if (rtcp_next(data, len, &at, &item) != 1)
        return false;
    bool ours = in->receiver.started && item.ssrc == in->receiver.ssrc;
    const struct early_report report = {true, item.ssrc, item.sender.ntp, item.sender.rtp_timestamp,
                                        arrived};
    if (item.kind == RTCP_IS_SR)
        (ours ? take_report : keep_early)(in, &report);
    return ours;
}

static bool place(struct audio_receiver *in, const struct rtp_packet *p, usec_t arrived,
                  int64_t *out)
{
    if (!p->has_adu)
        return av_sync_place(&in->sync, p->timestamp, arrived, out);
    *out = seq32_extend(in->reference, p->adu.frame);
    return true;
}

bool audio_receiver_packet(struct audio_receiver *in, bool rtcp, const uint8_t *data, size_t len,
                           usec_t arrived)
{
    if (rtcp || rtcp_is(data, len))
        return on_rtcp(in, data, len, arrived);
    struct rtp_packet p;
    if (len < 2 || (data[1] & 127) != in->sdp->audio.payload_type)
        return false;
    if (rtp_decode(data, len, in->sdp->audio.ext, &p) != 0 ||
        (!p.has_adu && !in->dialect->numbers_from_stamps)) {
        in->malformed++;
        return true;
    }
    int64_t seq;
    uint32_t ssrc = in->receiver.ssrc;
    bool started = in->receiver.started;
    int64_t highest = in->receiver.highest_seq;
    enum rtp_verdict verdict = rtp_receiver_packet(&in->receiver, &p, 0, &seq, arrived);
    if (verdict == RTP_DISCARD || verdict == RTP_DUPLICATE)
        return true;
    in->bytes += len;
    if (!started || in->receiver.ssrc != ssrc)
        take_early(in);
    if (in->detector && (in->receiver.ssrc != ssrc || seq > highest + RTP_MAX_DROPOUT))
        loss_detector_restart(in->detector);
    if (in->detector && seq >= 0) {
        in->repaired += loss_detector_is_resent(in->detector, seq, arrived);
        loss_detector_packet(in->detector, seq, LOSS_DETECTOR_TAIL_UNKNOWN, arrived);
    }
    struct received_audio a = {.capture_wall = p.has_capture ? p.capture_wall : 0,
                               .arrived = arrived,
                               .data = p.payload,
                               .bytes = p.payload_len};
    if (place(in, &p, arrived, &a.position))
        in->on_packet(in->ctx, &a);
    return true;
}

size_t audio_receiver_requests(struct audio_receiver *in, uint8_t *out, usec_t now)
{
    if (!in->detector || loss_detector_next_timeout(in->detector) > now)
        return 0;
    in->feedback.nack_count =
        loss_detector_requests(in->detector, in->feedback.nacks, RTCP_MAX_NACKS, now);
    if (!in->feedback.nack_count)
        return 0;
    return rtcp_feedback_compound(&in->feedback, &in->receiver, out, RTCP_MAX_PACKET, now);
}

size_t audio_receiver_report(struct audio_receiver *in, uint8_t *out, usec_t now)
{
    if (!in->receiver.started)
        return 0;
    return rtcp_feedback_compound(&in->feedback, &in->receiver, out, RTCP_MAX_PACKET, now);
}
