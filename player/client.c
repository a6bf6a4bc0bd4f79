// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/client.h"

#include <assert.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/tcp_conn.h"
#include "common/net/timer.h"
#include "player/media_path.h"
#include "player/resolver.h"

enum { MAX_PENDING = 16, SESSION_BYTES = 128, REQUEST_BYTES = 8192 };
#define CONNECT_TIMEOUT  (5 * USEC_PER_SEC)
#define ANSWER_TIMEOUT   (5 * USEC_PER_SEC)
#define SILENCE_STREAM   (10 * USEC_PER_SEC)
#define SILENCE_DATAGRAM (5 * USEC_PER_SEC)
#define ASK_INTERVAL     USEC_PER_SEC

enum step {
    STEP_CONNECTING,
    STEP_DESCRIBING,
    STEP_SETTING_UP,
    STEP_STARTING,
    STEP_PLAYING,
    STEP_LEAVING,
    STEP_OVER
};

enum question {
    ASK_OPTIONS,
    ASK_DESCRIBE,
    ASK_SETUP,
    ASK_LATENCY,
    ASK_LEVEL,
    ASK_PLAY,
    ASK_PAUSE,
    ASK_MEASURES,
    ASK_TEARDOWN
};

struct pending { // asked, not answered yet
    enum question question;
    int cseq;
    int level; // ASK_LEVEL
    usec_t asked;
    usec_t asked_wall;
};

struct client {
    uv_loop_t *loop;                    // borrowed
    const struct play_options *options; // borrowed
    const struct client_ops *ops;       // static
    void *ctx;                          // borrowed
    enum step step;
    struct resolver *resolver; // owned
    struct sockaddr_storage addresses[RESOLVER_MAX_ADDRESSES];
    int address_count;
    int address_next;
    struct tcp_conn *conn; // owned
    struct timer *timer;   // owned
    struct media_path path;
    bool path_ready; // path is to be destroyed
    usec_t deadline; // STEP_CONNECTING, STEP_LEAVING
    usec_t heard;    // last bytes from the server
    usec_t next_ask;
    int cseq;
    struct pending pending[MAX_PENDING];
    int pending_count;
    char session[SESSION_BYTES]; // Session header's id; empty before SETUP
    char base[URL_MAX_TEXT];     // of the presentation
    struct sdp sdp;
};

// ---- The end ----

static void end(struct client *c, enum client_end why, const char *text, usec_t now)
{
    if (c->step == STEP_OVER)
        return;
    if (c->step == STEP_LEAVING) {
        why = CLIENT_LEFT;
        text = "";
    }
    c->step = STEP_OVER;
    timer_set(c->timer, USEC_NEVER);
    c->ops->on_end(c->ctx, why, text, now);
}

__attribute__((format(printf, 4, 5))) static void end_with(struct client *c, enum client_end why,
                                                           usec_t now, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    end(c, why, text, now);
}

// What an end of the connection means depends on how far we came.
static enum client_end gone(const struct client *c)
{
    return c->step >= STEP_PLAYING ? CLIENT_LOST : CLIENT_REFUSED;
}

// ---- Deadlines ----

static usec_t silence_limit(const struct client *c)
{
    return c->path.datagram ? SILENCE_DATAGRAM : SILENCE_STREAM;
}

static void arm(struct client *c)
{
    usec_t when = USEC_NEVER;
    switch (c->step) {
    case STEP_CONNECTING:
    case STEP_LEAVING:
        when = c->deadline;
        break;
    case STEP_DESCRIBING:
    case STEP_SETTING_UP:
    case STEP_STARTING:
        if (c->pending_count)
            when = c->pending[0].asked + ANSWER_TIMEOUT;
        break;
    case STEP_PLAYING:
        when = usec_min(c->next_ask, c->heard + silence_limit(c));
        break;
    case STEP_OVER:
        break;
    }
    timer_set(c->timer, when);
}

// ---- Requests ----

