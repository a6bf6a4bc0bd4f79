// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/stream_source.h"

#include <assert.h>

static void watch(struct media_feed *f, int size_id, int change)
{
    struct stream_source *s = (struct stream_source *)f;
    s->watchers[size_id] += change;
    assert(s->watchers[size_id] >= 0);
}

void stream_source_init(struct stream_source *s, const struct stream_source_config *config)
{
    static const struct media_feed_ops ops = {.watch = watch};
    *s = (struct stream_source){.feed.ops = &ops, .config = *config};
    frame_clock_init(&s->clock, config->media->ladder.source_fps);
}

void stream_source_start(struct stream_source *s, usec_t now)
{
    s->started = true;
    frame_clock_start(&s->clock, now);
}

void stream_source_set_speed(struct stream_source *s, double speed)
{
    frame_clock_set_speed(&s->clock, speed);
}

void stream_source_end(struct stream_source *s)
{
    s->over = true;
}

static void give(struct stream_source *s, int size_id, int64_t number, usec_t due, usec_t now)
{
    struct synthetic media = *s->config.media;
    int *bytes = &media.bytes[size_id];
    int64_t index =
        size_index_of_frame(media.ladder.sizes[size_id].fps, media.ladder.source_fps, number);
    if (s->config.sizes && index >= 0)
        *bytes = frame_sizes_scale(s->config.sizes, index, *bytes);
    struct coded_frame *f = synthetic_frame(&media, size_id, number);
    if (!f)
        return;
    f->captured = due;
    f->capture_wall = s->config.wall + due;
    s->config.on_frame(s->config.ctx, f, now);
    coded_frame_unref(f);
}

void stream_source_run(struct stream_source *s, usec_t now)
{
    int64_t number;
    usec_t due;
    const struct ladder *l = &s->config.media->ladder;
    while (s->started && !s->over && frame_clock_tick(&s->clock, &number, &due, now)) {
        s->over = usec_of_frames(number, l->source_fps.num, l->source_fps.den) >= s->config.length;
        for (int i = 0; i < l->size_count && !s->over; i++)
            if (s->watchers[i])
                give(s, i, number, due, now);
    }
}

usec_t stream_source_next(const struct stream_source *s)
{
    return s->started && !s->over ? frame_clock_next(&s->clock) : USEC_NEVER;
}
