// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/rtsp/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/random.h"
#include "common/net/raw_tcp.h"
#include "common/net/tcp_conn.h"
#include "common/net/timer.h"
#include "common/transport/transport_list.h"
#include "common/wire/rtsp.h"
#include "player/receive/media_receiver.h"
#include "player/rtsp/resolver.h"
#include "player/rtsp/rtsp_hash.h"

#define CONNECT_TIMEOUT (5 * USEC_PER_SEC)
#define ADDRESS_TIMEOUT (2 * USEC_PER_SEC) // to connect, while the host has further addresses

struct client {
    uv_loop_t *loop;              // borrowed
    const struct client_ops *ops; // static
    void *ctx;                    // borrowed
    struct rtsp_client *rtsp;     // owned
    char host[URL_MAX_HOST];
    int port;
    char cc[16];
    struct resolver *resolver; // owned
    struct sockaddr_storage addresses[RESOLVER_MAX_ADDRESSES];
    int address_count;
    int address_next;
    struct tcp_conn *conn;        // owned
    struct timer *timer;          // owned
    usec_t deadline;              // to connect
    bool redirected;              // a connection to `host` will replace `conn`
    struct mtp_raw_receiver *raw; // borrowed; NULL: not possible
    const char *no_raw;           // why; static or `raw_failure`
    char raw_failure[256];
    uint32_t ssrc; // ours
    struct media_receiver path;
    bool has_path; // path is to be destroyed
};

// The next deadline, of connecting or of the conversation.
static void arm(struct client *c)
{
    usec_t when = rtsp_client_next_timeout(c->rtsp);
    if (rtsp_client_is_connecting(c->rtsp))
        when = usec_min(when, c->deadline);
    timer_set(c->timer, when);
}

// ---- Connecting ----

static void fail(struct client *c, enum rtsp_client_end end, const char *text, usec_t now)
{
    rtsp_client_fail(c->rtsp, end, text, now);
    arm(c);
}

static int on_input(void *ctx, const uint8_t *data, size_t len, usec_t now)
{
    struct client *c = ctx;
    int used = rtsp_client_input(c->rtsp, data, len, clock_wall(), now);
    arm(c);
    return used;
}

static void on_open(void *ctx, usec_t now)
{
    struct client *c = ctx;
    rtsp_client_connected(c->rtsp, now);
    arm(c);
}

static void connect_next(struct client *c, usec_t now);

static void on_close(void *ctx, int err, usec_t now)
{
    struct client *c = ctx;
    if (c->redirected)
        return; // the timer closes it
    if (rtsp_client_is_connecting(c->rtsp)) {
        connect_next(c, now);
        return;
    }
    rtsp_client_closed(c->rtsp, err, now);
    arm(c);
}

static const struct tcp_conn_ops conn_ops = {
    .on_open = on_open, .on_input = on_input, .on_close = on_close};

static void connect_next(struct client *c, usec_t now)
{
    tcp_conn_free(c->conn);
    c->conn = NULL;
    while (!c->conn && c->address_next < c->address_count) {
        const struct sockaddr *to = (const struct sockaddr *)&c->addresses[c->address_next++];
        c->conn = tcp_conn_connect(c->loop, to, RTSP_MAX_ITEM + 4, &conn_ops, c);
    }
    c->deadline = now + (c->address_next < c->address_count ? ADDRESS_TIMEOUT : CONNECT_TIMEOUT);
    arm(c);
    if (c->conn)
        return;
    char text[512];
    snprintf(text, sizeof(text),
             "cannot connect to %s port %d: nobody answers there (is weir-send running?)", c->host,
             c->port);
    fail(c, RTSP_CLIENT_REFUSED, text, now);
}

static void on_resolved(void *ctx, const struct sockaddr_storage *addresses, int count,
                        const char *error)
{
    struct client *c = ctx;
    usec_t now = clock_now();
    if (!rtsp_client_is_connecting(c->rtsp))
        return; // the viewer leaves
    if (!count) {
        char text[512];
        snprintf(text, sizeof(text), "cannot find the host %s: %s", c->host, error);
        fail(c, RTSP_CLIENT_REFUSED, text, now);
        return;
    }
    memcpy(c->addresses, addresses, (size_t)count * sizeof(*addresses));
    c->address_count = count;
    connect_next(c, now);
}

static void on_redirect(void *ctx, const struct url *to, usec_t now)
{
    struct client *c = ctx;
    snprintf(c->host, sizeof(c->host), "%s", to->host);
    c->port = to->port;
    c->redirected = true;
    c->deadline = now; // the connection calls this function, so it cannot be freed here
}

