// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/http/http_server.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/tcp_listen.h"
#include "common/net/udp_socket.h"

enum {
    MEMORY_BYTES = 16 * 1024, // of each connection
    PREFLIGHT_AGE_S = 86400,
};

struct client { // a connection
    struct client *next, **from;
    struct MHD_Connection *connection; // borrowed
    usec_t since;                      // its last request or response was complete, or it began
};

struct waiter {                  // a request, from its header to the end of its response
    struct waiter *next, **from; // in the list of waiting requests; NULL: it does not wait
    struct MHD_Connection *connection;
    usec_t begun;
    usec_t deadline;
    bool is_suspended;
    size_t bytes; // of the response's body
};

struct http_server {
    struct MHD_Daemon *daemon;    // owned
    struct http_content *content; // borrowed
    char address[SOCKADDR_TEXT];
    pthread_mutex_t lock; // guards the members below; held while a request is decided
    struct client *clients;
    struct waiter *waiting;
    int waiting_count;
    int client_count;
    uint64_t requests, sent_bytes;
    bool stops;
};

// ---- Responses

static void add_cors(struct MHD_Response *r)
{
    MHD_add_response_header(r, "Access-Control-Allow-Origin", "*");
    MHD_add_response_header(r, "Access-Control-Expose-Headers",
                            "Content-Length, Content-Range, Date, Age");
}

static enum MHD_Result send_and_drop(struct MHD_Connection *connection, unsigned status,
                                     struct MHD_Response *r)
{
    enum MHD_Result result = MHD_queue_response(connection, status, r);
    MHD_destroy_response(r);
    return result;
}

