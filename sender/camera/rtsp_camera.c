// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/camera/rtsp_camera.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "client/session/remote_stream.h"
#include "common/base/log.h"
#include "common/transport/transport_list.h"
#include "sender/camera/camera_receiver.h"

struct rtsp_camera {
    struct camera_link base;           // first
    const struct camera_link_ops *ops; // static
    void *ctx;                         // borrowed
    struct remote_stream *remote;      // owned
    struct camera_receiver *receiver;  // owned; NULL: not described yet
    int levels;                        // of the description; 0: no choice
    char host[URL_MAX_HOST];
    bool leaving; // it is being freed
};

// ---- From the receiver

static void on_unfit(void *ctx, const char *why, usec_t now)
{
    rtsp_link_give_up(remote_stream_link(((struct rtsp_camera *)ctx)->remote), why, now);
}

static void on_bye(void *ctx, usec_t now)
{
    on_unfit(ctx, "the camera has ended the stream", now);
}

// ---- From the session

static bool on_described(void *ctx, const struct sdp *sdp, const char **why, usec_t now)
{
    struct rtsp_camera *l = ctx;
    *why = "it is no live video in H.264, H.265, VP9 or JPEG";
    if (!camera_receiver_takes(sdp))
        return false;
    l->levels = sdp->ladder.level_count;
    struct camera_receiver_config config = {
        .sdp = sdp, .ops = l->ops, .ctx = l->ctx, .give_up = on_unfit, .on_bye = on_bye, .link = l};
    struct camera_receiver *before = l->receiver; // of a description before a redirect
    *why = "out of memory";
    l->receiver = camera_receiver_new(&config);
    if (!l->receiver) {
        l->receiver = before;
        return false;
    }
    struct stream_receiver_config media = camera_receiver_media(l->receiver);
    struct stream_receiver *made = remote_stream_describe(l->remote, &media);
    camera_receiver_free(before);
    return camera_receiver_begin(l->receiver, made, now);
}

static void on_setup(void *ctx, const struct rtsp_client_setup *setup, usec_t now)
{
    const struct rtsp_camera *l = ctx;
    static const struct remote_repair repair = {.keep = CAMERA_RECEIVER_KEEP};
    if (setup->datagram)
        log_info("the camera sends over UDP: lost packets cost pictures");
    if (remote_stream_set_up(l->remote, setup, &repair, now) != 0)
        log_warn("lost packets of the camera are not repaired: out of memory");
}

static void on_audio(void *ctx)
{
    (void)stream_receiver_add_audio(remote_stream_media(((struct rtsp_camera *)ctx)->remote));
}

static void on_start(void *ctx, struct rtsp_client_start *out)
{
    const struct rtsp_camera *l = ctx;
    *out = (struct rtsp_client_start){.level = l->levels - 1}; // -1: no choice
}

static void on_answer(void *ctx, const struct rtsp_client_answer *a, usec_t now)
{
    const struct rtsp_camera *l = ctx;
    stream_receiver_set_path(remote_stream_media(l->remote), a->rtt, CAMERA_RECEIVER_KEEP, now);
}

static void on_end(void *ctx, enum rtsp_client_end end, const char *text, usec_t now)
{
    (void)end;
    struct rtsp_camera *l = ctx;
    if (!l->leaving)
        l->ops->on_end(l->ctx, rtsp_client_status(rtsp_link_client(remote_stream_link(l->remote))),
                       text, now);
}

static const struct rtsp_link_ops link_ops = {.rtsp = {.on_described = on_described,
                                                       .on_setup = on_setup,
                                                       .on_audio = on_audio,
                                                       .on_start = on_start,
                                                       .on_answer = on_answer,
                                                       .on_end = on_end}};

// ---- For the owner

static struct stream_receiver *media_of(const struct camera_link *base)
{
    return remote_stream_media(((const struct rtsp_camera *)base)->remote);
}

static void second(struct camera_link *base, usec_t now)
{
    struct video_receiver_stats unused;
    if (media_of(base))
        stream_receiver_second(media_of(base), &unused, now);
}

static void request_key(struct camera_link *base, usec_t now)
{
    if (media_of(base))
        video_receiver_send_pli(stream_receiver_video(media_of(base)), now);
}

static void give_up(struct camera_link *base, const char *why, usec_t now)
{
    on_unfit(base, why, now);
}

bool rtsp_camera_expired(const struct camera_link *base)
{
    return rtsp_client_expired(
        rtsp_link_client(remote_stream_link(((const struct rtsp_camera *)base)->remote)));
}

static void relate(struct camera_link *base, uint32_t rtp_timestamp, usec_t media, usec_t arrived)
{
    stream_receiver_relate(media_of(base), rtp_timestamp, media, arrived);
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
    remote_stream_free(l->remote, now);
    camera_receiver_free(l->receiver);
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
    if (!l)
        return NULL;
    l->base.kind = &kind;
    l->ops = config->ops;
    l->ctx = config->ctx;
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
    l->remote = remote_stream_new(&link, now);
    if (l->remote)
        return &l->base;
    free(l);
    return NULL;
}
