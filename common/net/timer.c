// SPDX-License-Identifier: GPL-2.0-or-later
// One timerfd per loop, set to the earliest of its timers. The timers form a heap: a thousand
// viewers have thousands of timers, and most are set again before they fire.
//
// A wake-up fires the timers that are due when it begins. A timer that a callback sets for "now"
// waits for the next wake-up, so that the loop's other work gets its turn.
#include "common/net/timer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/net/clock.h"

struct timers { // the timers of one loop
    uv_poll_t poll;
    uv_loop_t *loop; // borrowed
    int fd;
    int users;           // number of timers not yet freed
    int count;           // number of entries in `heap`
    int room;            // capacity of `heap`; >= users
    struct timer **heap; // owned; an entry is due no earlier than the one at half its index
    usec_t armed;        // when the timerfd fires: no later than needed
    usec_t firing;       // when the current wake-up came; USEC_NEVER outside a wake-up
    struct timers *next;
};

struct timer {
    struct timers *all;
    usec_t when; // USEC_NEVER: not set
    usec_t due;  // `when`, or a time after the wake-up that set it
    int place;   // index in the heap; -1: not set
    timer_fn *fn;
    void *ctx; // borrowed
};

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; // guards `loops`, as each loop has its own thread
static struct timers *loops;

// ---- The heap

static void put(struct timers *all, int place, struct timer *t)
{
    all->heap[place] = t;
    t->place = place;
}

static void rise(struct timers *all, struct timer *t)
{
    int place = t->place;
    for (int up; place > 0 && all->heap[up = (place - 1) / 2]->due > t->due; place = up)
        put(all, place, all->heap[up]);
    put(all, place, t);
}

static void sink(struct timers *all, struct timer *t)
{
    int place = t->place;
    for (int down; (down = 2 * place + 1) < all->count; place = down) {
        down += down + 1 < all->count && all->heap[down + 1]->due < all->heap[down]->due;
        if (all->heap[down]->due >= t->due)
            break;
        put(all, place, all->heap[down]);
    }
    put(all, place, t);
}

static void take_out(struct timer *t)
{
    struct timers *all = t->all;
    if (t->place < 0)
        return;
    struct timer *last = all->heap[--all->count];
    if (last != t) {
        put(all, t->place, last);
        rise(all, last);
        sink(all, last);
    }
    t->place = -1;
    t->when = USEC_NEVER;
}

// ---- The timerfd

static void arm(struct timers *all)
{
    usec_t due = all->count ? all->heap[0]->due : USEC_NEVER;
    if (due >= all->armed || all->firing != USEC_NEVER)
        return;
    all->armed = due;
    usec_t at = usec_max(due, 1); // an all-zero value would disarm the timerfd
    struct itimerspec spec = {.it_value = {at / USEC_PER_SEC, at % USEC_PER_SEC * 1000}};
    timerfd_settime(all->fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    struct timers *all = poll->data;
    uint64_t expirations;
    if (read(all->fd, &expirations, sizeof(expirations)) != (ssize_t)sizeof(expirations))
        return; // the timerfd was set again after the loop saw it
    all->armed = USEC_NEVER;
    all->firing = clock_now();
    while (all->count && all->heap[0]->due <= all->firing) {
        struct timer *t = all->heap[0];
        take_out(t);
        t->fn(t->ctx, clock_now()); // the callback may free the timer
    }
    all->firing = USEC_NEVER;
    arm(all);
}

// ---- Life

static struct timers *timers_new(uv_loop_t *loop)
{
    struct timers *all = calloc(1, sizeof(*all));
    if (!all)
        return NULL;
    all->loop = loop;
    all->armed = all->firing = USEC_NEVER;
    all->fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (all->fd < 0) {
        log_error("cannot create a timer: %s", strerror(errno));
        goto free_timers;
    }
    if (uv_poll_init(loop, &all->poll, all->fd) != 0)
        goto close_fd;
    all->poll.data = all;
    uv_poll_start(&all->poll, UV_READABLE, on_readable);
    return all;

close_fd:
    close(all->fd);
free_timers:
    free(all);
    return NULL;
}

static void on_closed(uv_handle_t *handle)
{
    struct timers *all = handle->data;
    close(all->fd);
    free(all->heap);
    free(all);
}

static void leave(struct timers *all)
{
    if (--all->users > 0)
        return;
    pthread_mutex_lock(&lock);
    struct timers **link = &loops;
    while (*link != all)
        link = &(*link)->next;
    *link = all->next;
    pthread_mutex_unlock(&lock);
    uv_close((uv_handle_t *)&all->poll, on_closed);
}

// Returns the loop's timers, with room for one more timer, which it counts. Returns NULL on
// failure.
static struct timers *join(uv_loop_t *loop)
{
    pthread_mutex_lock(&lock);
    struct timers *all = loops;
    while (all && all->loop != loop)
        all = all->next;
    if (!all && (all = timers_new(loop))) {
        all->next = loops;
        loops = all;
    }
    pthread_mutex_unlock(&lock);
    if (!all)
        return NULL;
    if (all->users++ < all->room)
        return all;
    int room = 2 * all->users;
    struct timer **heap = realloc(all->heap, (size_t)room * sizeof(struct timer *));
    if (heap) {
        all->heap = heap;
        all->room = room;
        return all;
    }
    leave(all);
    return NULL;
}

struct timer *timer_new(uv_loop_t *loop, timer_fn *fn, void *ctx)
{
    struct timer *t = calloc(1, sizeof(*t));
    struct timers *all = t ? join(loop) : NULL;
    if (!all) {
        free(t);
        return NULL;
    }
    *t = (struct timer){.all = all, .when = USEC_NEVER, .place = -1, .fn = fn, .ctx = ctx};
    return t;
}

void timer_free(struct timer *t)
{
    if (!t)
        return;
    take_out(t);
    leave(t->all);
    free(t);
}

void timer_set(struct timer *t, usec_t when)
{
    struct timers *all = t->all;
    if (when == t->when)
        return;
    take_out(t);
    if (when == USEC_NEVER)
        return;
    t->when = when;
    t->due = all->firing == USEC_NEVER ? when : usec_max(when, all->firing + 1);
    t->place = all->count++;
    rise(all, t);
    arm(all);
}