static enum rtsp_method method_of(enum question question)
{
    static const enum rtsp_method methods[] = {
        [ASK_OPTIONS] = RTSP_OPTIONS,     [ASK_DESCRIBE] = RTSP_DESCRIBE,
        [ASK_SETUP] = RTSP_SETUP,         [ASK_LATENCY] = RTSP_SET_PARAMETER,
        [ASK_LEVEL] = RTSP_SET_PARAMETER, [ASK_PLAY] = RTSP_PLAY,
        [ASK_PAUSE] = RTSP_PAUSE,         [ASK_MEASURES] = RTSP_GET_PARAMETER,
        [ASK_TEARDOWN] = RTSP_TEARDOWN,
    };
    return methods[question];
}

struct ask {
    enum question question;
    const char *uri;     // NULL: the presentation
    const char *headers; // NULL: none
    const char *body;    // NULL: none
    int level;           // ASK_LEVEL
};

static void ask(struct client *c, const struct ask *a, usec_t now)
{
    if (c->step == STEP_OVER)
        return;
    char text[REQUEST_BYTES];
    struct rtsp_request r = {.method = method_of(a->question),
                             .uri = a->uri ? a->uri : c->base,
                             .cseq = ++c->cseq,
                             .session = c->session,
                             .headers = a->headers,
                             .body = a->body};
    int len = rtsp_request_format(&r, text, sizeof(text));
    if (len < 0 || c->pending_count == MAX_PENDING ||
        tcp_conn_send(c->conn, text, (size_t)len) != 0) {
        end_with(c, gone(c), now, "the server does not take our %s", rtsp_method_name(r.method));
        return;
    }
    log_debug("asked %s %s", rtsp_method_name(r.method), r.uri);
    c->pending[c->pending_count++] = (struct pending){.question = a->question,
                                                      .cseq = c->cseq,
                                                      .level = a->level,
                                                      .asked = now,
                                                      .asked_wall = clock_wall()};
    arm(c);
}

static bool is_pending(const struct client *c, enum question question)
{
    for (int i = 0; i < c->pending_count; i++) {
        if (c->pending[i].question == question)
            return true;
    }
    return false;
}

static void ask_measures(struct client *c, usec_t now)
{
    c->next_ask = now + ASK_INTERVAL;
    // One at a time: questions must not pile up behind a stalled network.
    if (!is_pending(c, ASK_MEASURES))
        ask(c, &(struct ask){.question = ASK_MEASURES, .body = "clock\r\ntransport\r\nlevel\r\n"},
            now);
}

static void ask_level(struct client *c, int level, usec_t now)
{
    char body[32];
    snprintf(body, sizeof(body), "level: %d\r\n", level);
    ask(c, &(struct ask){.question = ASK_LEVEL, .body = body, .level = level}, now);
}

static void ask_play(struct client *c, usec_t now)
{
    const char *range = c->sdp.duration < 0 ? "Range: npt=now-\r\n" : "Range: npt=0-\r\n";
    ask(c, &(struct ask){.question = ASK_PLAY, .headers = range}, now);
}

static void ask_start(struct client *c, usec_t now)
{
    c->step = STEP_STARTING;
    char body[32];
    snprintf(body, sizeof(body), "latency: %d\r\n", play_options_latency_ms(c->options));
    ask(c, &(struct ask){.question = ASK_LATENCY, .body = body}, now);
    if (c->options->level >= 0)
        ask_level(c, c->options->level, now);
    ask_play(c, now);
    ask_measures(c, now);
}

// ---- Answers ----

static void on_media(void *ctx, bool rtcp, const uint8_t *data, size_t len, usec_t arrived,
                     usec_t now)
{
    struct client *c = ctx;
    c->heard = now;
    if (c->step == STEP_STARTING || c->step == STEP_PLAYING)
        c->ops->on_packet(c->ctx, rtcp, data, len, arrived, now);
}

