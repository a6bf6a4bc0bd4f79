// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/camera/camera_receiver.h"

#include <stdlib.h>

#include "client/receive/video_receiver.h"
#include "common/base/log.h"
#include "common/protocol/server_dialect.h"
#include "common/wire/rtcp.h"
#include "common/wire/rtp.h"
#include "media/rtp/jpeg_payload.h"
#include "sender/camera/camera_audio.h"
#include "stream/receive/clock_sync.h"

#define KEEP USEC_PER_SEC // how long a missing packet is of use

struct camera_receiver {
    struct camera_receiver_config config;
    struct sdp sdp;
    const struct server_dialect *dialect; // static
    struct clock_sync clock;              // not known
    struct video_receiver *video;         // owned
    struct audio_receiver audio;
    bool has_audio; // `audio` is initialised
    usec_t now;     // of the packet that is processed
};

// ---- From the receivers

static void send_video_rtcp(void *ctx, const uint8_t *data, size_t len)
{
    struct camera_receiver *r = ctx;
    r->config.send_rtcp(r->config.link, false, data, len);
}

static int64_t ecn_marked(void *ctx)
{
    const struct camera_receiver *r = ctx;
    return r->config.ecn_marked(r->config.link);
}

static void on_video_packet(void *ctx, const struct rtp_packet *p, int64_t ext_seq, usec_t arrived,
                            usec_t now)
{
    (void)ctx, (void)p, (void)ext_seq, (void)arrived, (void)now;
}

static void on_frame(void *ctx, struct received_frame *f, usec_t now)
{
    struct camera_receiver *r = ctx;
    r->config.ops->on_frame(r->config.ctx, f, now);
}

static void on_nacked(void *ctx, usec_t now)
{
    (void)ctx, (void)now;
}

static void on_bye(void *ctx, usec_t now)
{
    struct camera_receiver *r = ctx;
    if (r->config.on_bye)
        r->config.on_bye(r->config.link, now);
}

static void on_report(void *ctx, uint64_t ntp, uint32_t timestamp)
{
    struct camera_receiver *r = ctx;
    if (r->has_audio)
        av_sync_report(&r->audio.sync, false, ntp, timestamp);
    r->config.ops->on_report(r->config.ctx, wall_of_ntp(ntp), timestamp);
}

static void on_audio_received(void *ctx, const struct received_audio *a)
{
    struct camera_receiver *r = ctx;
    r->config.ops->on_audio(r->config.ctx, a, r->now);
}

// ---- For the link

bool camera_receiver_takes(const struct sdp *sdp)
{
    // A third party's recording is taken as a stream: recorders, and cameras that loop a file.
    return sdp_is_third_party(sdp) || (sdp->codec == SDP_H264 && sdp->duration < 0);
}

struct camera_receiver *camera_receiver_new(const struct camera_receiver_config *config, usec_t now)
{
    struct camera_receiver *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->config = *config;
    r->sdp = *config->sdp;
    r->sdp.duration = -1;
    r->config.sdp = &r->sdp;
    r->dialect = server_dialect_of(&r->sdp);
    struct video_receiver_config video = {.loop = config->loop,
                                          .sdp = &r->sdp,
                                          .clock = &r->clock,
                                          .random = config->random,
                                          .send_rtcp = send_video_rtcp,
                                          .on_packet = on_video_packet,
                                          .on_frame = on_frame,
                                          .on_nacked = on_nacked,
                                          .on_bye = on_bye,
                                          .on_report = on_report,
                                          .ecn_marked = ecn_marked,
                                          .ctx = r};
    r->video = video_receiver_new(&video);
    if (!r->video) {
        free(r);
        return NULL;
    }
    const struct sdp_audio *audio = &r->sdp.audio;
    config->ops->on_described(config->ctx, &r->sdp,
                              audio->present ? camera_audio_codec_name(audio) : NULL, now);
    return r;
}

void camera_receiver_free(struct camera_receiver *r)
{
    if (!r)
        return;
    video_receiver_free(r->video);
    if (r->has_audio)
        audio_receiver_destroy(&r->audio);
    free(r);
}

void camera_receiver_set_up(struct camera_receiver *r, bool datagram, enum repair_mode agreed,
                            usec_t rtt, usec_t now)
{
    struct video_repair repair = {
        .datagram = datagram, .wanted = REPAIR_MODE_AUTO, .agreed = agreed};
    if (video_receiver_set_repair(r->video, &repair) != 0)
        log_warn("lost packets of the camera are not repaired: out of memory");
    video_receiver_set_keep(r->video, KEEP);
    video_receiver_set_rtt(r->video, rtt, now);
}

void camera_receiver_set_rtt(struct camera_receiver *r, usec_t rtt, usec_t now)
{
    video_receiver_set_rtt(r->video, rtt, now);
}

void camera_receiver_add_audio(struct camera_receiver *r)
{
    if (r->has_audio)
        return;
    audio_receiver_init(&r->audio, &r->sdp, on_audio_received, r, r->config.random);
    r->has_audio = true;
}

static void take_picture_packet(struct camera_receiver *r, const struct rtp_packet *p, usec_t now)
{
    uint32_t shift = video_receiver_shift(r->video);
    r->config.ops->on_stamp(r->config.ctx, p->timestamp + shift, now);
    if (r->sdp.codec == SDP_JPEG && jpeg_payload_is_too_large(p->payload, p->payload_len))
        r->config.give_up(
            r->config.link,
            "its JPEG pictures are wider or higher than 2040 pixels, which RTP cannot "
            "describe: choose a smaller size, or its stream in H.264",
            now);
}

void camera_receiver_packet(struct camera_receiver *r, bool audio, bool rtcp, const uint8_t *data,
                            size_t len, usec_t arrived, usec_t now)
{
    bool may_be_audio = audio || !r->dialect->audio_has_own_flow;
    r->now = now;
    if (may_be_audio && r->has_audio && audio_receiver_packet(&r->audio, rtcp, data, len, arrived))
        return;
    if (audio)
        return;
    struct rtp_packet p;
    if (!rtcp && rtp_decode(data, len, r->sdp.ext, &p) == 0 &&
        p.payload_type == r->sdp.payload_type)
        take_picture_packet(r, &p, now);
    video_receiver_packet(r->video, rtcp, data, len, arrived, now);
}

void camera_receiver_second(struct camera_receiver *r, usec_t now)
{
    uint8_t report[RTCP_MAX_PACKET];
    struct video_receiver_stats unused;
    video_receiver_second(r->video, &unused, now);
    size_t len = r->has_audio ? audio_receiver_report(&r->audio, report, now) : 0;
    if (len)
        r->config.send_rtcp(r->config.link, true, report, len);
}

void camera_receiver_request_key(struct camera_receiver *r, usec_t now)
{
    if (r->sdp.pli)
        video_receiver_send_pli(r->video, now);
}

void camera_receiver_relate(struct camera_receiver *r, uint32_t rtp_timestamp, usec_t media,
                            usec_t arrived)
{
    if (!r->has_audio)
        return;
    if (r->dialect->numbers_from_stamps)
        av_sync_picture(&r->audio.sync, rtp_timestamp, media, arrived);
    else
        audio_receiver_near(&r->audio, media);
}
