// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rtsp/publish_setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/event.h"
#include "common/base/log.h"
#include "common/base/scan.h"
#include "common/net/random.h"
#include "common/net/tcp_conn.h"
#include "common/net/udp_socket.h"
#include "common/wire/request_path.h"
#include "common/wire/rtcp.h"
#include "common/wire/rtsp_transport.h"
#include "common/wire/sdp_other_audio.h"

enum purpose { VIDEO, AUDIO, UNUSED }; // of a track

struct published_track {
    struct publish_setup *setup; // borrowed
    enum purpose purpose;
    bool is_datagram;
    int channel[2];                  // RTP, RTCP; interleaved
    struct udp_socket *socket[2];    // owned; NULL: interleaved
    struct sockaddr_storage peer[2]; // the client's ports
};

struct publish_setup {
    struct publish_setup_config config;
    char path[REQUEST_PATH_MAX]; // of ANNOUNCE, as in the URI
    struct sdp sdp;
    struct publication *publication; // owned; NULL: nothing is announced
    usec_t announced;
    bool asked;    // RECORD waits for `takes`
    bool takes;    // the publication takes media
    bool records;  // RECORD was answered
    bool is_over;  // on_over was called
    char why[160]; // with `is_over`
    int count;
    struct published_track tracks[PUBLISH_TRACKS];
    usec_t second; // of `packets`
    int packets;
};

// ---- Life

struct publish_setup *publish_setup_new(const struct publish_setup_config *config)
{
    struct publish_setup *p = calloc(1, sizeof(*p));
    if (p)
        p->config = *config;
    return p;
}

bool publish_setup_is_offered(const struct publish_setup *p)
{
    return p->config.catalog->ops->publish;
}

void publish_setup_end(struct publish_setup *p, const char *why, usec_t now)
{
    if (!p->publication)
        return;
    p->publication->ops->end(p->publication, why, now);
    p->publication = NULL;
    for (int i = 0; i < p->count; i++)
        for (int k = 0; k < 2; k++) {
            udp_socket_free(p->tracks[i].socket[k]);
            p->tracks[i].socket[k] = NULL;
        }
    if (p->records) {
        log_of(LOG_INFO, "viewer", p->config.name, "client %s publishes to %s no longer%s%s",
               p->config.name, p->path, why ? ": " : "", why ? why : "");
        event_note(EVENT_UNPUBLISHED, p->path, why ? why : "");
    }
    p->count = 0;
    p->asked = p->takes = p->records = false;
}

void publish_setup_free(struct publish_setup *p, usec_t now)
{
    if (!p)
        return;
    publish_setup_end(p, p->is_over ? p->why : "its connection has ended", now);
    free(p);
}

// ---- From the publication

static void give_up(struct publish_setup *p, const char *why, usec_t now)
{
    if (p->is_over)
        return;
    p->is_over = true;
    p->takes = false;
    snprintf(p->why, sizeof(p->why), "%s", why);
    if (p->asked)
        p->config.on_ready(p->config.ctx, now); // RECORD is refused
    else
        p->config.on_over(p->config.ctx, p->why, now);
}

static void on_begun(void *ctx, usec_t now)
{
    struct publish_setup *p = ctx;
    p->takes = !p->is_over;
    p->config.on_ready(p->config.ctx, now);
}

static void on_over(void *ctx, const char *why, usec_t now)
{
    give_up(ctx, why, now);
}

static void send_rtcp(void *ctx, enum media_track track, const uint8_t *data, size_t len)
{
    struct publish_setup *p = ctx;
    enum purpose purpose = track == TRACK_AUDIO ? AUDIO : VIDEO;
    for (int i = 0; i < p->count; i++) {
        struct published_track *t = &p->tracks[i];
        uint8_t head[RTSP_INTERLEAVED_HEAD];
        struct iovec body = {(void *)(uintptr_t)data, len};
        if (t->purpose != purpose)
            continue;
        if (t->socket[1]) {
            (void)udp_socket_send(t->socket[1], (const struct sockaddr *)&t->peer[1], &body, 1);
        } else {
            rtsp_interleaved_encode(head, t->channel[1], len);
            struct iovec parts[] = {{head, sizeof(head)}, body};
            (void)tcp_conn_write_packet(p->config.tcp, parts, 2); // no room: it is lost
        }
    }
}