static void refused(struct client *c, const struct pending *p, const struct rtsp_item *r,
                    usec_t now)
{
    char reason[96];
    char body[256];
    text_copy(r->reason, reason, sizeof(reason));
    text_copy(r->body, body, sizeof(body));
    for (char *s = body; *s; s++) {
        if (!isprint((unsigned char)*s))
            *s = ' ';
    }
    size_t len = strlen(body);
    while (len && body[len - 1] == ' ')
        body[--len] = '\0';
    const char *what = p->question == ASK_LEVEL     ? " (level)"
                       : p->question == ASK_LATENCY ? " (latency)"
                                                    : "";
    end_with(c, CLIENT_REFUSED, now, "the server refuses %s%s: %d %s%s%s",
             rtsp_method_name(method_of(p->question)), what, r->status,
             *reason ? reason : rtsp_reason(r->status), len ? ": " : "", body);
}

static void described(struct client *c, const struct rtsp_item *r, usec_t now)
{
    struct text base = rtsp_header(r, "Content-Base");
    if (!base.at)
        base = rtsp_header(r, "Content-Location");
    if (base.at && base.len && base.len < sizeof(c->base))
        text_copy(base, c->base, sizeof(c->base));
    int err = sdp_decode(r->body.at ? r->body.at : "", r->body.len, &c->sdp);
    if (err) {
        end_with(c, CLIENT_REFUSED, now,
                 "the server's description of the stream cannot be used: %s",
                 err == ERR_UNSUPPORTED ? "no H.264 video in it" : err_text(err));
        return;
    }
    const char *why = "";
    if (!c->ops->on_described(c->ctx, &c->sdp, &why, now)) {
        end(c, CLIENT_REFUSED, why, now);
        return;
    }
    char uri[2 * URL_MAX_TEXT];
    char headers[1024] = "Transport: ";
    size_t at = strlen(headers);
    if (url_resolve(c->base, c->sdp.control, uri, sizeof(uri)) != 0) {
        end(c, CLIENT_REFUSED, "the stream's control URL is too long", now);
        return;
    }
    media_path_init(&c->path, c->conn, on_media, c);
    c->path_ready = true;
    // Room for the line's end stays.
    if (media_path_offer(&c->path, c->loop, &c->options->transports, c->options->cc, headers + at,
                         sizeof(headers) - at - 2) != 0) {
        end(c, CLIENT_INTERNAL, "cannot offer the transports", now);
        return;
    }
    memcpy(headers + strlen(headers), "\r\n", 3);
    c->step = STEP_SETTING_UP;
    ask(c, &(struct ask){.question = ASK_SETUP, .uri = uri, .headers = headers}, now);
}

static void set_up(struct client *c, const struct rtsp_item *r, usec_t now)
{
    struct text session = rtsp_header(r, "Session");
    for (size_t i = 0; i < session.len; i++) {
        if (session.at[i] == ';')
            session.len = i;
    }
    if (!session.at || !session.len || session.len >= sizeof(c->session)) {
        end(c, CLIENT_REFUSED, "the server gives no usable session", now);
        return;
    }
    text_copy(session, c->session, sizeof(c->session));
    if (media_path_accept(&c->path, &c->options->transports, rtsp_header(r, "Transport")) != 0) {
        end(c, CLIENT_REFUSED, "the server answers SETUP with a transport that was not offered",
            now);
        return;
    }
    struct client_setup setup = {.transport = c->path.name, .datagram = c->path.datagram};
    c->ops->on_setup(c->ctx, &setup, now);
    ask_start(c, now);
}

static void measured(struct client *c, const struct pending *p, const struct rtsp_item *r,
                     usec_t now)
{
    struct client_answer answer = {
        .rtt = now - p->asked, .asked_wall = p->asked_wall, .received_wall = clock_wall()};
    rtsp_measures_read(r->body.at ? r->body : (struct text){"", 0}, &answer.measures);
    c->ops->on_answer(c->ctx, &answer, now);
}

// An answer that is no success.
static void failed(struct client *c, const struct pending *p, const struct rtsp_item *r, usec_t now)
{
    bool playing = c->step == STEP_PLAYING;
    switch (p->question) {
    case ASK_OPTIONS:
        return;
    case ASK_LATENCY:
        log_warn("the server does not know the latency parameter: %d", r->status);
        return;
    case ASK_LEVEL:
        if (playing)
            c->ops->on_level(c->ctx, p->level, false, now);
        else
            refused(c, p, r, now);
        return;
    case ASK_PAUSE:
        c->ops->on_pause_refused(c->ctx, now);
        return;
    case ASK_MEASURES:
        if (r->status == 454)
            end(c, gone(c), "the server has ended the session", now);
        return;
    default:
        refused(c, p, r, now);
    }
}