static enum MHD_Result respond_empty(struct MHD_Connection *connection, unsigned status)
{
    static char empty[] = "";
    struct MHD_Response *r = MHD_create_response_from_buffer(0, empty, MHD_RESPMEM_PERSISTENT);
    if (!r)
        return MHD_NO;
    add_cors(r);
    char age[32];
    snprintf(age, sizeof(age), "%d", PREFLIGHT_AGE_S);
    if (status == MHD_HTTP_NO_CONTENT || status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(r, "Allow", "GET, HEAD, OPTIONS");
    if (status == MHD_HTTP_NO_CONTENT) {
        MHD_add_response_header(r, "Access-Control-Allow-Methods", "GET, HEAD, OPTIONS");
        MHD_add_response_header(r, "Access-Control-Allow-Headers", "Range");
        MHD_add_response_header(r, "Access-Control-Max-Age", age);
    }
    if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
        MHD_add_response_header(r, "Retry-After", "1");
    MHD_add_response_header(r, "Cache-Control", "no-store");
    return send_and_drop(connection, status, r);
}

static void drop_body(void *body)
{
    http_body_unref(body);
}

// Takes over the reply's reference. *bytes: those of the body.
static enum MHD_Result respond_body(struct MHD_Connection *connection,
                                    const struct http_reply *reply, size_t *bytes)
{
    struct http_body *body = reply->body;
    struct http_range range = {0, body->bytes};
    unsigned status = MHD_HTTP_OK;
    char content_range[96] = "";
    const char *header = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Range");
    int err = header && reply->immutable ? http_range_parse(header, body->bytes, &range) : 1;
    if (err == 0) {
        status = MHD_HTTP_PARTIAL_CONTENT;
        snprintf(content_range, sizeof(content_range), "bytes %zu-%zu/%zu", range.begin,
                 range.begin + range.bytes - 1, body->bytes);
    } else if (err == ERR_RANGE) {
        status = MHD_HTTP_RANGE_NOT_SATISFIABLE;
        range.bytes = 0;
        snprintf(content_range, sizeof(content_range), "bytes */%zu", body->bytes);
    }
    *bytes = range.bytes;
    struct MHD_Response *r = MHD_create_response_from_buffer_with_free_callback_cls(
        range.bytes, body->data + range.begin, drop_body, body);
    if (!r) {
        http_body_unref(body);
        return MHD_NO;
    }
    char control[64];
    snprintf(control, sizeof(control), "public, max-age=%d%s", reply->max_age,
             reply->immutable ? ", immutable" : "");
    add_cors(r);
    MHD_add_response_header(r, "Content-Type", reply->type);
    MHD_add_response_header(r, "Cache-Control", control);
    MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
    if (reply->immutable)
        MHD_add_response_header(r, "Accept-Ranges", "bytes");
    if (content_range[0])
        MHD_add_response_header(r, "Content-Range", content_range);
    return send_and_drop(connection, status, r);
}

// ---- Waiting

// Caller holds s->lock.
static void stop_waiting(struct http_server *s, struct waiter *w)
{
    if (!w->from)
        return;
    *w->from = w->next;
    if (w->next)
        w->next->from = w->from;
    w->from = NULL;
    s->waiting_count--;
}

// Caller holds s->lock.
static void suspend(struct http_server *s, struct waiter *w)
{
    w->next = s->waiting;
    w->from = &s->waiting;
    if (w->next)
        w->next->from = &w->next;
    s->waiting = w;
    s->waiting_count++;
    MHD_suspend_connection(w->connection);
}

// Caller holds s->lock.
static void resume(struct http_server *s, struct waiter *w)
{
    stop_waiting(s, w);
    MHD_resume_connection(w->connection); // its request is decided again
}

void http_server_wake(struct http_server *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    while (s->waiting)
        resume(s, s->waiting);
    pthread_mutex_unlock(&s->lock);
}

void http_server_tick(struct http_server *s, usec_t now)
{
    pthread_mutex_lock(&s->lock);
    for (struct waiter *w = s->waiting, *next; w; w = next) {
        next = w->next;
        if (w->deadline <= now)
            resume(s, w);
    }
    for (struct client *c = s->clients; c; c = c->next) {
        const union MHD_ConnectionInfo *info =
            now - c->since > HTTP_RESPONSE_LIMIT
                ? MHD_get_connection_info(c->connection, MHD_CONNECTION_INFO_CONNECTION_FD)
                : NULL;
        if (info) // the server's thread sees the end and frees the connection
            shutdown(info->connect_fd, SHUT_RDWR);
    }
    pthread_mutex_unlock(&s->lock);
}

// ---- Requests

// Caller holds s->lock. Decides a request. Returns an HTTP status; 0: it waits. 200: *reply is
// filled in.
static unsigned decide(struct http_server *s, struct waiter *w, const char *url,
                       struct http_reply *reply)
{
    struct http_request r = {.path = url};
    struct MHD_Connection *c = w->connection;
    const char *number = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "_HLS_msn");
    const char *part = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "_HLS_part");
    if (http_target_parse(url, &r.target) != 0)
        return MHD_HTTP_NOT_FOUND;
    if (http_reload_parse(number, part, &r.reload) != 0)
        return MHD_HTTP_BAD_REQUEST;
    usec_t now = clock_now();
    switch (s->content->ops->get(s->content, &r, w->begun, now, reply)) {
    case 0:
        return MHD_HTTP_OK;
    case ERR_NOT_FOUND:
        return MHD_HTTP_NOT_FOUND;
    case ERR_MALFORMED:
        return MHD_HTTP_BAD_REQUEST;
    case HTTP_WAITS:
        w->deadline = reply->deadline;
        return s->stops || now >= w->deadline || s->waiting_count >= HTTP_WAITING
                   ? MHD_HTTP_SERVICE_UNAVAILABLE
                   : 0;
    default:
        return MHD_HTTP_SERVICE_UNAVAILABLE;
    }
}

static struct client *client_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

// The client has until HTTP_RESPONSE_LIMIT from now on for its next request or response.
static void renew(struct http_server *s, struct MHD_Connection *connection, usec_t now)
{
    struct client *c = client_of(connection);
    if (!c)
        return;
    pthread_mutex_lock(&s->lock);
    c->since = now;
    pthread_mutex_unlock(&s->lock);
}

