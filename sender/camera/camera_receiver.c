// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/camera/camera_receiver.h"

#include <stdlib.h>

#include "common/wire/rtcp.h"
#include "common/wire/rtp.h"
#include "media/rtp/jpeg_payload.h"
#include "sender/camera/camera_audio.h"

struct camera_receiver {
    struct camera_receiver_config config;
    struct sdp sdp;
    struct stream_receiver *media; // borrowed; NULL: not made yet
};

// ---- From the receivers

static void on_media(void *ctx, enum media_track track, bool rtcp, const uint8_t *data, size_t len,
                     usec_t now)
{
    const struct camera_receiver *r = ctx;
    struct rtp_packet p;
    if (track == TRACK_AUDIO || rtcp || rtp_decode(data, len, r->sdp.ext, &p) != 0 ||
        p.payload_type != r->sdp.payload_type)
        return;
    uint32_t shift = video_receiver_shift(stream_receiver_video(r->media));
    r->config.ops->on_stamp(r->config.ctx, p.timestamp + shift, now);
    if (r->sdp.codec == SDP_JPEG && jpeg_payload_is_too_large(p.payload, p.payload_len))
        r->config.give_up(
            r->config.link,
            "its JPEG pictures are wider or higher than 2040 pixels, which RTP cannot "
            "describe: choose a smaller size, or its stream in H.264",
            now);
}

static void on_frame(void *ctx, struct received_frame *f, usec_t now)
{
    const struct camera_receiver *r = ctx;
    r->config.ops->on_frame(r->config.ctx, f, now);
}

static void on_bye(void *ctx, usec_t now)
{
    const struct camera_receiver *r = ctx;
    if (r->config.on_bye)
        r->config.on_bye(r->config.link, now);
}

static void on_report(void *ctx, uint64_t ntp, uint32_t timestamp)
{
    const struct camera_receiver *r = ctx;
    r->config.ops->on_report(r->config.ctx, wall_of_ntp(ntp), timestamp);
}

static void on_audio(void *ctx, const struct received_audio *a, usec_t now)
{
    const struct camera_receiver *r = ctx;
    r->config.ops->on_audio(r->config.ctx, a, now);
}

// ---- For the link

bool camera_receiver_takes(const struct sdp *sdp)
{
    // A third party's recording is taken as a stream: recorders, and cameras that loop a file.
    return sdp_is_third_party(sdp) || (sdp->codec == SDP_H264 && sdp->duration < 0);
}

struct camera_receiver *camera_receiver_new(const struct camera_receiver_config *config)
{
    struct camera_receiver *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->config = *config;
    r->sdp = *config->sdp;
    r->sdp.duration = -1;
    r->config.sdp = &r->sdp;
    return r;
}

void camera_receiver_free(struct camera_receiver *r)
{
    free(r);
}

struct stream_receiver_config camera_receiver_media(struct camera_receiver *r)
{
    static const struct stream_receiver_ops ops = {
        .video = {.on_frame = on_frame, .on_bye = on_bye, .on_report = on_report},
        .on_media = on_media,
        .on_audio = on_audio};
    return (struct stream_receiver_config){.video = {.sdp = &r->sdp}, .ops = &ops, .ctx = r};
}

bool camera_receiver_begin(struct camera_receiver *r, struct stream_receiver *media, usec_t now)
{
    const struct sdp_audio *audio = &r->sdp.audio;
    r->media = media;
    if (media)
        r->config.ops->on_described(r->config.ctx, &r->sdp,
                                    audio->present ? camera_audio_codec_name(audio) : NULL, now);
    return media;
}
