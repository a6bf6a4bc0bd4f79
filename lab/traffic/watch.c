// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/traffic/watch.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/net/clock.h"

enum { IDLE_S = 30, PROBE_S = 10, SILENCE_MS = 60000 };

struct watch {
    uv_poll_t poll;
    int fd;       // -1 once closed
    watch_fn *fn; // NULL once closed
    void *ctx;    // borrowed
};

static void on_ready(uv_poll_t *poll, int status, int events)
{
    (void)status; // the next call on the socket returns the error
    (void)events;
    struct watch *w = poll->data;
    if (w->fn)
        w->fn(w->ctx, clock_now());
}

struct watch *watch_new(uv_loop_t *loop, int fd, int events, watch_fn *fn, void *ctx)
{
    struct watch *w = calloc(1, sizeof(*w));
    if (!w || uv_poll_init(loop, &w->poll, fd) != 0) {
        log_error("cannot watch a socket");
        close(fd);
        free(w);
        return NULL;
    }
    *w = (struct watch){.poll = w->poll, .fd = fd, .fn = fn, .ctx = ctx};
    w->poll.data = w;
    watch_events(w, events);
    return w;
}

int watch_fd(const struct watch *w)
{
    return w->fd;
}

void watch_events(struct watch *w, int events)
{
    if (events)
        uv_poll_start(&w->poll, events, on_ready);
    else
        uv_poll_stop(&w->poll);
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void watch_close(struct watch *w, bool abort)
{
    if (!w)
        return;
    // The loop releases the descriptor inside uv_close, so it may be closed, and even be reused for
    // another socket, before the handle's close callback.
    uv_close((uv_handle_t *)&w->poll, on_closed);
    struct linger none = {.l_onoff = 1};
    if (abort)
        setsockopt(w->fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
    close(w->fd);
    w->fd = -1;
    w->fn = NULL;
}

void watch_keepalive(int fd)
{
    int one = 1, idle = IDLE_S, probe = PROBE_S, silence = SILENCE_MS;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &probe, sizeof(probe));
    // Also bounds the wait for acknowledgements; it overrides the keepalive limits, too (tcp(7)).
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence, sizeof(silence));
}
