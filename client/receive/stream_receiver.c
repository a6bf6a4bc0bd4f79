// SPDX-License-Identifier: GPL-2.0-or-later
#include "client/receive/stream_receiver.h"

#include <stdlib.h>

#include "common/protocol/server_dialect.h"
#include "common/wire/rtcp.h"

struct stream_receiver {
    const struct stream_receiver_ops *ops; // static
    void *ctx;                             // borrowed
    const struct sdp *sdp;                 // borrowed
    struct stream_return back;
    uint64_t random;
    const struct server_dialect *dialect; // static
    struct video_receiver *video;         // owned
    struct audio_receiver audio;
    bool has_audio;     // `audio` is initialised
    bool repairs_audio; // also of audio that is added later
    bool in_order;      // rtp_receiver.in_order, also of audio that is added later
    usec_t now;         // of the packet that is processed
};

struct stream_receiver *stream_receiver_new(const struct stream_receiver_config *config)
{
    struct stream_receiver *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->ops = config->ops;
    r->ctx = config->ctx;
    r->sdp = config->video.sdp;
    r->back = config->video.back;
    r->random = config->video.random;
    r->dialect = server_dialect_of(r->sdp);
    struct video_receiver_config video = config->video;
    video.ops = &config->ops->video;
    video.ctx = config->ctx;
    r->video = video_receiver_new(&video);
    if (r->video)
        return r;
    free(r);
    return NULL;
}

void stream_receiver_free(struct stream_receiver *r)
{
    if (!r)
        return;
    video_receiver_free(r->video);
    if (r->has_audio)
        audio_receiver_destroy(&r->audio);
    free(r);
}

struct video_receiver *stream_receiver_video(const struct stream_receiver *r)
{
    return r->video;
}

static void on_audio(void *ctx, const struct received_audio *a)
{
    const struct stream_receiver *r = ctx;
    if (r->ops->on_audio)
        r->ops->on_audio(r->ctx, a, r->now);
}

int stream_receiver_add_audio(struct stream_receiver *r)
{
    if (r->has_audio)
        return 0;
    audio_receiver_init(&r->audio, r->sdp, on_audio, r, r->random);
    video_receiver_set_sync(r->video, &r->audio.sync);
    r->has_audio = true;
    r->audio.receiver.in_order = r->in_order;
    return audio_receiver_set_repair(&r->audio, r->repairs_audio);
}

int stream_receiver_set_repair(struct stream_receiver *r, const struct video_repair *repair,
                               bool repairs_audio)
{
    r->repairs_audio = repairs_audio;
    r->audio.receiver.in_order = r->in_order = r->dialect->numbers_from_stamps && !repair->datagram;
    int err = video_receiver_set_repair(r->video, repair);
    int audio_err = r->has_audio ? audio_receiver_set_repair(&r->audio, repairs_audio) : 0;
    return err ? err : audio_err;
}

void stream_receiver_set_path(struct stream_receiver *r, usec_t rtt, usec_t keep, usec_t now)
{
    video_receiver_set_rtt(r->video, rtt, now);
    if (r->has_audio)
        audio_receiver_set_path(&r->audio, rtt, keep);
}

void stream_receiver_relate(struct stream_receiver *r, uint32_t rtp_timestamp, usec_t media,
                            usec_t arrived)
{
    if (!r->has_audio)
        return;
    if (r->dialect->numbers_from_stamps)
        av_sync_picture(&r->audio.sync, rtp_timestamp, media, arrived);
    else
        audio_receiver_near(&r->audio, media);
}

// Returns true if the packet is the audio's.
static bool take_audio(struct stream_receiver *r, bool rtcp, const uint8_t *data, size_t len,
                       usec_t arrived)
{
    if (!r->sdp->audio.present)
        return false;
    // Datagrams may arrive before the SETUP response that they depend on: those are dropped.
    if (!r->has_audio)
        return !rtcp && len > 1 && (data[1] & 127) == r->sdp->audio.payload_type;
    return audio_receiver_packet(&r->audio, rtcp, data, len, arrived);
}

struct stream_audio_counts stream_receiver_audio(const struct stream_receiver *r)
{
    const struct rtp_receiver *rtp = &r->audio.receiver;
    if (!r->has_audio)
        return (struct stream_audio_counts){0};
    return (struct stream_audio_counts){.started = rtp->started,
                                        .packets = rtp->received,
                                        .lost = rtp_receiver_lost(rtp),
                                        .repaired = r->audio.repaired,
                                        .bytes = r->audio.bytes};
}

static void send_audio_rtcp(const struct stream_receiver *r, const uint8_t *data, size_t len)
{
    if (len)
        r->back.send_rtcp(r->back.ctx, TRACK_AUDIO, data, len);
}

void stream_receiver_packet(struct stream_receiver *r, enum media_track track, bool rtcp,
                            const uint8_t *data, size_t len, usec_t arrived, usec_t now)
{
    uint8_t requests[RTCP_MAX_PACKET];
    bool may_be_audio = track == TRACK_AUDIO || !r->dialect->audio_has_own_flow;
    r->now = now;
    bool is_audio = may_be_audio && take_audio(r, rtcp, data, len, arrived);
    if (track == TRACK_AUDIO && !is_audio)
        return;
    if (r->ops->on_media)
        r->ops->on_media(r->ctx, is_audio ? TRACK_AUDIO : TRACK_VIDEO, rtcp, data, len, now);
    if (r->has_audio)
        send_audio_rtcp(r, requests, audio_receiver_requests(&r->audio, requests, now));
    if (!is_audio)
        video_receiver_packet(r->video, rtcp, data, len, arrived, now);
}

void stream_receiver_second(struct stream_receiver *r, struct video_receiver_stats *out, usec_t now)
{
    uint8_t report[RTCP_MAX_PACKET];
    video_receiver_second(r->video, out, now);
    if (r->has_audio)
        send_audio_rtcp(r, report, audio_receiver_report(&r->audio, report, now));
}
