// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/tcp_listen.h"
#include "common/net/timer.h"
#include "sender/connection.h"

enum {
    ACCEPTS = 16, // a wake-up
};

struct server {
    uv_poll_t poll;
    uv_loop_t *loop; // borrowed
    int fd;
    bool deaf; // the machine has no descriptor for one more viewer: tries again each second
    struct server_config config;
    struct timer *second;          // owned; once it stops: its deadline
    void (*on_stopped)(void *ctx); // NULL: it does not stop
    void *stop_ctx;                // borrowed
    int count;
    struct connection **connections; // owned, as are those; room for the stream's max_viewers
};

static void on_end(void *ctx, struct connection *c)
{
    struct server *s = ctx;
    for (int i = 0; i < s->count; i++)
        if (s->connections[i] == c)
            s->connections[i--] = s->connections[--s->count];
    connection_free(c, clock_now());
    if (!s->count && s->on_stopped)
        s->on_stopped(s->stop_ctx);
}

static void refuse(const struct server *s, int fd)
{
    static const char answer[] =
        "RTSP/1.0 503 Service Unavailable\r\nCSeq: 0\r\nConnection: close\r\n"
        "Content-Type: text/plain\r\nContent-Length: 20\r\n\r\nthe server is full\r\n";
    if (write(fd, answer, sizeof(answer) - 1) < 0)
        log_debug("a refused viewer was gone already");
    close(fd);
    log_warn("a viewer was refused: %d are connected, the most there can be", s->count);
}

static void on_acceptable(uv_poll_t *poll, int status, int events);

// Who knocks stays in the backlog, and would wake the loop again at once.
static void set_deaf(struct server *s, bool deaf)
{
    s->deaf = deaf;
    if (deaf)
        uv_poll_stop(&s->poll);
    else
        uv_poll_start(&s->poll, UV_READABLE, on_acceptable);
}

static void on_acceptable(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    struct server *s = poll->data;
    usec_t now = clock_now();
    for (int i = 0; i < ACCEPTS; i++) {
        int fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
                log_error("cannot accept a viewer: %s; raise the limit with ulimit -n",
                          strerror(errno));
                set_deaf(s, true);
            }
            return;
        }
        if (s->count == s->config.max_viewers) {
            refuse(s, fd);
            continue;
        }
        struct connection_config config = {.loop = s->loop,
                                           .shelf = s->config.shelf,
                                           .raw = s->config.raw,
                                           .on_end = on_end,
                                           .ctx = s};
        struct connection *c = connection_new(fd, &config, now);
        if (c)
            s->connections[s->count++] = c;
    }
}

static void on_second(void *ctx, usec_t now)
{
    struct server *s = ctx;
    if (s->on_stopped) {
        s->on_stopped(s->stop_ctx);
        return;
    }
    timer_set(s->second, now + USEC_PER_SEC);
    if (s->deaf)
        set_deaf(s, false);
    telemetry_collect(s->config.telemetry, now);
    // Backwards: a connection that ends here is replaced by the last one, which was seen already.
    for (int i = s->count - 1; i >= 0; i--)
        connection_second(s->connections[i], now);
}

struct server *server_new(uv_loop_t *loop, const struct server_config *config)
{
    struct server *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->loop = loop;
    s->config = *config;
    s->connections = calloc((size_t)config->max_viewers, sizeof(struct connection *));
    if (!s->connections)
        goto free_server;
    s->fd = tcp_listen((const struct sockaddr *)&config->listen, "--listen");
    if (s->fd < 0)
        goto free_server;
    s->second = timer_new(loop, on_second, s);
    if (!s->second)
        goto close_fd;
    if (uv_poll_init(loop, &s->poll, s->fd) != 0)
        goto free_timer;
    s->poll.data = s;
    set_deaf(s, false);
    timer_set(s->second, clock_now() + USEC_PER_SEC);
    return s;

free_timer:
    timer_free(s->second);
close_fd:
    close(s->fd);
free_server:
    free(s->connections);
    free(s);
    return NULL;
}

void server_stop(struct server *s, void (*on_stopped)(void *ctx), void *ctx)
{
    usec_t now = clock_now();
    uv_poll_stop(&s->poll);
    for (int i = 0; i < s->count; i++)
        connection_finish(s->connections[i], now);
    s->on_stopped = on_stopped;
    s->stop_ctx = ctx;
    timer_set(s->second, s->count ? now + SERVER_STOP_TIME : now);
}

static void on_closed(uv_handle_t *handle)
{
    struct server *s = handle->data;
    close(s->fd);
    free(s->connections);
    free(s);
}

void server_free(struct server *s)
{
    if (!s)
        return;
    usec_t now = clock_now();
    while (s->count)
        connection_free(s->connections[--s->count], now);
    timer_free(s->second);
    uv_close((uv_handle_t *)&s->poll, on_closed);
}

void server_address(const struct server *s, char *out, size_t cap)
{
    tcp_listen_address(s->fd, out, cap);
}
