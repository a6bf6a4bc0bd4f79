// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/camera/rtsp_camera.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "client/receive/video_receiver.h"
#include "client/rtsp/rtsp_link.h"
#include "common/base/log.h"
#include "common/net/random.h"
#include "common/protocol/server_dialect.h"
#include "common/transport/transport_list.h"
#include "common/wire/rtcp.h"
#include "common/wire/rtp.h"
#include "media/rtp/jpeg_payload.h"
#include "sender/camera/camera_audio.h"
#include "stream/receive/clock_sync.h"

#define KEEP USEC_PER_SEC // how long a missing packet is of use

struct rtsp_camera {
    struct camera_link base;           // first
    const struct camera_link_ops *ops; // static
    void *ctx;                         // borrowed
    uv_loop_t *loop;                   // borrowed
    struct rtsp_link *link;            // these are owned
    struct video_receiver *video;
    struct audio_receiver audio;
    bool has_audio;          // `audio` is initialised
    struct clock_sync clock; // not known
    struct sdp sdp;
    const struct server_dialect *dialect; // static
    char host[URL_MAX_HOST];
    uint64_t random;
    bool leaving; // it is being freed
    usec_t now;   // of the packet that is processed
};

// ---- From the receivers

static void send_video_rtcp(void *ctx, const uint8_t *data, size_t len)
{
    struct rtsp_camera *l = ctx;
    rtsp_link_send_rtcp(l->link, false, data, len);
}

static int64_t ecn_marked(void *ctx)
{
    const struct rtsp_camera *l = ctx;
    return rtsp_link_ecn_marked(l->link);
}

static void on_video_packet(void *ctx, const struct rtp_packet *p, int64_t ext_seq, usec_t arrived,
                            usec_t now)
{
    (void)ctx, (void)p, (void)ext_seq, (void)arrived, (void)now;
}

static void on_frame(void *ctx, struct received_frame *f, usec_t now)
{
    struct rtsp_camera *l = ctx;
    l->ops->on_frame(l->ctx, f, now);
}

static void on_nacked(void *ctx, usec_t now)
{
    (void)ctx, (void)now;
}

static void on_bye(void *ctx, usec_t now)
{
    struct rtsp_camera *l = ctx;
    rtsp_link_give_up(l->link, "the camera has ended the stream", now);
}

static void on_report(void *ctx, uint64_t ntp, uint32_t timestamp)
{
    struct rtsp_camera *l = ctx;
    if (l->has_audio)
        av_sync_report(&l->audio.sync, false, ntp, timestamp);
    l->ops->on_report(l->ctx, wall_of_ntp(ntp), timestamp);
}

static void on_audio_received(void *ctx, const struct received_audio *a)
{
    struct rtsp_camera *l = ctx;
    l->ops->on_audio(l->ctx, a, l->now);
}

// ---- From the link

static bool on_described(void *ctx, const struct sdp *sdp, const char **why, usec_t now)
{
    struct rtsp_camera *l = ctx;
    *why = "it is no live video in H.264, H.265, VP9 or JPEG";
    // A third party's recording is taken as a stream: recorders, and cameras that loop a file.
    if ((sdp->codec != SDP_H264 && !sdp_is_third_party(sdp)) ||
        (sdp->duration >= 0 && !sdp_is_third_party(sdp)))
        return false;
    l->sdp = *sdp;
    l->sdp.duration = -1;
    l->dialect = server_dialect_of(&l->sdp);
    rtsp_link_set_ssrc(l->link, (uint32_t)l->random);
    struct video_receiver_config config = {.loop = l->loop,
                                           .sdp = &l->sdp,
                                           .clock = &l->clock,
                                           .random = l->random,
                                           .send_rtcp = send_video_rtcp,
                                           .on_packet = on_video_packet,
                                           .on_frame = on_frame,
                                           .on_nacked = on_nacked,
                                           .on_bye = on_bye,
                                           .on_report = on_report,
                                           .ecn_marked = ecn_marked,
                                           .ctx = l};
    video_receiver_free(l->video); // of a description before a redirect
    l->video = video_receiver_new(&config);
    *why = "out of memory";
    if (l->video)
        l->ops->on_described(l->ctx, &l->sdp,
                             sdp->audio.present ? camera_audio_codec_name(&sdp->audio) : NULL, now);
    return l->video;
}

