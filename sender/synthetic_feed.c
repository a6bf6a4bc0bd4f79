// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/synthetic_feed.h"

#include <assert.h>
#include <stdlib.h>

#include "common/net/clock.h"
#include "common/net/timer.h"

// Behind by more than this (a machine asleep), time goes on from here rather than in a rush.
static const usec_t MAX_BEHIND = USEC_PER_SEC / 2;

struct synthetic_feed {
    const struct synthetic *media; // borrowed
    struct timer *timer;           // owned
    synthetic_frame_fn *on_frame;
    void *ctx; // borrowed
    int watchers[LADDER_MAX_SIZES];
    double speed;
    int64_t number; // the next
    double due;     // of it; fractions: most rates have no whole number of microseconds
    bool running;
};

static bool is_watched(const struct synthetic_feed *f)
{
    for (int i = 0; i < f->media->ladder.size_count; i++)
        if (f->watchers[i])
            return true;
    return false;
}

static void give_frames(struct synthetic_feed *f, usec_t due, usec_t now)
{
    for (int i = 0; i < f->media->ladder.size_count; i++) {
        struct coded_frame *frame = f->watchers[i] ? synthetic_frame(f->media, i, f->number) : NULL;
        if (!frame)
            continue;
        frame->captured = due;
        frame->capture_wall = clock_wall() - (now - due);
        f->on_frame(f->ctx, frame, now);
        coded_frame_unref(frame);
    }
}

static void on_timer(void *ctx, usec_t now)
{
    struct synthetic_feed *f = ctx;
    struct fps fps = f->media->ladder.source_fps;
    if ((double)now - f->due > (double)MAX_BEHIND)
        f->due = (double)now;
    while (f->running && f->due <= (double)now) {
        give_frames(f, (usec_t)f->due, now);
        f->number++;
        f->due += (double)USEC_PER_SEC / fps_value(fps) / f->speed;
    }
    timer_set(f->timer, f->running ? (usec_t)f->due + 1 : USEC_NEVER);
}

struct synthetic_feed *synthetic_feed_new(uv_loop_t *loop, const struct synthetic *media,
                                          synthetic_frame_fn *on_frame, void *ctx)
{
    struct synthetic_feed *f = calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    *f = (struct synthetic_feed){.media = media, .on_frame = on_frame, .ctx = ctx, .speed = 1};
    f->timer = timer_new(loop, on_timer, f);
    if (f->timer)
        return f;
    free(f);
    return NULL;
}

void synthetic_feed_free(struct synthetic_feed *f)
{
    if (!f)
        return;
    timer_free(f->timer);
    free(f);
}

void synthetic_feed_watch(struct synthetic_feed *f, int size_id, int change)
{
    f->watchers[size_id] += change;
    assert(f->watchers[size_id] >= 0);
    bool before = f->running;
    f->running = is_watched(f);
    if (f->running == before)
        return;
    f->due = (double)clock_now();
    timer_set(f->timer, f->running ? (usec_t)f->due : USEC_NEVER);
}

void synthetic_feed_set_speed(struct synthetic_feed *f, double speed)
{
    assert(speed >= SYNTHETIC_MIN_SPEED && speed <= SYNTHETIC_MAX_SPEED);
    f->speed = speed;
}
