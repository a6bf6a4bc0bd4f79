// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/traffic/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/timer.h"
#include "common/net/udp_socket.h"
#include "lab/traffic/conn.h"
#include "lab/traffic/watch.h"

enum { BACKLOG = 1024, ACCEPTS = 64 }; // ACCEPTS: max per wake-up

struct server {
    uv_loop_t *loop;                        // borrowed
    struct watch *listener;                 // owned
    struct timer *tick;                     // owned; fires once a second
    struct conn *conns[SERVER_CONNECTIONS]; // owned
    int count;
};

// Moves the last connection into the free place, so a caller that iterates goes backwards.
static void remove_conn(struct server *s, int index)
{
    conn_free(s->conns[index]);
    s->conns[index] = s->conns[--s->count];
}

static void on_end(void *ctx, struct conn *c)
{
    struct server *s = ctx;
    int i = 0;
    while (s->conns[i] != c)
        i++;
    remove_conn(s, i);
}

// Once a second: removes clients that sent no request, and watches a listener again that ran out of
// descriptors.
static void on_tick(void *ctx, usec_t now)
{
    struct server *s = ctx;
    for (int i = s->count - 1; i >= 0; i--) {
        if (conn_deadline(s->conns[i]) <= now)
            remove_conn(s, i);
    }
    watch_events(s->listener, UV_READABLE);
    timer_set(s->tick, now + USEC_PER_SEC);
}

static void reset(int fd)
{
    struct linger none = {.l_onoff = 1};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
    close(fd);
}

static void on_connection(void *ctx, usec_t now)
{
    struct server *s = ctx;
    for (int i = 0; i < ACCEPTS; i++) {
        int fd = accept4(watch_fd(s->listener), NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)) {
            log_warn("cannot accept a connection: %s", strerror(errno));
            watch_events(s->listener, 0); // not watched until the next tick
            return;
        }
        if (fd < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (fd < 0)
            continue; // that connection has already failed (accept(2))
        if (s->count == SERVER_CONNECTIONS) {
            log_warn("connection refused: more than %d connections", SERVER_CONNECTIONS);
            reset(fd);
            continue;
        }
        struct conn *c = conn_new(s->loop, fd, now + SERVER_PATIENCE, on_end, s);
        if (c)
            s->conns[s->count++] = c;
    }
}

static int open_listener(const struct sockaddr *at)
{
    int fd = socket(at->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int one = 1;
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
        bind(fd, at, sockaddr_len(at)) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    char text[64];
    int err = errno;
    sockaddr_text(at, text, sizeof(text));
    log_error("cannot listen on %s: %s", text, strerror(err));
    if (fd >= 0)
        close(fd);
    return -1;
}

struct server *traffic_server_new(uv_loop_t *loop, const struct sockaddr *listen_at)
{
    struct server *s = calloc(1, sizeof(*s));
    if (!s) {
        log_error("out of memory");
        return NULL;
    }
    s->loop = loop;
    int fd = open_listener(listen_at);
    if (fd < 0)
        goto free_server;
    s->listener = watch_new(loop, fd, UV_READABLE, on_connection, s);
    if (!s->listener)
        goto free_server;
    s->tick = timer_new(loop, on_tick, s);
    if (!s->tick)
        goto close_listener;
    timer_set(s->tick, clock_now() + USEC_PER_SEC);
    return s;

close_listener:
    watch_close(s->listener, false);
free_server:
    free(s);
    return NULL;
}

void traffic_server_free(struct server *s)
{
    if (!s)
        return;
    while (s->count)
        remove_conn(s, s->count - 1);
    timer_free(s->tick);
    watch_close(s->listener, false);
    free(s);
}

void traffic_server_address(const struct server *s, char *out, size_t cap)
{
    struct sockaddr_storage at = {0};
    socklen_t len = sizeof(at);
    getsockname(watch_fd(s->listener), (struct sockaddr *)&at, &len);
    sockaddr_text((struct sockaddr *)&at, out, cap);
}