// MHD calls this after the header, then for each piece of a body, and finally without data.
// Requests have no body here, so a connection with one is refused.
static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_bytes, void **state)
{
    (void)version;
    (void)upload;
    struct http_server *s = ctx;
    if (!*state) { // respond only at the request's end
        struct waiter *w = calloc(1, sizeof(*w));
        if (!w)
            return MHD_NO;
        w->connection = connection;
        w->begun = clock_now();
        *state = w;
        renew(s, connection, w->begun);
        return MHD_YES;
    }
    if (*upload_bytes)
        return MHD_NO;
    if (strcmp(method, "OPTIONS") == 0)
        return respond_empty(connection, MHD_HTTP_NO_CONTENT);
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return respond_empty(connection, MHD_HTTP_METHOD_NOT_ALLOWED);
    // The lock is held until the request is in the list: a wake-up in between is not lost.
    struct http_reply reply = {0};
    struct waiter *w = *state;
    pthread_mutex_lock(&s->lock);
    unsigned status = decide(s, w, url, &reply);
    if (!status)
        suspend(s, w);
    pthread_mutex_unlock(&s->lock);
    if (!status)
        return MHD_YES;
    if (status != MHD_HTTP_OK)
        return respond_empty(connection, status);
    size_t bytes;
    enum MHD_Result result = respond_body(connection, &reply, &bytes);
    w->bytes = strcmp(method, "HEAD") == 0 ? 0 : bytes;
    return result;
}

static void on_completed(void *ctx, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode code)
{
    struct http_server *s = ctx;
    struct waiter *w = *state;
    pthread_mutex_lock(&s->lock);
    if (w) {
        stop_waiting(s, w);
        s->requests++;
        if (code == MHD_REQUEST_TERMINATED_COMPLETED_OK)
            s->sent_bytes += w->bytes;
    }
    pthread_mutex_unlock(&s->lock);
    renew(s, connection, clock_now());
    free(w);
    *state = NULL;
}

static void on_connection(void *ctx, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct http_server *s = ctx;
    struct client *c = *socket_context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        c = calloc(1, sizeof(*c));
        *socket_context = c;
        if (!c)
            return; // the connection has no limit but that of silence
        c->connection = connection;
        c->since = clock_now();
        pthread_mutex_lock(&s->lock);
        c->next = s->clients;
        c->from = &s->clients;
        if (c->next)
            c->next->from = &c->next;
        s->clients = c;
        s->client_count++;
        pthread_mutex_unlock(&s->lock);
    } else if (c) {
        pthread_mutex_lock(&s->lock);
        *c->from = c->next;
        if (c->next)
            c->next->from = c->from;
        s->client_count--;
        pthread_mutex_unlock(&s->lock);
        free(c);
        *socket_context = NULL;
    }
}

// ---- Start and end

static void on_log(void *ctx, const char *format, va_list args)
{
    (void)ctx;
    char text[256];
    vsnprintf(text, sizeof(text), format, args);
    text[strcspn(text, "\n")] = '\0';
    log_debug("http: %s", text);
}

struct http_server *http_server_new(const struct sockaddr *at, struct http_content *content)
{
    struct http_server *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    pthread_mutex_init(&s->lock, NULL);
    s->content = content;
    int fd = tcp_listen(at, "--http");
    if (fd < 0)
        goto free_server;
    tcp_listen_address(fd, s->address, sizeof(s->address));
    // MHD takes over the socket, unless the call fails.
    s->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL,
        on_request, s, MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL, MHD_OPTION_LISTEN_SOCKET,
        (MHD_socket)fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)HTTP_CONNECTIONS,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)HTTP_FROM_ONE, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)HTTP_IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_BYTES,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_COMPLETED, on_completed, s,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_END);
    if (s->daemon)
        return s;
    log_error("cannot start the HTTP server's thread");
    close(fd);
free_server:
    http_server_free(s);
    return NULL;
}

void http_server_free(struct http_server *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->stops = true;
    while (s->waiting) // MHD requires it before it stops
        resume(s, s->waiting);
    pthread_mutex_unlock(&s->lock);
    if (s->daemon)
        MHD_stop_daemon(s->daemon); // joins its thread
    pthread_mutex_destroy(&s->lock);
    free(s);
}

void http_server_stats(struct http_server *s, struct http_stats *out)
{
    pthread_mutex_lock(&s->lock);
    *out = (struct http_stats){.is_used = true,
                               .connections = s->client_count,
                               .waiting = s->waiting_count,
                               .requests = s->requests,
                               .sent_bytes = s->sent_bytes};
    pthread_mutex_unlock(&s->lock);
}

void http_server_address(const struct http_server *s, char *out, size_t cap)
{
    snprintf(out, cap, "%s", s->address);
}
