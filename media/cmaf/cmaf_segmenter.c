// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/cmaf/cmaf_segmenter.h"

#include "common/base/err.h"

void cmaf_segmenter_init(struct cmaf_segmenter *s, const struct cmaf_grid *grid, uint32_t timescale,
                         bool all_keys, const struct cmaf_segmenter_events *events, void *ctx)
{
    *s = (struct cmaf_segmenter){.grid = *grid,
                                 .timescale = timescale,
                                 .all_keys = all_keys,
                                 .events = events,
                                 .ctx = ctx,
                                 .last = -1,
                                 .end = -1};
}

void cmaf_segmenter_destroy(struct cmaf_segmenter *s)
{
    cmaf_chunk_destroy(&s->chunk);
}

static void end_part(struct cmaf_segmenter *s)
{
    if (s->chunk.count == 0)
        return;
    struct mp4_writer w = {0};
    cmaf_chunk_write(&s->chunk, ++s->sequence, s->wall, &w);
    const struct cmaf_sample *first = &s->chunk.samples[0];
    struct cmaf_part part = {.segment = s->segment,
                             .number = s->part,
                             .time = first->time,
                             .duration = cmaf_chunk_end(&s->chunk) - first->time,
                             .independent = first->key,
                             .wall = s->wall,
                             .bytes = w.len,
                             .data = w.data};
    s->chunk.count = 0;
    s->chunk.data.len = 0; // keeps its room
    if (w.failed) {
        mp4_writer_destroy(&w);
        return;
    }
    s->part++;
    s->events->on_part(s->ctx, &part);
}

static void end_segment(struct cmaf_segmenter *s)
{
    end_part(s);
    if (s->open && s->part > 0)
        s->events->on_segment(s->ctx, s->segment);
    s->open = false;
}

// Ends what ends before a sample of this place, and begins what begins with it.
static void begin_sample(struct cmaf_segmenter *s, struct cmaf_place at, bool key)
{
    if (s->open && at.segment > s->segment && (key || at.segment > s->segment + 1))
        end_segment(s);
    if (!s->open) {
        s->open = true;
        s->segment = at.segment;
        s->part = 0;
        s->cell = at;
    }
    if (at.segment != s->cell.segment || at.part != s->cell.part)
        end_part(s);
    s->cell = at;
}

// Ends the part if no further sample belongs to it.
static void end_sample(struct cmaf_segmenter *s)
{
    struct cmaf_place next = {s->cell.segment, s->cell.part + 1};
    int64_t end = cmaf_chunk_end(&s->chunk);
    if (end < cmaf_grid_time(&s->grid, next, s->timescale))
        return;
    end_part(s);
    if (s->all_keys && next.part == s->grid.parts)
        end_segment(s);
}

static void cut(struct cmaf_segmenter *s)
{
    end_segment(s);
    s->grid = s->next;
    s->is_cut = false;
}

// Returns the time at which the segment behind the cut begins.
static int64_t cut_time(const struct cmaf_segmenter *s)
{
    return cmaf_grid_time(&s->next, (struct cmaf_place){.segment = s->next.first}, s->timescale);
}

void cmaf_segmenter_cut(struct cmaf_segmenter *s, int64_t segment, int64_t frame)
{
    if (s->is_cut)
        cut(s);
    s->next = s->grid;
    s->is_cut = true;
    cmaf_grid_move(&s->next, segment, frame);
    if (s->end < cut_time(s))
        return;
    cmaf_grid_move(&s->next, segment, s->end * USEC_PER_SEC / s->timescale);
    cut(s);
}

static int add(struct cmaf_segmenter *s, const struct cmaf_sample *sample,
               const struct coded_frame *f, const void *data, size_t bytes, usec_t wall)
{
    if (sample->time <= s->last || (!s->begun && !sample->key))
        return 0;
    s->begun = true;
    s->last = sample->time;
    s->end = sample->time + sample->duration;
    if (s->is_cut && sample->time >= cut_time(s))
        cut(s);
    begin_sample(s, cmaf_grid_place(&s->grid, sample->time, s->timescale), sample->key);
    if (s->chunk.count == 0)
        s->wall = wall;
    int err = f ? cmaf_chunk_add_h264(&s->chunk, sample, f)
                : cmaf_chunk_add(&s->chunk, sample, data, bytes);
    if (err)
        cmaf_chunk_destroy(&s->chunk);
    else
        end_sample(s);
    return err;
}

int cmaf_segmenter_frame(struct cmaf_segmenter *s, const struct cmaf_sample *sample,
                         const struct coded_frame *f, usec_t wall)
{
    return add(s, sample, f, NULL, 0, wall);
}

int cmaf_segmenter_packet(struct cmaf_segmenter *s, const struct cmaf_sample *sample,
                          const void *data, size_t bytes, usec_t wall)
{
    return add(s, sample, NULL, data, bytes, wall);
}

void cmaf_segmenter_end(struct cmaf_segmenter *s)
{
    end_segment(s);
}