static void succeeded(struct client *c, const struct pending *p, const struct rtsp_item *r,
                      usec_t now)
{
    switch (p->question) {
    case ASK_DESCRIBE:
        described(c, r, now);
        return;
    case ASK_SETUP:
        set_up(c, r, now);
        return;
    case ASK_LEVEL:
        if (c->step == STEP_PLAYING)
            c->ops->on_level(c->ctx, p->level, true, now);
        return;
    case ASK_PLAY:
        c->step = STEP_PLAYING;
        c->ops->on_playing(c->ctx, now);
        return;
    case ASK_MEASURES:
        measured(c, p, r, now);
        return;
    default:
        return;
    }
}

static void on_response(struct client *c, const struct rtsp_item *r, usec_t now)
{
    if (r->status < 200)
        return; // 100 Continue
    int i = 0;
    while (i < c->pending_count && c->pending[i].cseq != r->cseq)
        i++;
    if (i == c->pending_count) {
        log_debug("an answer to nothing: %d", r->status);
        return;
    }
    struct pending p = c->pending[i];
    memmove(&c->pending[i], &c->pending[i + 1], (size_t)(c->pending_count - i - 1) * sizeof(p));
    c->pending_count--;
    if (c->step == STEP_LEAVING) {
        if (p.question == ASK_TEARDOWN)
            end(c, CLIENT_LEFT, "", now);
        return;
    }
    if (r->status < 300)
        succeeded(c, &p, r, now);
    else
        failed(c, &p, r, now);
}

// RTSP lets servers ask too (RFC 2326, 10); we know no answer but this one.
static void on_request(struct client *c, const struct rtsp_item *r)
{
    char text[96];
    int len =
        snprintf(text, sizeof(text), "RTSP/1.0 501 Not Implemented\r\nCSeq: %d\r\n\r\n", r->cseq);
    (void)tcp_conn_send(c->conn, text, (size_t)len);
}

// ---- The connection ----

static int on_input(void *ctx, const uint8_t *data, size_t len, usec_t now)
{
    struct client *c = ctx;
    size_t at = 0;
    c->heard = now;
    while (c->step != STEP_OVER && at < len) {
        struct rtsp_item item;
        size_t used;
        int err = rtsp_decode(data + at, len - at, &item, &used);
        if (err == ERR_AGAIN)
            break;
        if (err)
            return err;
        at += used;
        if (item.kind == RTSP_INTERLEAVED)
            media_path_interleaved(&c->path, item.channel, item.data, item.data_len, now);
        else if (item.kind == RTSP_RESPONSE)
            on_response(c, &item, now);
        else
            on_request(c, &item);
    }
    arm(c);
    return (int)at;
}

static void on_open(void *ctx, usec_t now)
{
    struct client *c = ctx;
    c->step = STEP_DESCRIBING;
    c->ops->on_connected(c->ctx, now);
    ask(c, &(struct ask){.question = ASK_OPTIONS}, now);
    ask(c, &(struct ask){.question = ASK_DESCRIBE, .headers = "Accept: application/sdp\r\n"}, now);
}

static void connect_next(struct client *c, usec_t now);

static void on_close(void *ctx, int err, usec_t now)
{
    struct client *c = ctx;
    if (c->step == STEP_CONNECTING) {
        connect_next(c, now);
        return;
    }
    end_with(c, gone(c), now, "the connection to the server ended: %s",
             err == ERR_CLOSED    ? "closed by the server"
             : err == ERR_IO      ? "the network failed, or the server reset it"
             : err == ERR_TOO_BIG ? "a message larger than the limit"
                                  : "what the server sends is not RTSP");
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
    if (!c->conn)
        end_with(c, CLIENT_REFUSED, now,
                 "cannot connect to %s port %d: nobody answers there (is weir-send running?)",
                 c->options->url.host, c->options->url.port);
}