static void follow_redirect(struct client *c, usec_t now)
{
    c->redirected = false;
    resolver_free(c->resolver);
    tcp_conn_free(c->conn);
    c->conn = NULL;
    c->address_count = c->address_next = 0;
    c->deadline = now + CONNECT_TIMEOUT;
    c->resolver = resolver_new(c->loop, c->host, c->port, on_resolved, c);
    if (c->resolver)
        arm(c);
    else
        fail(c, RTSP_CLIENT_INTERNAL, "cannot look up the host of the redirect", now);
}

static void on_timer(void *ctx, usec_t now)
{
    struct client *c = ctx;
    if (now >= rtsp_client_next_timeout(c->rtsp))
        rtsp_client_on_timeout(c->rtsp, now);
    if (!rtsp_client_is_connecting(c->rtsp) || now < c->deadline) {
        arm(c);
    } else if (c->redirected) {
        follow_redirect(c, now);
    } else if (c->conn && c->address_next < c->address_count) {
        connect_next(c, now);
    } else {
        char text[512];
        snprintf(text, sizeof(text), "cannot connect to %s port %d: no answer within %d s", c->host,
                 c->port, (int)(CONNECT_TIMEOUT / USEC_PER_SEC));
        fail(c, RTSP_CLIENT_REFUSED, text, now);
    }
}

// ---- Media ----

static void on_packet(void *ctx, enum media_track track, bool rtcp, const uint8_t *data, size_t len,
                      usec_t arrived, usec_t now)
{
    struct client *c = ctx;
    if (rtsp_client_media_received(c->rtsp, now))
        (track == TRACK_AUDIO ? c->ops->on_audio_packet : c->ops->on_packet)(c->ctx, rtcp, data,
                                                                             len, arrived, now);
}

static void on_pair(void *ctx, const struct capacity_packet *p, size_t bytes, usec_t arrived,
                    usec_t now)
{
    struct client *c = ctx;
    if (rtsp_client_takes_media(c->rtsp))
        c->ops->on_pair(c->ctx, p, bytes, arrived, now);
}

static void on_validated(void *ctx, usec_t now)
{
    struct client *c = ctx;
    rtsp_client_media_open(c->rtsp, now);
    arm(c);
}

static void on_media_end(void *ctx, const char *error, usec_t now)
{
    struct client *c = ctx;
    rtsp_client_media_closed(c->rtsp, error, now);
    arm(c);
}

static const struct media_receiver_ops media_ops = {.on_packet = on_packet,
                                                    .on_pair = on_pair,
                                                    .on_validated = on_validated,
                                                    .on_end = on_media_end};

// ---- Callbacks of the RTSP session: connection and media path ----

static int send_bytes(void *ctx, const char *data, size_t len, usec_t *wall)
{
    struct client *c = ctx;
    int err = tcp_conn_send(c->conn, data, len);
    *wall = clock_wall();
    return err;
}

static const char *impossible(void *ctx, const char *name)
{
    const struct client *c = ctx;
    return transport_needs_raw(name) && !c->raw ? c->no_raw : NULL;
}

static int offer(void *ctx, const struct sdp *sdp, const struct transport_list *list, char *out,
                 size_t cap)
{
    struct client *c = ctx;
    media_receiver_init(&c->path, c->loop, c->conn, sdp, c->ssrc, c->raw, &media_ops, c);
    c->has_path = true;
    return media_receiver_offer(&c->path, list, c->cc, out, cap);
}

static int accept_path(void *ctx, const struct transport_list *list, struct text answer,
                       struct rtsp_client_path *out, usec_t now)
{
    struct client *c = ctx;
    int err = media_receiver_accept(&c->path, list, answer, now);
    *out =
        (struct rtsp_client_path){.datagram = c->path.datagram || media_receiver_connects(&c->path),
                                  .pairs = c->path.datagram,
                                  .validates = media_receiver_tells(&c->path)};
    snprintf(out->transport, sizeof(out->transport), "%s", c->path.name);
    return err;
}

static int offer_audio(void *ctx, char *out, size_t cap)
{
    struct client *c = ctx;
    return media_receiver_offer_audio(&c->path, out, cap);
}

static int accept_audio(void *ctx, struct text answer)
{
    struct client *c = ctx;
    return media_receiver_accept_audio(&c->path, answer);
}

// All raw transports share one raw connection, so its failure rules them all out.
static void abandon(void *ctx, const char *why)
{
    struct client *c = ctx;
    if (media_receiver_connects(&c->path)) {
        mtp_raw_receiver_abort(c->raw);
        c->raw = NULL;
        snprintf(c->raw_failure, sizeof(c->raw_failure), "%s", why);
        c->no_raw = c->raw_failure;
    }
    media_receiver_destroy(&c->path);
}

static bool media_is_open(void *ctx)
{
    const struct client *c = ctx;
    return c->raw && !mtp_raw_receiver_is_over(c->raw);
}