// ---- Packets

static void take_packet(struct published_track *t, bool rtcp, const uint8_t *data, size_t len,
                        usec_t arrived, usec_t now)
{
    struct publish_setup *p = t->setup;
    if (!p->publication || !p->records || p->is_over)
        return;
    rtsp_session_alive(p->config.state, now);
    if (now - p->second >= USEC_PER_SEC) {
        p->second = now;
        p->packets = 0;
    }
    if (++p->packets > PUBLISH_MAX_PACKETS)
        give_up(p, "it sends more than 30000 packets a second", now);
    else if (p->takes && t->purpose != UNUSED)
        p->publication->ops->packet(p->publication, t->purpose == AUDIO ? TRACK_AUDIO : TRACK_VIDEO,
                                    rtcp, data, len, arrived);
}

void publish_setup_interleaved(struct publish_setup *p, int channel, const uint8_t *data,
                               size_t len, usec_t now)
{
    for (int i = 0; i < p->count; i++)
        for (int k = 0; k < 2; k++)
            if (!p->tracks[i].is_datagram && p->tracks[i].channel[k] == channel) {
                take_packet(&p->tracks[i], k == 1, data, len, now, now);
                return;
            }
}

static bool is_client(const struct published_track *t, const struct datagram *d)
{
    return sockaddr_same_host((const struct sockaddr *)d->from,
                              (const struct sockaddr *)tcp_conn_peer(t->setup->config.tcp));
}

static void on_rtp(void *ctx, const struct datagram *d, usec_t now)
{
    struct published_track *t = ctx;
    if (is_client(t, d))
        take_packet(t, rtcp_is(d->data, d->len), d->data, d->len, d->arrived, now);
}

static void on_rtcp(void *ctx, const struct datagram *d, usec_t now)
{
    struct published_track *t = ctx;
    if (!is_client(t, d) || !rtcp_is(d->data, d->len))
        return;
    t->peer[1] = *d->from; // behind a NAT it is another one than the client named
    take_packet(t, true, d->data, d->len, d->arrived, now);
}

// ---- ANNOUNCE

// Returns the number of media in a description.
static int count_media(struct text sdp)
{
    struct scan s = scan_of(sdp.at, sdp.len), line;
    int count = 0;
    while (scan_line(&s, &line))
        count += scan_left(&line) > 2 && line.at[0] == 'm' && line.at[1] == '=';
    return count;
}

// Reads the description. Returns false if the media cannot be taken; `a` says why.
static bool read_sdp(struct publish_setup *p, const struct rtsp_item *request,
                     struct rtsp_response *a)
{
    struct text type = rtsp_header(request, "Content-Type");
    if (!request->body.len || (type.at && !text_is_nocase(type, "application/sdp"))) {
        rtsp_response_refuse(a, 415, "ANNOUNCE expects a description in application/sdp\r\n");
        return false;
    }
    int err = sdp_decode(request->body.at, request->body.len, &p->sdp);
    int count = count_media(request->body);
    if (err == ERR_TOO_BIG)
        rtsp_response_refuse(a, 413, "the description has more than %d bytes\r\n", SDP_MAX_BYTES);
    else if (err && err != ERR_UNSUPPORTED)
        rtsp_response_refuse(a, 400, "the description is malformed\r\n");
    else if (count > PUBLISH_TRACKS)
        rtsp_response_refuse(a, 413, "more than %d media\r\n", PUBLISH_TRACKS);
    else if (err || !sdp_has_pictures(&p->sdp))
        rtsp_response_refuse(a, 415,
                             "there is no video in H.264, H.265, VP9 or JPEG in the description "
                             "(ffmpeg: -c:v libx264)\r\n");
    if (a->status != 200)
        return false;
    // What a Weir stream says of itself serves viewers of its own server.
    sdp_make_third_party(&p->sdp);
    p->sdp.duration = -1;
    if (!p->sdp.audio.present &&
        sdp_other_audio_read(request->body.at, request->body.len, &p->sdp.audio))
        p->sdp.other_audio[0] = '\0';
    return true;
}