static void on_resolved(void *ctx, const struct sockaddr_storage *addresses, int count,
                        const char *error)
{
    struct client *c = ctx;
    usec_t now = clock_now();
    if (!count) {
        end_with(c, CLIENT_REFUSED, now, "cannot find the host %s: %s", c->options->url.host,
                 error);
        return;
    }
    memcpy(c->addresses, addresses, (size_t)count * sizeof(*addresses));
    c->address_count = count;
    connect_next(c, now);
}

static void on_timer(void *ctx, usec_t now)
{
    struct client *c = ctx;
    switch (c->step) {
    case STEP_CONNECTING:
        end_with(c, CLIENT_REFUSED, now, "cannot connect to %s port %d: no answer within %d s",
                 c->options->url.host, c->options->url.port, (int)(CONNECT_TIMEOUT / USEC_PER_SEC));
        return;
    case STEP_PLAYING:
        if (now >= c->heard + silence_limit(c)) {
            end_with(c, CLIENT_LOST, now, "nothing came from the server for %d s",
                     (int)(silence_limit(c) / USEC_PER_SEC));
            return;
        }
        if (now >= c->next_ask)
            ask_measures(c, now);
        break;
    case STEP_LEAVING:
        end(c, CLIENT_LEFT, "", now);
        return;
    case STEP_OVER:
        return;
    default:
        if (c->pending_count && now >= c->pending[0].asked + ANSWER_TIMEOUT) {
            end_with(c, CLIENT_REFUSED, now, "the server does not answer %s within %d s",
                     rtsp_method_name(method_of(c->pending[0].question)),
                     (int)(ANSWER_TIMEOUT / USEC_PER_SEC));
            return;
        }
    }
    arm(c);
}

struct client *client_new(uv_loop_t *loop, const struct play_options *options,
                          const struct client_ops *ops, void *ctx, usec_t now)
{
    struct client *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->loop = loop;
    c->options = options;
    c->ops = ops;
    c->ctx = ctx;
    c->deadline = now + CONNECT_TIMEOUT;
    memcpy(c->base, options->url.text, sizeof(c->base));
    c->timer = timer_new(loop, on_timer, c);
    if (!c->timer)
        goto free_client;
    c->resolver = resolver_new(loop, options->url.host, options->url.port, on_resolved, c);
    if (!c->resolver)
        goto free_timer;
    arm(c);
    return c;

free_timer:
    timer_free(c->timer);
free_client:
    free(c);
    return NULL;
}

void client_free(struct client *c)
{
    if (!c)
        return;
    resolver_free(c->resolver);
    if (c->path_ready)
        media_path_destroy(&c->path);
    tcp_conn_free(c->conn);
    timer_free(c->timer);
    free(c);
}

void client_send_rtcp(struct client *c, const uint8_t *data, size_t len)
{
    if (c->path_ready && c->step != STEP_OVER)
        media_path_send_rtcp(&c->path, data, len);
}

void client_set_level(struct client *c, int level, usec_t now)
{
    if (c->step == STEP_PLAYING)
        ask_level(c, level, now);
}

void client_pause(struct client *c, usec_t now)
{
    if (c->step == STEP_PLAYING)
        ask(c, &(struct ask){.question = ASK_PAUSE}, now);
}

void client_resume(struct client *c, usec_t now)
{
    if (c->step == STEP_PLAYING) // live media goes on with what is now, stored media where it
                                 // stopped (RFC 2326, 10.5)
        ask(c,
            &(struct ask){.question = ASK_PLAY,
                          .headers = c->sdp.duration < 0 ? "Range: npt=now-\r\n" : NULL},
            now);
}

bool client_leave(struct client *c, usec_t now)
{
    if (c->step == STEP_OVER || c->step == STEP_LEAVING)
        return false;
    bool asked = *c->session != '\0';
    if (asked && c->pending_count < MAX_PENDING)
        ask(c, &(struct ask){.question = ASK_TEARDOWN}, now);
    if (c->step == STEP_OVER)
        return false;
    c->step = STEP_LEAVING;
    c->deadline = now + (asked ? CLIENT_LEAVE_TIME : 0);
    arm(c);
    return true;
}