static void on_interleaved(void *ctx, int channel, const uint8_t *data, size_t len, usec_t now)
{
    struct client *c = ctx;
    media_receiver_interleaved(&c->path, channel, data, len, now);
}

static const struct rtsp_client_link client_link = {.send = send_bytes,
                                                    .redirect = on_redirect,
                                                    .impossible = impossible,
                                                    .offer = offer,
                                                    .accept = accept_path,
                                                    .offer_audio = offer_audio,
                                                    .accept_audio = accept_audio,
                                                    .abandon = abandon,
                                                    .media_is_open = media_is_open,
                                                    .on_interleaved = on_interleaved};

// ---- Life ----

struct client *client_new(uv_loop_t *loop, const struct rtsp_client_config *config, const char *cc,
                          const struct client_ops *ops, void *ctx, usec_t now)
{
    struct rtsp_client_config full = *config;
    full.standard_transports = transport_list_standard(&config->transports);
    full.hash = rtsp_hash;
    struct client *c = calloc(1, sizeof(*c));
    if (!c || !random_fill(&full.seed, sizeof(full.seed)))
        goto free_client;
    c->loop = loop;
    c->ops = ops;
    c->ctx = ctx;
    c->no_raw = RAW_TCP_REMEDY;
    c->deadline = now + CONNECT_TIMEOUT;
    snprintf(c->host, sizeof(c->host), "%s", config->url.host);
    c->port = config->url.port;
    snprintf(c->cc, sizeof(c->cc), "%s", cc);
    c->rtsp = rtsp_client_new(&full, &client_link, c, &ops->rtsp, ctx, now);
    if (!c->rtsp)
        goto free_client;
    c->timer = timer_new(loop, on_timer, c);
    if (!c->timer)
        goto free_rtsp;
    c->resolver = resolver_new(loop, c->host, c->port, on_resolved, c);
    if (!c->resolver)
        goto free_timer;
    arm(c);
    return c;

free_timer:
    timer_free(c->timer);
free_rtsp:
    rtsp_client_free(c->rtsp);
free_client:
    free(c);
    return NULL;
}

void client_free(struct client *c)
{
    if (!c)
        return;
    rtsp_client_free(c->rtsp);
    resolver_free(c->resolver);
    if (c->has_path)
        media_receiver_destroy(&c->path);
    tcp_conn_free(c->conn);
    timer_free(c->timer);
    free(c);
}

void client_lend_raw(struct client *c, struct mtp_raw_receiver *raw)
{
    c->raw = raw;
}

int64_t client_ecn_marked(const struct client *c)
{
    return media_receiver_marked(&c->path);
}

void client_set_ssrc(struct client *c, uint32_t ssrc)
{
    c->ssrc = ssrc;
}

void client_send_rtcp(struct client *c, bool audio, const uint8_t *data, size_t len)
{
    if (c->has_path && !rtsp_client_is_over(c->rtsp))
        media_receiver_send_rtcp(&c->path, audio ? TRACK_AUDIO : TRACK_VIDEO, data, len);
}

// ---- The viewer's requests. Each may send something, which changes the next deadline. ----

usec_t client_silence_limit(const struct client *c)
{
    return rtsp_client_silence_limit(c->rtsp);
}

void client_ask_pair(struct client *c, uint32_t pair, usec_t now)
{
    rtsp_client_ask_pair(c->rtsp, pair, now);
    arm(c);
}

void client_begin(struct client *c, int level, double speed, usec_t now)
{
    rtsp_client_begin(c->rtsp, level, speed, now);
    arm(c);
}

void client_set_speed(struct client *c, double speed, usec_t now)
{
    rtsp_client_set_speed(c->rtsp, speed, now);
    arm(c);
}

void client_set_level(struct client *c, int level, usec_t now)
{
    rtsp_client_set_level(c->rtsp, level, now);
    arm(c);
}

void client_set_latency(struct client *c, int ms, usec_t now)
{
    rtsp_client_set_latency(c->rtsp, ms, now);
    arm(c);
}

void client_seek(struct client *c, double seconds, usec_t now)
{
    rtsp_client_seek(c->rtsp, seconds, now);
    arm(c);
}

void client_pause(struct client *c, usec_t now)
{
    rtsp_client_pause(c->rtsp, now);
    arm(c);
}

void client_resume(struct client *c, usec_t now)
{
    rtsp_client_resume(c->rtsp, now);
    arm(c);
}

bool client_leave(struct client *c, usec_t now)
{
    bool follows = rtsp_client_leave(c->rtsp, now);
    arm(c);
    return follows;
}

void client_give_up(struct client *c, const char *why, usec_t now)
{
    fail(c, RTSP_CLIENT_LOST, why, now);
}
