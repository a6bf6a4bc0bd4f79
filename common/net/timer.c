// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/timer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/net/clock.h"

struct timer {
    uv_poll_t poll;
    int fd;
    usec_t when;
    timer_fn *fn; // NULL once freed
    void *ctx;    // borrowed
};

static void on_readable(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    struct timer *t = poll->data;
    uint64_t expirations;
    if (read(t->fd, &expirations, sizeof(expirations)) != (ssize_t)sizeof(expirations))
        return; // set anew since the loop saw it
    t->when = USEC_NEVER;
    if (t->fn)
        t->fn(t->ctx, clock_now());
}

struct timer *timer_new(uv_loop_t *loop, timer_fn *fn, void *ctx)
{
    struct timer *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->fn = fn;
    t->ctx = ctx;
    t->when = USEC_NEVER;
    t->fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (t->fd < 0) {
        log_error("cannot create a timer: %s", strerror(errno));
        goto free_timer;
    }
    if (uv_poll_init(loop, &t->poll, t->fd) != 0)
        goto close_fd;
    t->poll.data = t;
    uv_poll_start(&t->poll, UV_READABLE, on_readable);
    return t;

close_fd:
    close(t->fd);
free_timer:
    free(t);
    return NULL;
}

static void on_closed(uv_handle_t *handle)
{
    struct timer *t = handle->data;
    close(t->fd);
    free(t);
}

void timer_free(struct timer *t)
{
    if (!t)
        return;
    t->fn = NULL;
    uv_close((uv_handle_t *)&t->poll, on_closed);
}

void timer_set(struct timer *t, usec_t when)
{
    if (when == t->when)
        return;
    t->when = when;
    struct itimerspec spec = {0};
    if (when != USEC_NEVER) {
        usec_t at = usec_max(when, 1); // all zero would disarm
        spec.it_value.tv_sec = at / USEC_PER_SEC;
        spec.it_value.tv_nsec = at % USEC_PER_SEC * 1000;
    }
    timerfd_settime(t->fd, TFD_TIMER_ABSTIME, &spec, NULL);
}