static void on_setup(void *ctx, const struct rtsp_client_setup *setup, usec_t now)
{
    struct rtsp_camera *l = ctx;
    struct video_repair repair = {.datagram = setup->datagram, .wanted = REPAIR_MODE_AUTO};
    if (!repair_mode_parse(rtsp_link_repair(l->link), &repair.agreed))
        repair.agreed = REPAIR_MODE_OFF;
    if (setup->datagram)
        log_info("the camera sends over UDP: lost packets cost pictures");
    if (video_receiver_set_repair(l->video, &repair) != 0)
        log_warn("lost packets of the camera are not repaired: out of memory");
    video_receiver_set_keep(l->video, KEEP);
    video_receiver_set_rtt(l->video, setup->rtt, now);
}

static void on_audio(void *ctx)
{
    struct rtsp_camera *l = ctx;
    if (l->has_audio)
        return;
    audio_receiver_init(&l->audio, &l->sdp, on_audio_received, l, l->random);
    l->has_audio = true;
}

static void on_start(void *ctx, struct rtsp_client_start *out)
{
    const struct rtsp_camera *l = ctx;
    *out = (struct rtsp_client_start){.level = l->sdp.ladder.level_count - 1}; // -1: no choice
}

static void on_answer(void *ctx, const struct rtsp_client_answer *a, usec_t now)
{
    struct rtsp_camera *l = ctx;
    video_receiver_set_rtt(l->video, a->rtt, now);
}

static void on_end(void *ctx, enum rtsp_client_end end, const char *text, usec_t now)
{
    (void)end;
    struct rtsp_camera *l = ctx;
    if (!l->leaving)
        l->ops->on_end(l->ctx, rtsp_link_status(l->link), text, now);
}

// ---- Media

static bool take_audio(struct rtsp_camera *l, bool rtcp, const uint8_t *data, size_t len,
                       usec_t arrived, usec_t now)
{
    l->now = now;
    return l->has_audio && audio_receiver_packet(&l->audio, rtcp, data, len, arrived);
}

static void take_picture_packet(struct rtsp_camera *l, const struct rtp_packet *p, usec_t now)
{
    l->ops->on_stamp(l->ctx, p->timestamp + video_receiver_shift(l->video), now);
    if (l->sdp.codec == SDP_JPEG && jpeg_payload_is_too_large(p->payload, p->payload_len))
        rtsp_link_give_up(
            l->link,
            "its JPEG pictures are wider or higher than 2040 pixels, which RTP cannot "
            "describe: choose a smaller size, or its stream in H.264",
            now);
}

static void on_packet(void *ctx, bool rtcp, const uint8_t *data, size_t len, usec_t arrived,
                      usec_t now)
{
    struct rtsp_camera *l = ctx;
    if (!l->dialect->audio_has_own_flow && take_audio(l, rtcp, data, len, arrived, now))
        return;
    struct rtp_packet p;
    if (!rtcp && rtp_decode(data, len, l->sdp.ext, &p) == 0 &&
        p.payload_type == l->sdp.payload_type)
        take_picture_packet(l, &p, now);
    video_receiver_packet(l->video, rtcp, data, len, arrived, now);
}

static void on_audio_packet(void *ctx, bool rtcp, const uint8_t *data, size_t len, usec_t arrived,
                            usec_t now)
{
    (void)take_audio(ctx, rtcp, data, len, arrived, now);
}

// What a camera's session has no use for.

static void on_instant(void *ctx, usec_t now)
{
    (void)ctx, (void)now;
}

static void on_list(void *ctx, struct text list, usec_t now)
{
    (void)ctx, (void)list, (void)now;
}

static void on_playing(void *ctx, const struct rtsp_client_place *place, usec_t now)
{
    (void)ctx, (void)place, (void)now;
}

static void on_values(void *ctx, struct text body, usec_t now)
{
    (void)ctx, (void)body, (void)now;
}

static void on_level(void *ctx, int level, bool accepted, usec_t now)
{
    (void)ctx, (void)level, (void)accepted, (void)now;
}

static const struct rtsp_link_ops link_ops = {.rtsp = {.on_connected = on_instant,
                                                       .on_described = on_described,
                                                       .on_list = on_list,
                                                       .on_setup = on_setup,
                                                       .on_audio = on_audio,
                                                       .on_start = on_start,
                                                       .on_ready = on_instant,
                                                       .on_playing = on_playing,
                                                       .on_answer = on_answer,
                                                       .on_pair_refused = on_instant,
                                                       .on_values = on_values,
                                                       .on_level = on_level,
                                                       .on_pause_refused = on_instant,
                                                       .on_seek_refused = on_instant,
                                                       .on_end = on_end},
                                              .on_packet = on_packet,
                                              .on_audio_packet = on_audio_packet};

