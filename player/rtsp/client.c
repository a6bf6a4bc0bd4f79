// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/rtsp/client.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "player/rtsp/client_state.h"

enum { MOST_MOVES = 5, HANDSHAKE_ANSWERS = 4 };
#define CONNECT_TIMEOUT  (5 * USEC_PER_SEC)
#define ADDRESS_TIMEOUT  (2 * USEC_PER_SEC) // the same, while the host has other addresses
#define ANSWER_TIMEOUT   (8 * USEC_PER_SEC) // weir-send may take 5 s to open a film
#define SILENCE_STREAM   (10 * USEC_PER_SEC)
#define SILENCE_DATAGRAM (15 * USEC_PER_SEC) // a sender waits for 13 s, and then says why

// ---- The end ----

void client_end_as(struct client *c, enum client_end why, const char *text, usec_t now)
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

void client_end_with(struct client *c, enum client_end why, usec_t now, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    client_end_as(c, why, text, now);
}

enum client_end client_gone(const struct client *c)
{
    return c->step >= STEP_PLAYING ? CLIENT_LOST : CLIENT_REFUSED;
}

// ---- Deadlines ----

usec_t client_silence_limit(const struct client *c)
{
    if (c->options->timeout)
        return c->options->timeout;
    return c->path.datagram || c->path.uses_raw ? SILENCE_DATAGRAM : SILENCE_STREAM;
}

// Some servers begin to encode when they are asked: who is ready to wait for media waits for them.
static usec_t answer_limit(const struct client *c)
{
    return usec_max(ANSWER_TIMEOUT, c->options->timeout);
}

// Until the transport is set up. Each answer has a limit of its own, but redirects, challenges and
// transports that fail ask anew.
static usec_t handshake_limit(const struct client *c)
{
    return HANDSHAKE_ANSWERS * answer_limit(c);
}

void client_arm(struct client *c)
{
    const struct pending *oldest = pending_requests_oldest(&c->questions);
    usec_t when = USEC_NEVER;
    switch (c->step) {
    case STEP_CONNECTING:
    case STEP_MOVING:
    case STEP_PROVING:
    case STEP_LEAVING:
        when = c->deadline;
        break;
    case STEP_DESCRIBING:
    case STEP_SETTING_UP:
    case STEP_STARTING:
        if (oldest)
            when = oldest->asked + answer_limit(c);
        break;
    case STEP_PLAYING:
        when = usec_min(c->next_ask, c->heard + client_silence_limit(c));
        break;
    case STEP_OVER:
        break;
    }
    if (c->step < STEP_STARTING)
        when = usec_min(when, c->started + handshake_limit(c));
    timer_set(c->timer, when);
}

// RTSP lets servers ask too (RFC 2326, 10). One that ends the session says why (RFC 7826, 13.7.2);
// all else gets the same answer.
static void on_request(struct client *c, const struct rtsp_item *r, usec_t now)
{
    if (r->method == RTSP_TEARDOWN && *c->session) {
        char why[256];
        size_t len = client_body_text(r, why, sizeof(why));
        client_end_with(c, client_gone(c), now, "the server ends the session%s%s", len ? ": " : "",
                        why);
        return;
    }
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
    while (c->step != STEP_OVER && c->step != STEP_MOVING && at < len) {
        struct rtsp_item item;
        size_t used;
        int err = rtsp_decode(data + at, len - at, &item, &used);
        if (err == ERR_AGAIN)
            break;
        if (err)
            return err;
        at += used;
        c->heard = now; // a whole message: single bytes are no sign of life
        if (item.kind == RTSP_INTERLEAVED)
            media_receiver_interleaved(&c->path, item.channel, item.data, item.data_len, now);
        else if (item.kind == RTSP_RESPONSE)
            client_on_response(c, &item, now);
        else
            on_request(c, &item, now);
    }
    client_arm(c);
    return (int)at;
}

