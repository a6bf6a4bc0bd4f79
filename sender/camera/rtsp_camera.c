// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/camera/rtsp_camera.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "client/rtsp/rtsp_link.h"
#include "common/base/log.h"
#include "common/net/random.h"
#include "common/transport/transport_list.h"
#include "sender/camera/camera_receiver.h"

struct rtsp_camera {
    struct camera_link base;           // first
    const struct camera_link_ops *ops; // static
    void *ctx;                         // borrowed
    uv_loop_t *loop;                   // borrowed
    struct rtsp_link *link;            // owned
    struct camera_receiver *receiver;  // owned; NULL: not described yet
    int levels;                        // of the description; 0: no choice
    char host[URL_MAX_HOST];
    uint64_t random;
    bool leaving; // it is being freed
};

// ---- From the receiver

static void send_rtcp(void *ctx, bool audio, const uint8_t *data, size_t len)
{
    rtsp_link_send_rtcp(((struct rtsp_camera *)ctx)->link, audio, data, len);
}

static int64_t ecn_marked(void *ctx)
{
    return rtsp_link_ecn_marked(((const struct rtsp_camera *)ctx)->link);
}

static void on_unfit(void *ctx, const char *why, usec_t now)
{
    rtsp_link_give_up(((struct rtsp_camera *)ctx)->link, why, now);
}

static void on_bye(void *ctx, usec_t now)
{
    on_unfit(ctx, "the camera has ended the stream", now);
}

// ---- From the link

static bool on_described(void *ctx, const struct sdp *sdp, const char **why, usec_t now)
{
    struct rtsp_camera *l = ctx;
    *why = "it is no live video in H.264, H.265, VP9 or JPEG";
    if (!camera_receiver_takes(sdp))
        return false;
    l->levels = sdp->ladder.level_count;
    rtsp_link_set_ssrc(l->link, (uint32_t)l->random);
    struct camera_receiver_config config = {.loop = l->loop,
                                            .sdp = sdp,
                                            .random = l->random,
                                            .ops = l->ops,
                                            .ctx = l->ctx,
                                            .send_rtcp = send_rtcp,
                                            .give_up = on_unfit,
                                            .on_bye = on_bye,
                                            .ecn_marked = ecn_marked,
                                            .link = l};
    camera_receiver_free(l->receiver); // of a description before a redirect
    l->receiver = camera_receiver_new(&config, now);
    *why = "out of memory";
    return l->receiver;
}

static void on_setup(void *ctx, const struct rtsp_client_setup *setup, usec_t now)
{
    struct rtsp_camera *l = ctx;
    enum repair_mode agreed;
    if (!repair_mode_parse(rtsp_link_repair(l->link), &agreed))
        agreed = REPAIR_MODE_OFF;
    if (setup->datagram)
        log_info("the camera sends over UDP: lost packets cost pictures");
    camera_receiver_set_up(l->receiver, setup->datagram, agreed, setup->rtt, now);
}

static void on_audio(void *ctx)
{
    camera_receiver_add_audio(((struct rtsp_camera *)ctx)->receiver);
}

static void on_start(void *ctx, struct rtsp_client_start *out)
{
    const struct rtsp_camera *l = ctx;
    *out = (struct rtsp_client_start){.level = l->levels - 1}; // -1: no choice
}

static void on_answer(void *ctx, const struct rtsp_client_answer *a, usec_t now)
{
    struct rtsp_camera *l = ctx;
    camera_receiver_set_rtt(l->receiver, a->rtt, now);
}

static void on_end(void *ctx, enum rtsp_client_end end, const char *text, usec_t now)
{
    (void)end;
    struct rtsp_camera *l = ctx;
    if (!l->leaving)
        l->ops->on_end(l->ctx, rtsp_link_status(l->link), text, now);
}

// ---- Media

static void on_packet(void *ctx, bool rtcp, const uint8_t *data, size_t len, usec_t arrived,
                      usec_t now)
{
    const struct rtsp_camera *l = ctx;
    camera_receiver_packet(l->receiver, false, rtcp, data, len, arrived, now);
}

static void on_audio_packet(void *ctx, bool rtcp, const uint8_t *data, size_t len, usec_t arrived,
                            usec_t now)
{
    const struct rtsp_camera *l = ctx;
    camera_receiver_packet(l->receiver, true, rtcp, data, len, arrived, now);
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
    const struct rtsp_camera *l = (const struct rtsp_camera *)base;
    if (l->receiver)
        camera_receiver_second(l->receiver, now);
}

static void request_key(struct camera_link *base, usec_t now)
{
    const struct rtsp_camera *l = (const struct rtsp_camera *)base;
    if (l->receiver)
        camera_receiver_request_key(l->receiver, now);
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
    camera_receiver_relate(((struct rtsp_camera *)base)->receiver, rtp_timestamp, media, arrived);
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