// ---- For the owner

static void second(struct camera_link *base, usec_t now)
{
    struct rtsp_camera *l = (struct rtsp_camera *)base;
    uint8_t report[RTCP_MAX_PACKET];
    struct video_receiver_stats unused;
    if (l->video)
        video_receiver_second(l->video, &unused, now);
    size_t len = l->has_audio ? audio_receiver_report(&l->audio, report, now) : 0;
    if (len)
        rtsp_link_send_rtcp(l->link, true, report, len);
}

static void request_key(struct camera_link *base, usec_t now)
{
    struct rtsp_camera *l = (struct rtsp_camera *)base;
    if (l->video && l->sdp.pli)
        video_receiver_send_pli(l->video, now);
}

static void give_up(struct camera_link *base, const char *why, usec_t now)
{
    rtsp_link_give_up(((struct rtsp_camera *)base)->link, why, now);
}

bool rtsp_camera_expired(const struct camera_link *base)
{
    return rtsp_link_expired(((const struct rtsp_camera *)base)->link);
}

static void relate(struct camera_link *base, uint32_t rtp_timestamp, usec_t media, usec_t arrived)
{
    struct rtsp_camera *l = (struct rtsp_camera *)base;
    if (!l->has_audio)
        return;
    if (l->dialect->numbers_from_stamps)
        av_sync_picture(&l->audio.sync, rtp_timestamp, media, arrived);
    else
        audio_receiver_near(&l->audio, media);
}

// A camera must not lead the sender to other machines of its network.
static bool may_follow(const void *ctx, const struct url *to)
{
    const struct rtsp_camera *l = ctx;
    return strcasecmp(l->host, to->host) == 0;
}

static void free_all(struct camera_link *base, usec_t now)
{
    struct rtsp_camera *l = (struct rtsp_camera *)base;
    l->leaving = true;
    (void)rtsp_link_leave(l->link, now); // its TEARDOWN leaves at once
    rtsp_link_free(l->link);
    video_receiver_free(l->video);
    if (l->has_audio)
        audio_receiver_destroy(&l->audio);
    free(l);
}

// Takes ?transport=tcp, udp or multicast from the URL. The camera's own parameter of that name,
// with another value, stays.
static const char *take_transports(struct url *url)
{
    static const char *const names[] = {"tcp", "udp", TRANSPORT_MULTICAST};
    char text[URL_MAX_TEXT], value[16];
    memcpy(text, url->text, sizeof(text));
    (void)url_take_parameter(text, "transport", value, sizeof(value));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(value, names[i]) != 0)
            continue;
        memcpy(url->text, text, sizeof(text));
        return names[i];
    }
    return "tcp,udp";
}

struct camera_link *rtsp_camera_new(const struct rtsp_camera_config *config, usec_t now)
{
    static const struct camera_link_kind kind = {.free = free_all,
                                                 .second = second,
                                                 .request_key = request_key,
                                                 .give_up = give_up,
                                                 .picture = relate};
    struct rtsp_camera *l = calloc(1, sizeof(*l));
    if (!l || !random_fill(&l->random, sizeof(l->random))) {
        free(l);
        return NULL;
    }
    l->base.kind = &kind;
    l->ops = config->ops;
    l->ctx = config->ctx;
    l->loop = config->loop;
    memcpy(l->host, config->url->host, sizeof(l->host));
    struct rtsp_client_config rtsp = {.url = *config->url,
                                      .adapt = "none",
                                      .live_latency_ms = 2000,
                                      .stored_latency_ms = 2000,
                                      .has_audio = config->has_audio,
                                      .takes_other_codecs = true,
                                      .keeps_alive_in_turn = config->keeps_alive_in_turn,
                                      .may_follow = may_follow,
                                      .follow_ctx = l};
    (void)transport_list_split(take_transports(&rtsp.url), &rtsp.transports);
    struct rtsp_link_config link = {
        .loop = config->loop, .rtsp = &rtsp, .cc = "", .ops = &link_ops, .ctx = l};
    l->link = rtsp_link_new(&link, now);
    if (l->link)
        return &l->base;
    free(l);
    return NULL;
}
