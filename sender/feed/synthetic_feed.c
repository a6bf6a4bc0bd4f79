// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/feed/synthetic_feed.h"

#include <assert.h>
#include <stdlib.h>

#include "common/net/clock.h"
#include "common/net/timer.h"

struct synthetic_feed {
    const struct synthetic *media; // borrowed
    struct timer *timer;           // owned
    synthetic_frame_fn *on_frame;
    void *ctx; // borrowed
    int watchers[LADDER_MAX_SIZES];
    struct frame_clock clock;
    bool running;
};

static void give_frames(struct synthetic_feed *f, int64_t number, usec_t due, usec_t now)
{
    for (int i = 0; i < f->media->ladder.size_count; i++) {
        struct coded_frame *frame = f->watchers[i] ? synthetic_frame(f->media, i, number) : NULL;
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
    int64_t number;
    usec_t due;
    while (f->running && frame_clock_tick(&f->clock, &number, &due, now))
        give_frames(f, number, due, now);
    timer_set(f->timer, f->running ? frame_clock_next(&f->clock) : USEC_NEVER);
}

struct synthetic_feed *synthetic_feed_new(uv_loop_t *loop, const struct synthetic *media,
                                          synthetic_frame_fn *on_frame, void *ctx)
{
    struct synthetic_feed *f = calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    *f = (struct synthetic_feed){.media = media, .on_frame = on_frame, .ctx = ctx};
    frame_clock_init(&f->clock, media->ladder.source_fps);
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
    f->running = false;
    for (int i = 0; i < f->media->ladder.size_count; i++)
        f->running |= f->watchers[i] > 0;
    if (f->running == before)
        return;
    usec_t now = clock_now();
    frame_clock_start(&f->clock, now);
    timer_set(f->timer, f->running ? now : USEC_NEVER);
}

void synthetic_feed_set_speed(struct synthetic_feed *f, double speed)
{
    frame_clock_set_speed(&f->clock, speed);
}