static void on_open(void *ctx, usec_t now)
{
    struct client *c = ctx;
    if (c->step != STEP_CONNECTING)
        return; // the viewer leaves
    c->step = STEP_DESCRIBING;
    c->ops->on_connected(c->ctx, now);
    client_ask_describe(c, now);
}

static void connect_next(struct client *c, usec_t now);

static void on_close(void *ctx, int err, usec_t now)
{
    struct client *c = ctx;
    if (c->step == STEP_MOVING)
        return;
    if (c->step == STEP_CONNECTING) {
        connect_next(c, now);
        return;
    }
    client_end_with(c, client_gone(c), now, "the connection to the server ended: %s",
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
    c->deadline = now + (c->address_next < c->address_count ? ADDRESS_TIMEOUT : CONNECT_TIMEOUT);
    client_arm(c);
    if (!c->conn)
        client_end_with(
            c, CLIENT_REFUSED, now,
            "cannot connect to %s port %d: nobody answers there (is weir-send running?)",
            c->url.host, c->url.port);
}

static void on_resolved(void *ctx, const struct sockaddr_storage *addresses, int count,
                        const char *error)
{
    struct client *c = ctx;
    usec_t now = clock_now();
    if (c->step != STEP_CONNECTING)
        return; // the viewer leaves
    if (!count) {
        client_end_with(c, CLIENT_REFUSED, now, "cannot find the host %s: %s", c->url.host, error);
        return;
    }
    memcpy(c->addresses, addresses, (size_t)count * sizeof(*addresses));
    c->address_count = count;
    connect_next(c, now);
}

// ---- Elsewhere (RFC 2326, 11.3) ----

static void identify(struct client *c)
{
    c->auth = (struct rtsp_auth){0};
    memcpy(c->auth.user, c->url.user, sizeof(c->auth.user));
    memcpy(c->auth.password, c->url.password, sizeof(c->auth.password));
}

// User and password belong to one origin: scheme, host and port (RFC 6454, 4).
static bool is_same_origin(const struct url *a, const struct url *b)
{
    return strcasecmp(a->host, b->host) == 0 && a->port == b->port;
}

void client_move(struct client *c, struct text location, usec_t now)
{
    char text[URL_MAX_TEXT];
    struct url to;
    const char *why = "it is not told where, or too often";
    if (location.at && location.len < sizeof(text) && c->moves++ < MOST_MOVES)
        text_copy(location, text, sizeof(text));
    else
        text[0] = '\0';
    if (!text[0] || url_parse(text, &to, &why) != 0) {
        client_end_with(c, CLIENT_REFUSED, now, "the server sends us elsewhere: %s", why);
        return;
    }
    if (!to.has_port)
        to.port = URL_RTSP_PORT;
    if (to.user[0]) {
        c->withheld = false;
    } else if (is_same_origin(&to, &c->url)) {
        memcpy(to.user, c->url.user, sizeof(to.user));
        memcpy(to.password, c->url.password, sizeof(to.password));
    } else {
        c->withheld |= c->url.user[0];
    }
    c->url = to;
    c->step = STEP_MOVING;
    c->deadline = now;
    log_info("the server sends us to %s", c->url.text);
}

static void forget_questions(struct client *c)
{
    for (int i = 0; i < c->questions.count; i++)
        free(c->questions.pending[i].said);
    c->questions.count = 0;
}

// Not in a callback of the connection, which ends here.
static void move(struct client *c, usec_t now)
{
    forget_questions(c);
    resolver_free(c->resolver);
    tcp_conn_free(c->conn);
    c->conn = NULL;
    c->address_count = c->address_next = 0;
    url_request_text(&c->url, c->base);
    identify(c);
    c->step = STEP_CONNECTING;
    c->deadline = now + CONNECT_TIMEOUT;
    c->resolver = resolver_new(c->loop, c->url.host, c->url.port, on_resolved, c);
    if (!c->resolver)
        client_end_as(c, CLIENT_INTERNAL, "cannot look up the host that the server sends us to",
                      now);
}

static void on_timer(void *ctx, usec_t now)
{
    struct client *c = ctx;
    const struct pending *oldest = pending_requests_oldest(&c->questions);
    if (c->step < STEP_STARTING && now >= c->started + handshake_limit(c)) {
        client_end_with(
            c, CLIENT_REFUSED, now,
            "the server sets nothing up within %d s: it answers slowly, or asks for ever more "
            "(--timeout allows more)",
            (int)(handshake_limit(c) / USEC_PER_SEC));
        return;
    }
    switch (c->step) {
    case STEP_CONNECTING:
        if (c->conn && c->address_next < c->address_count) {
            connect_next(c, now);
            return;
        }
        client_end_with(c, CLIENT_REFUSED, now,
                        "cannot connect to %s port %d: no answer within %d s", c->url.host,
                        c->url.port, (int)(CONNECT_TIMEOUT / USEC_PER_SEC));
        return;
    case STEP_MOVING:
        move(c, now);
        break;
    case STEP_PLAYING:
        if (now >= c->heard + client_silence_limit(c)) {
            client_end_with(c, CLIENT_LOST, now, "nothing came from the server for %d s",
                            (int)(client_silence_limit(c) / USEC_PER_SEC));
            return;
        }
        if (now >= c->next_ask)
            client_ask_measures(c, now);
        break;
    case STEP_PROVING:
        if (now >= c->deadline)
            client_next_transport(c, c->path.name, "the server is not heard in time", now);
        break;
    case STEP_LEAVING:
        client_end_as(c, CLIENT_LEFT, "", now);
        return;
    case STEP_OVER:
        return;
    default:
        if (oldest && now >= oldest->asked + answer_limit(c)) {
            client_end_with(c, CLIENT_REFUSED, now, "the server does not answer %s within %d s",
                            rtsp_method_name(question_method(oldest->question)),
                            (int)(answer_limit(c) / USEC_PER_SEC));
            return;
        }
    }
    client_arm(c);
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
    c->started = now;
    c->deadline = now + CONNECT_TIMEOUT;
    c->wanted_level = -1;
    c->wanted_latency = -1;
    c->wanted_seek = NAN;
    c->wanted_speed = c->speed = 1;
    c->url = options->url;
    url_request_text(&c->url, c->base);
    identify(c);
    c->timer = timer_new(loop, on_timer, c);
    if (!c->timer)
        goto free_client;
    c->resolver = resolver_new(loop, options->url.host, options->url.port, on_resolved, c);
    if (!c->resolver)
        goto free_timer;
    client_arm(c);
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
    forget_questions(c);
    resolver_free(c->resolver);
    if (c->path_ready)
        media_receiver_destroy(&c->path);
    tcp_conn_free(c->conn);
    timer_free(c->timer);
    free(c);
}

void client_give_up(struct client *c, const char *why, usec_t now)
{
    client_end_as(c, CLIENT_LOST, why, now);
}

void client_lend_raw(struct client *c, struct media_mtp_raw *raw)
{
    c->raw = raw;
}

int64_t client_ecn_marked(const struct client *c)
{
    return c->path.feedback ? (int64_t)media_feedback_marked(c->path.feedback) : -1;
}

void client_set_ssrc(struct client *c, uint32_t ssrc)
{
    c->ssrc = ssrc;
}

void client_send_rtcp(struct client *c, bool audio, const uint8_t *data, size_t len)
{
    if (c->path_ready && c->step != STEP_OVER)
        media_receiver_send_rtcp(&c->path, audio, data, len);
}

bool client_leave(struct client *c, usec_t now)
{
    if (c->step == STEP_OVER || c->step == STEP_LEAVING)
        return false;
    bool asked = *c->session != '\0';
    if (asked && c->questions.count < PENDING_REQUESTS_MAX)
        client_ask(c, &(struct ask){.question = ASK_TEARDOWN}, now);
    if (c->step == STEP_OVER)
        return false;
    c->step = STEP_LEAVING;
    c->deadline = now + (asked ? CLIENT_LEAVE_TIME : 0);
    client_arm(c);
    return true;
}
