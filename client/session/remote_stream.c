// SPDX-License-Identifier: GPL-2.0-or-later
#include "client/session/remote_stream.h"

#include <stdlib.h>

#include "common/net/random.h"

struct remote_stream {
    uv_loop_t *loop;               // borrowed
    struct rtsp_link *link;        // owned; NULL: hung up
    struct stream_receiver *media; // owned; NULL: not described yet
    bool is_stopped;
    uint64_t random; // names this receiver in all its RTCP (RFC 3550, 5.1)
};

// ---- From the receivers

static void send_rtcp(void *ctx, enum media_track track, const uint8_t *data, size_t len)
{
    const struct remote_stream *r = ctx;
    if (r->link)
        rtsp_link_send_rtcp(r->link, track == TRACK_AUDIO, data, len);
}

static int64_t ecn_marked(void *ctx)
{
    const struct remote_stream *r = ctx;
    return r->link ? rtsp_link_ecn_marked(r->link) : -1;
}

static int64_t second_bytes(void *ctx)
{
    const struct remote_stream *r = ctx;
    return r->link ? rtsp_link_second_bytes(r->link) : -1;
}

// ---- From the link

static void on_packet(void *ctx, enum media_track track, bool rtcp, const uint8_t *data, size_t len,
                      usec_t arrived, usec_t now)
{
    const struct remote_stream *r = ctx;
    if (!r->is_stopped)
        stream_receiver_packet(r->media, track, rtcp, data, len, arrived, now);
}

// ---- For the owner

struct rtsp_link *remote_stream_link(const struct remote_stream *r)
{
    return r->link;
}

struct stream_receiver *remote_stream_media(const struct remote_stream *r)
{
    return r->media;
}

struct stream_receiver *remote_stream_describe(struct remote_stream *r,
                                               const struct stream_receiver_config *config)
{
    struct stream_receiver_config of = *config;
    of.video.loop = r->loop;
    of.video.random = r->random;
    of.video.back = (struct stream_return){
        .send_rtcp = send_rtcp, .ecn_marked = ecn_marked, .second_bytes = second_bytes, .ctx = r};
    rtsp_link_set_ssrc(r->link, (uint32_t)r->random);
    stream_receiver_free(r->media);
    r->media = stream_receiver_new(&of);
    return r->media;
}

enum repair_mode remote_stream_repair(const struct remote_stream *r)
{
    enum repair_mode mode;
    return repair_mode_parse(rtsp_link_repair(r->link), &mode) ? mode : REPAIR_MODE_OFF;
}

int remote_stream_set_up(struct remote_stream *r, const struct rtsp_client_setup *setup,
                         const struct remote_repair *repair, usec_t now)
{
    struct video_repair video = {
        .datagram = setup->datagram, .wanted = REPAIR_MODE_AUTO, .agreed = remote_stream_repair(r)};
    int err = stream_receiver_set_repair(r->media, &video, setup->datagram && repair->audio);
    video_receiver_set_keep(stream_receiver_video(r->media), repair->keep);
    stream_receiver_set_path(r->media, setup->rtt, repair->keep, now);
    return err;
}

struct remote_stream *remote_stream_new(const struct rtsp_link_config *config, usec_t now)
{
    struct remote_stream *r = calloc(1, sizeof(*r));
    struct rtsp_link_config link = *config;
    if (!r || !random_fill(&r->random, sizeof(r->random))) {
        rtsp_spare_free(config->spare);
        free(r);
        return NULL;
    }
    r->loop = config->loop;
    link.on_packet = on_packet;
    link.packet_ctx = r;
    r->link = rtsp_link_new(&link, now);
    if (r->link)
        return r;
    free(r);
    return NULL;
}

void remote_stream_hang_up(struct remote_stream *r)
{
    rtsp_link_free(r->link);
    r->link = NULL;
}

void remote_stream_stop(struct remote_stream *r)
{
    r->is_stopped = true;
}

void remote_stream_free(struct remote_stream *r, usec_t now)
{
    if (!r)
        return;
    if (r->link)
        (void)rtsp_client_leave(rtsp_link_client(r->link), now);
    rtsp_link_free(r->link);
    stream_receiver_free(r->media);
    free(r);
}
