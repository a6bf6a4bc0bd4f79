// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/feed/synthetic_media.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/net/clock.h"
#include "common/net/timer.h"
#include "server/policy/frame_clock.h"

struct synthetic_media {
    struct stream_media base; // first
    struct synthetic media;
};

// ---- The feed of one viewer

struct synthetic_feed {
    struct media_feed base;        // first
    const struct synthetic *media; // borrowed
    struct timer *timer;           // owned
    struct frame_sink *sink;       // borrowed
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
        f->sink->ops->on_frame(f->sink, frame, now);
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

static void watch(struct media_feed *feed, int size_id, int change)
{
    struct synthetic_feed *f = (struct synthetic_feed *)feed;
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

static void set_speed(struct media_feed *feed, double speed)
{
    frame_clock_set_speed(&((struct synthetic_feed *)feed)->clock, speed);
}

static void feed_free(struct media_feed *feed)
{
    timer_free(((struct synthetic_feed *)feed)->timer);
    free(feed);
}

static const struct media_feed_ops feed_ops = {
    .watch = watch, .set_speed = set_speed, .free = feed_free};

// ---- The media of all viewers

static struct media_feed *feed_new(struct stream_media *m, const struct media_feed_config *config)
{
    struct synthetic_feed *f = calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    *f = (struct synthetic_feed){.base.ops = &feed_ops,
                                 .media = &((struct synthetic_media *)m)->media,
                                 .sink = config->sink};
    frame_clock_init(&f->clock, m->ladder.source_fps);
    f->timer = timer_new(config->loop, on_timer, f);
    if (f->timer)
        return &f->base;
    free(f);
    return NULL;
}

static void media_free(struct stream_media *m)
{
    free(m);
}

struct stream_media *synthetic_media_new(const struct synthetic *media)
{
    static const struct stream_media_ops ops = {.feed_new = feed_new, .free = media_free};
    struct synthetic_media *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    m->base = (struct stream_media){
        .ops = &ops, .kind = media->kind, .ladder = media->ladder, .duration = -1};
    snprintf(m->base.title, sizeof(m->base.title), "%s", media->name);
    m->media = *media;
    return &m->base;
}
