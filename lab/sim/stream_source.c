// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/stream_source.h"

#include <assert.h>
#include <math.h>

#define BURST      2.0 // times the pace until a film is early
#define MAX_BEHIND (USEC_PER_SEC / 2.0)

static void watch(struct media_feed *f, int size_id, int change)
{
    struct stream_source *s = (struct stream_source *)f;
    s->watchers[size_id] += change;
    assert(s->watchers[size_id] >= 0);
}

// ---- A film's time line

static double media_time(const struct stream_source *s, int64_t frames)
{
    return (double)frames * USEC_PER_SEC / fps_value(s->config.media->ladder.source_fps) /
           s->film.speed;
}

static double due_of(const struct stream_source *s, int64_t number)
{
    return s->film.origin + media_time(s, number - s->film.begin);
}

// Returns when frame `at` is given.
static double given_at(const struct stream_source *s)
{
    double burst = s->film.start + media_time(s, s->film.at - s->film.begin) / BURST;
    return fmax(burst, due_of(s, s->film.at) - (double)STREAM_FILM_LEAD);
}

// Restarts the time line at frame `at`, which is given now.
static void anchor(struct stream_source *s, usec_t now)
{
    s->film.origin = due_of(s, s->film.at);
    s->film.begin = s->film.at;
    s->film.start = (double)now;
}

// ---- Frames

// Sets what a film's frame depends on: the one before it, in its group.
static void chain_frame(const struct stream_source *s, struct coded_frame *f)
{
    struct fps source = s->config.media->ladder.source_fps;
    struct fps size = s->config.media->ladder.sizes[f->size_id].fps;
    int64_t group = llround(fps_value(size) * usec_to_sec(STREAM_FILM_GROUP));
    int64_t before = f->number - 1;
    f->key = size_index_of_frame(size, source, f->number) % group == 0;
    while (!f->key && size_index_of_frame(size, source, before) < 0)
        before--;
    f->depends_on = f->key ? -1 : before;
}

// Returns NULL if the size has no such frame, or on lack of memory.
static struct coded_frame *make(const struct stream_source *s, int size_id, int64_t number,
                                usec_t due)
{
    struct synthetic media = *s->config.media;
    int *bytes = &media.bytes[size_id];
    int64_t index =
        size_index_of_frame(media.ladder.sizes[size_id].fps, media.ladder.source_fps, number);
    if (s->config.sizes && index >= 0)
        *bytes = frame_sizes_scale(s->config.sizes, index, *bytes);
    struct coded_frame *f = synthetic_frame(&media, size_id, number);
    if (!f)
        return NULL;
    f->captured = due;
    f->capture_wall = s->config.wall + due;
    if (s->config.film)
        chain_frame(s, f);
    return f;
}

static void give(struct stream_source *s, int64_t number, usec_t due, usec_t now)
{
    for (int i = 0; i < s->config.media->ladder.size_count; i++) {
        struct coded_frame *f = s->watchers[i] ? make(s, i, number, due) : NULL;
        if (f)
            s->config.on_frame(s->config.ctx, f, now);
        coded_frame_unref(f);
    }
}

static bool give_again(struct media_feed *f, int size_id, int64_t number, usec_t now)
{
    struct stream_source *s = (struct stream_source *)f;
    struct coded_frame *frame = make(s, size_id, number, now);
    if (frame)
        s->config.on_again(s->config.ctx, frame, now);
    coded_frame_unref(frame);
    return frame != NULL;
}

static void drained(struct media_feed *f, usec_t now)
{
    (void)now;
    ((struct stream_source *)f)->film.awaits_room = false;
}

static bool is_over(const struct stream_source *s, int64_t number)
{
    struct fps fps = s->config.media->ladder.source_fps;
    return usec_of_frames(number, fps.num, fps.den) >= s->config.length;
}

static void run_film(struct stream_source *s, usec_t now)
{
    while (!s->over && given_at(s) <= (double)now) {
        s->film.awaits_room = s->config.waits(s->config.ctx);
        if (s->film.awaits_room)
            return;
        if ((double)now - given_at(s) > MAX_BEHIND) {
            anchor(s, now);
            s->film.origin = fmax(s->film.origin, (double)now);
        }
        s->over = is_over(s, s->film.at);
        if (!s->over)
            give(s, s->film.at, usec_max((usec_t)due_of(s, s->film.at), now), now);
        s->film.at++;
    }
}

void stream_source_run(struct stream_source *s, usec_t now)
{
    int64_t number;
    usec_t due;
    if (s->started && s->config.film)
        run_film(s, now);
    while (s->started && !s->config.film && !s->over &&
           frame_clock_tick(&s->clock, &number, &due, now)) {
        s->over = is_over(s, number);
        if (!s->over)
            give(s, number, due, now);
    }
}

usec_t stream_source_next(const struct stream_source *s)
{
    if (!s->started || s->over)
        return USEC_NEVER;
    if (!s->config.film)
        return frame_clock_next(&s->clock);
    return s->film.awaits_room ? USEC_NEVER : (usec_t)given_at(s) + 1;
}

// ---- Life

void stream_source_init(struct stream_source *s, const struct stream_source_config *config)
{
    static const struct media_feed_ops live = {.watch = watch};
    static const struct media_feed_ops film = {
        .watch = watch, .give_again = give_again, .drained = drained};
    *s = (struct stream_source){.feed.ops = config->film ? &film : &live,
                                .feed.max_speed = config->film ? STREAM_FILM_MAX_SPEED : 0,
                                .feed.is_film = config->film,
                                .config = *config,
                                .film.speed = 1};
    frame_clock_init(&s->clock, config->media->ladder.source_fps);
}

void stream_source_start(struct stream_source *s, usec_t now)
{
    s->started = true;
    frame_clock_start(&s->clock, now);
    s->film.origin = s->film.start = (double)now;
}

void stream_source_set_speed(struct stream_source *s, double speed, usec_t now)
{
    if (!s->config.film) {
        frame_clock_set_speed(&s->clock, speed);
        return;
    }
    if (speed != s->film.speed && s->started)
        anchor(s, now);
    s->film.speed = speed;
}

void stream_source_end(struct stream_source *s)
{
    s->over = true;
}
