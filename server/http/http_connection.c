// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/http/http_connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/tcp_conn.h"
#include "common/net/timer.h"
#include "common/net/udp_socket.h"

enum {
    IN_BYTES = HTTP_HEAD_MAX + HTTP_BODY_MAX,
    IN_A_ROW = 8, // requests of one connection that are served before others have their turn
    CHUNK_LINE = 24,
};
// How long a connection that ends reads and drops what the peer still sends: it would be answered
// with a reset, which could overtake the response.
#define LINGER (2 * USEC_PER_SEC)

enum state {
    READING,  // a request
    WAITING,  // a request, until it can be served; it stays in the input buffer
    WRITING,  // a response
    UPGRADED, // 101 was written
    ENDING,   // the last response was written
    ENDED,    // the peer is gone
};

struct http_connection {
    struct http_connection_config config;
    struct tcp_conn *tcp; // owned, unless it is the configuration's
    struct timer *turn;   // owned
    enum state state;
    bool has_served;        // a request
    bool continued;         // 100 (Continue) was sent for the request that is being read
    usec_t since;           // when the present request, or response, began
    usec_t moved;           // when the last byte moved
    usec_t begun;           // when the present request was complete; USEC_NEVER: none is
    usec_t deadline;        // of WAITING
    size_t in_len;          // bytes of the input buffer at the last call
    struct http_body *body; // of WRITING; one reference
    size_t at, end;         // what of it is left to be written
    size_t bytes;           // of the body
    bool ends;              // after this response
    bool in_parts;          // further parts of the body follow
    bool is_chunked;        // they are chunks
    bool starves;           // the next part is waited for
    bool counts;            // it is a response to a request that could be read
    size_t unacked;         // of what was written, when it was last looked at
};

// ---- Writing

static void end_response(struct http_connection *c, usec_t now)
{
    http_body_unref(c->body);
    c->body = NULL;
    c->state = READING;
    c->has_served = true;
    c->since = c->moved = now;
    if (c->counts)
        c->config.on_served(c->config.ctx, c->bytes);
    tcp_conn_want_room(c->tcp, false);
    if (!c->ends)
        return;
    c->state = ENDING;
    tcp_conn_finish(c->tcp, now);
}

// Writes what the kernel takes. Returns false if something is left.
static bool write_body(struct http_connection *c, usec_t now)
{
    while (c->at < c->end) {
        struct iovec part = {(void *)(uintptr_t)(c->body->data + c->at), c->end - c->at};
        ssize_t n = tcp_conn_write_some(c->tcp, &part, 1);
        if (n <= 0)
            return false; // an error shows again at the next event
        c->at += (size_t)n;
        c->moved = now;
    }
    return true;
}

// Breaks the connection off.
static void end(struct http_connection *c)
{
    c->state = ENDED;
    if (c->config.tcp)
        c->config.on_end(c->config.ctx, c);
    else
        timer_set(c->turn, 0); // at once
}

// Gets the next part of the body. Returns false if there is none now.
static bool next_part(struct http_connection *c, usec_t now)
{
    char line[CHUNK_LINE];
    http_body_unref(c->body);
    c->body = NULL;
    int err = c->config.ops->more(c->config.handler, &c->body, now);
    c->starves = err == ERR_AGAIN;
    if (c->starves)
        tcp_conn_want_room(c->tcp, false);
    else if (err && err != ERR_END)
        end(c);
    if (err && err != ERR_END)
        return false;
    c->in_parts = !err;
    c->at = 0;
    c->end = err ? 0 : c->body->bytes;
    if (c->is_chunked) {
        int len = snprintf(line, sizeof(line), "%s%zx\r\n%s", c->bytes ? "\r\n" : "", c->end,
                           err ? "\r\n" : "");
        (void)tcp_conn_send(c->tcp, line, (size_t)len); // a closed one says so by itself
    }
    c->bytes += c->end;
    c->since = now;
    return true;
}

// Writes the body as far as the kernel takes it and it is there. Returns true if all was written.
static bool write_parts(struct http_connection *c, usec_t now)
{
    while (write_body(c, now)) {
        if (!c->in_parts)
            return true;
        if (!next_part(c, now))
            return false;
    }
    tcp_conn_want_room(c->tcp, true);
    return false;
}