static void announce(struct publish_setup *p, const struct rtsp_item *request, const char *path,
                     struct rtsp_response *a, usec_t now)
{
    static const struct publication_events events = {
        .on_begun = on_begun, .on_over = on_over, .send_rtcp = send_rtcp};
    struct publication_config config = {.sdp = &p->sdp, .events = &events, .ctx = p};
    struct media_refusal refusal;
    snprintf(p->path, sizeof(p->path), "%.*s", (int)strcspn(path, "?#"), path);
    if (!read_sdp(p, request, a))
        return;
    if (p->config.catalog->ops->publish(p->config.catalog, p->path, &config, &p->publication,
                                        &refusal) != 0) {
        rtsp_response_refuse(a, refusal.status, "%s\r\n", refusal.text);
        return;
    }
    p->announced = now;
    p->is_over = false;
    rtsp_session_apply(p->config.state, RTSP_ANNOUNCE, 0);
}

// ---- SETUP

static bool ends_in(const char *text, const char *end)
{
    size_t len = strlen(text), tail = strlen(end);
    return tail && len >= tail && strcmp(text + len - tail, end) == 0;
}

static bool is_set_up(const struct publish_setup *p, enum purpose purpose)
{
    for (int i = 0; i < p->count; i++)
        if (p->tracks[i].purpose == purpose)
            return true;
    return false;
}

// Returns what the medium of a URI is.
static enum purpose purpose_of(const struct publish_setup *p, const char *path)
{
    const struct sdp *s = &p->sdp;
    bool is_whole = strcmp(path, p->path) == 0 || !s->control[0]; // there is only one medium
    if (s->audio.present && ends_in(path, s->audio.control))
        return is_set_up(p, AUDIO) ? UNUSED : AUDIO;
    return (is_whole || ends_in(path, s->control)) && !is_set_up(p, VIDEO) ? VIDEO : UNUSED;
}

static bool is_channel_free(const struct publish_setup *p, int channel)
{
    for (int i = 0; i < p->count; i++)
        for (int k = 0; k < 2; k++)
            if (!p->tracks[i].is_datagram && p->tracks[i].channel[k] == channel)
                return false;
    return true;
}

// Returns NULL, or why the transport is not possible (static). Over an encrypted connection media
// must not come readable.
static const char *open_track(struct publish_setup *p, struct published_track *t,
                              const struct rtsp_transport *offer)
{
    t->is_datagram = !offer->tcp;
    if (offer->multicast || offer->savp || offer->weir[0])
        return "expected RTP/AVP/TCP or RTP/AVP unicast";
    if (offer->tcp) {
        t->channel[0] = offer->interleaved[0] >= 0 ? offer->interleaved[0] : 2 * p->count;
        t->channel[1] = offer->interleaved[1] >= 0 ? offer->interleaved[1] : t->channel[0] + 1;
        bool is_free = t->channel[0] != t->channel[1] && t->channel[1] < 256 &&
                       is_channel_free(p, t->channel[0]) && is_channel_free(p, t->channel[1]);
        return is_free ? NULL : "these channels are in use";
    }
    if (tcp_conn_is_secure(p->config.tcp))
        return "datagrams would not be encrypted, as this connection is: use RTP/AVP/TCP";
    if (offer->client_port[0] <= 0 || offer->client_port[0] > 65534)
        return "expected client_port=";
    for (int k = 0; k < 2; k++) {
        t->peer[k] = *tcp_conn_peer(p->config.tcp);
        int port = offer->client_port[k] > 0 ? offer->client_port[k] : offer->client_port[0] + k;
        sockaddr_set_port((struct sockaddr *)&t->peer[k], port);
    }
    const struct sockaddr *local = (const struct sockaddr *)tcp_conn_local(p->config.tcp);
    return udp_socket_pair(p->config.loop, local, on_rtp, on_rtcp, t, t->socket) == 0
               ? NULL
               : "there are no free UDP ports";
}