// Sends a response, of which the head shares a segment with the body's beginning.
static void respond(struct http_connection *c, const struct http_request *request,
                    struct http_response *r, usec_t now)
{
    bool is_head = request && request->method == HTTP_HEAD;
    bool has_body = r->body && !is_head && r->bytes;
    bool upgrades = r->head.status == 101;
    r->ends = (r->ends && !upgrades) || r->in_parts;
    c->in_parts = r->in_parts;
    c->is_chunked = r->in_parts && request && request->minor >= 1;
    c->starves = false;
    if (c->is_chunked)
        http_head_add(&r->head, "Transfer-Encoding", "chunked");
    http_head_end(&r->head, r->bytes, r->ends);
    c->state = WRITING;
    c->since = c->moved = now;
    c->begun = USEC_NEVER;
    c->continued = false;
    c->counts = request != NULL;
    c->ends = r->ends;
    c->body = r->body;
    c->bytes = has_body ? r->bytes : 0;
    c->at = has_body ? r->from : 0;
    c->end = c->at + c->bytes;
    struct iovec parts[2] = {{r->head.text, r->head.len}};
    if (has_body)
        parts[1] = (struct iovec){(void *)(uintptr_t)(r->body->data + c->at), c->bytes};
    ssize_t n = tcp_conn_write_some(c->tcp, parts, has_body ? 2 : 1);
    size_t written = n > 0 ? (size_t)n : 0;
    if (written < r->head.len) // its rest waits in the connection; a closed one says so by itself
        (void)tcp_conn_send(c->tcp, r->head.text + written, r->head.len - written);
    else
        c->at += written - r->head.len;
    if (!write_parts(c, now)) {
        tcp_conn_hold(c->tcp);
        return;
    }
    end_response(c, now);
    c->state = upgrades ? UPGRADED : c->state;
}

static void refuse(struct http_connection *c, const struct http_request *r, int status, usec_t now)
{
    struct http_response response = {.ends = true};
    c->config.ops->refuse(c->config.handler, r, status, &response);
    response.ends = true;
    respond(c, r, &response, now);
}

// ---- Requests

// Finds the body of a request whose head has `used` bytes. Returns the bytes of both, 0 if more
// must come, or a negative status of a refusal. An expectation is that of 100 (Continue).
static int64_t find_body(struct http_connection *c, const struct http_request *r,
                         const uint8_t *data, size_t len, size_t used, struct http_exchange *x)
{
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    const struct http_handler_ops *ops = c->config.ops;
    size_t max = ops->body_max ? ops->body_max(c->config.handler, r) : 0;
    bool expects = r->minor > 0 && http_request_header(r, "Expect").at;
    if (r->is_chunked && max)
        return -411; // RFC 9112, 6.3
    if (r->is_chunked || r->length > max)
        return (int64_t)len; // what follows is not read as a request: the connection ends
    x->body = data + used;
    x->body_len = (size_t)r->length;
    if (len - used >= r->length)
        return (int64_t)(used + x->body_len);
    if (expects && !c->continued) {
        c->continued = true;
        (void)tcp_conn_send(c->tcp, go_on, sizeof(go_on) - 1);
    }
    return 0;
}

// Serves the request at the beginning of the input. Returns the bytes that are consumed; 0: more
// must come, or it waits.
static size_t serve(struct http_connection *c, const uint8_t *data, size_t len, usec_t now)
{
    struct http_request r;
    size_t used = 0;
    int status = http_request_decode(data, len, &r, &used);
    if (status == ERR_AGAIN)
        return 0;
    if (status) {
        refuse(c, NULL, status, now);
        return len;
    }
    struct http_exchange x = {
        .request = &r,
        .peer = (const struct sockaddr *)tcp_conn_peer(c->tcp),
        .is_local = sockaddr_is_loopback((const struct sockaddr *)tcp_conn_local(c->tcp)),
        .is_secure = tcp_conn_is_secure(c->tcp)};
    int64_t whole = find_body(c, &r, data, len, used, &x);
    if (whole < 0) {
        refuse(c, &r, (int)-whole, now);
        return len;
    }
    if (!whole)
        return 0;
    c->begun = c->begun == USEC_NEVER ? now : c->begun;
    x.begun = c->begun;
    struct http_response response = {.ends = !x.body || http_request_ends(&r)};
    bool ends = response.ends;
    if (c->config.ops->serve(c->config.handler, &x, &response, &c->deadline, now)) {
        response.ends |= ends;
        respond(c, &r, &response, now);
        return (size_t)whole;
    }
    if (now < c->deadline && c->config.may_wait(c->config.ctx, c, &r)) {
        c->state = WAITING;
        return 0;
    }
    refuse(c, &r, 503, now);
    return len;
}

int http_connection_input(struct http_connection *c, const uint8_t *data, size_t len, usec_t now)
{
    size_t used = 0;
    if (len > c->in_len)
        c->moved = now;
    for (int i = 0; c->state == READING && used < len; i++) {
        if (i == IN_A_ROW) {
            tcp_conn_hold(c->tcp);
            timer_set(c->turn, now);
            break;
        }
        size_t some = serve(c, data + used, len - used, now);
        if (!some)
            break;
        used += some;
    }
    if (c->state == WAITING && len - used >= IN_BYTES)
        tcp_conn_hold(c->tcp);
    c->in_len = len - used;
    return (int)used;
}

static int on_input(void *ctx, const uint8_t *data, size_t len, usec_t now)
{
    return http_connection_input(ctx, data, len, now);
}

void http_connection_room(struct http_connection *c, usec_t now)
{
    if (c->state != WRITING || !write_parts(c, now))
        return;
    end_response(c, now);
    if (c->state == READING)
        tcp_conn_resume(c->tcp, now);
}

static void on_room(void *ctx, usec_t now)
{
    http_connection_room(ctx, now);
}

static void on_close(void *ctx, int err, usec_t now)
{
    (void)err;
    struct http_connection *c = ctx;
    c->state = ENDED;
    timer_set(c->turn, now);
}

static void on_turn(void *ctx, usec_t now)
{
    struct http_connection *c = ctx;
    if (c->state == ENDED)
        c->config.on_end(c->config.ctx, c);
    else if (c->state == READING)
        tcp_conn_resume(c->tcp, now);
}

static const struct tcp_conn_ops tcp_ops = {
    .on_input = on_input, .on_room = on_room, .on_close = on_close};

struct http_connection *http_connection_new(int fd, const struct http_connection_config *config,
                                            usec_t now)
{
    struct http_connection *c = calloc(1, sizeof(*c));
    if (!c) {
        log_error("a connection is refused: out of memory");
        if (!config->tcp)
            close(fd);
        return NULL;
    }
    c->config = *config;
    c->since = c->moved = now;
    c->begun = USEC_NEVER;
    c->turn = timer_new(config->loop, on_turn, c);
    c->tcp = config->tcp ? config->tcp : tcp_conn_new(config->loop, fd, IN_BYTES, &tcp_ops, c);
    if (c->turn && c->tcp)
        return c;
    http_connection_free(c);
    return NULL;
}

void http_connection_free(struct http_connection *c)
{
    if (!c)
        return;
    if (!c->config.tcp)
        tcp_conn_free(c->tcp);
    timer_free(c->turn);
    http_body_unref(c->body);
    free(c);
}

void http_connection_turn_away(struct http_connection *c, usec_t now)
{
    refuse(c, NULL, 503, now);
}

bool http_connection_waits(const struct http_connection *c)
{
    return c->state == WAITING;
}

bool http_connection_is_upgraded(const struct http_connection *c)
{
    return c->state == UPGRADED;
}

void http_connection_wake(struct http_connection *c, usec_t now)
{
    if (c->starves)
        http_connection_room(c, now);
    if (c->state != WAITING)
        return;
    c->state = READING;
    tcp_conn_hold(c->tcp);
    tcp_conn_resume(c->tcp, now);
}

// Returns true if the peer has taken something of what the kernel holds. A busy connection is not
// looked at: it asks the kernel.
static bool is_being_read(struct http_connection *c)
{
    size_t before = c->unacked;
    c->unacked = tcp_conn_unacked(c->tcp);
    return c->unacked < before;
}

void http_connection_tick(struct http_connection *c, usec_t now)
{
    usec_t silence = c->state == ENDING                     ? LINGER
                     : c->has_served || c->state == WRITING ? c->config.idle
                                                            : c->config.first;
    if (c->state == WAITING) {
        if (now >= c->deadline)
            http_connection_wake(c, now);
        return;
    }
    if (c->state == WRITING && c->starves) { // the handler ends it
        c->moved = c->since = now;
        return;
    }
    if (c->state != ENDED && now - c->moved >= USEC_PER_SEC / 2 && is_being_read(c))
        c->moved = now;
    if (c->state != ENDED && now - c->moved <= silence && now - c->since <= c->config.limit)
        return;
    end(c);
}