static void answer_setup(const struct publish_setup *p, const struct published_track *t,
                         const struct rtsp_transport *offer, struct rtsp_response *a)
{
    struct rtsp_transport given = {.tcp = offer->tcp,
                                   .avpf = offer->avpf,
                                   .interleaved = {-1, -1},
                                   .client_port = {-1, -1},
                                   .server_port = {-1, -1}};
    for (int k = 0; k < 2; k++) {
        if (offer->tcp)
            given.interleaved[k] = t->channel[k];
        else
            given.client_port[k] = offer->client_port[k];
        if (t->socket[k])
            given.server_port[k] = udp_socket_port(t->socket[k]);
    }
    char text[512];
    rtsp_transport_encode(&given, text, sizeof(text));
    rtsp_response_header(a, "Transport: %s;mode=record\r\nSession: %s;timeout=%d\r\n", text,
                         p->config.state->id, RTSP_SESSION_TIMEOUT_S);
}

static void set_up(struct publish_setup *p, const struct rtsp_item *request, const char *path,
                   struct rtsp_response *a)
{
    struct rtsp_transport offers[RTSP_MAX_OFFERS];
    int count = rtsp_transport_decode(rtsp_header(request, "Transport"), offers);
    const char *why = "expected RTP/AVP/TCP or RTP/AVP unicast";
    uint64_t id;
    if (count < 0) {
        rtsp_response_refuse(a, 400, "the Transport header is malformed\r\n");
        return;
    }
    if (p->count == PUBLISH_TRACKS) {
        rtsp_response_refuse(a, 413, "more than %d media\r\n", PUBLISH_TRACKS);
        return;
    }
    struct published_track *t = &p->tracks[p->count];
    *t = (struct published_track){.setup = p, .purpose = purpose_of(p, path)};
    int i = 0;
    while (i < count && (why = open_track(p, t, &offers[i])) != NULL)
        i++;
    if (i >= count) {
        rtsp_response_refuse(a, 461, "%s\r\n", why);
        return;
    }
    if (!p->config.state->id[0]) {
        if (!random_fill(&id, sizeof(id))) {
            rtsp_response_refuse(a, 500, "no randomness\r\n");
            return;
        }
        rtsp_session_apply(p->config.state, RTSP_SETUP, id);
    }
    p->count++;
    answer_setup(p, t, &offers[i], a);
}

// ---- RECORD

static bool record(struct publish_setup *p, struct rtsp_response *a, usec_t now)
{
    if (!p->asked && !p->takes && !p->is_over) {
        bool datagram = false;
        for (int i = 0; i < p->count; i++)
            datagram = datagram || p->tracks[i].is_datagram;
        if (!is_set_up(p, VIDEO)) {
            rtsp_response_refuse(a, 455, "the video is not set up\r\n");
            return true;
        }
        p->asked = true;
        p->publication->ops->begin(p->publication, datagram, now);
    }
    if (p->asked && !p->takes && !p->is_over)
        return false;
    p->asked = false;
    if (p->is_over) {
        rtsp_response_refuse(a, 503, "the media is not taken: %s\r\n", p->why);
        publish_setup_end(p, p->why, now);
        rtsp_session_apply(p->config.state, RTSP_TEARDOWN, 0);
        return true;
    }
    if (!p->records) {
        log_of(LOG_INFO, "viewer", p->config.name, "client %s publishes to %s over %s",
               p->config.name, p->path, p->tracks[0].is_datagram ? "UDP" : "TCP");
        event_note(EVENT_PUBLISHED, p->path, p->config.name);
    }
    p->records = true;
    rtsp_response_header(a, "Session: %s\r\n", p->config.state->id);
    rtsp_session_apply(p->config.state, RTSP_RECORD, 0);
    return true;
}

bool publish_setup_serve(struct publish_setup *p, const struct rtsp_item *request, const char *path,
                         struct rtsp_response *a, usec_t now)
{
    switch (request->method) {
    case RTSP_ANNOUNCE:
        announce(p, request, path, a, now);
        break;
    case RTSP_SETUP:
        set_up(p, request, path, a);
        break;
    case RTSP_RECORD:
        return record(p, a, now);
    default: // TEARDOWN
        publish_setup_end(p, NULL, now);
        rtsp_session_apply(p->config.state, RTSP_TEARDOWN, 0);
    }
    return true;
}

void publish_setup_second(struct publish_setup *p, usec_t now)
{
    if (p->publication && !p->records && !p->asked && now - p->announced > PUBLISH_BEGIN_LIMIT)
        give_up(p, "no RECORD came after its ANNOUNCE", now);
}
