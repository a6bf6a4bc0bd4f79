// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/cmaf/cmaf_grid.h"

#include <assert.h>
#include <math.h>

enum { MIN_TIMESCALE = 12800, MAX_PERIOD = 240, OPEN_PARTS = 1 << 20 };

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// Returns the number of source frames after which the layers of the size repeat.
static int64_t period_of(struct fps source, const struct size_spec *size)
{
    int64_t num = (int64_t)source.num * size->fps.den; // source frames per frame of the size:
    int64_t den = (int64_t)source.den * size->fps.num; // num / den
    return num / gcd(num, den) * ((int64_t)1 << (size->layers - 1));
}

void cmaf_grid_init(struct cmaf_grid *g, const struct ladder *ladder, usec_t segment, usec_t part)
{
    assert(part > 0 && part <= segment);
    int64_t period = 1;
    for (int i = 0; i < ladder->size_count; i++) {
        int64_t of = period_of(ladder->source_fps, &ladder->sizes[i]);
        period = period / gcd(period, of) * of;
        if (period > MAX_PERIOD)
            period = 1; // the pattern repeats too seldom: key frames come some frames late
    }
    *g = (struct cmaf_grid){0};
    double frames = usec_to_sec(segment) * fps_value(ladder->source_fps);
    int64_t periods = llround(frames / (double)period);
    int64_t parts = llround((double)segment / (double)part);
    g->fps = ladder->source_fps;
    g->frames = period * (periods > 0 ? periods : 1);
    g->parts = (int)(parts < CMAF_MAX_PARTS ? parts : CMAF_MAX_PARTS);
    if (g->parts > g->frames)
        g->parts = (int)g->frames;
}

void cmaf_grid_init_open(struct cmaf_grid *g, usec_t part)
{
    *g = (struct cmaf_grid){
        .fps = {USEC_PER_SEC, 1}, .frames = part * OPEN_PARTS, .parts = OPEN_PARTS};
}

void cmaf_grid_move(struct cmaf_grid *g, int64_t segment, int64_t frame)
{
    g->first = segment;
    g->begin = frame;
}

static int64_t frame_of(const struct cmaf_grid *g, struct cmaf_place at)
{
    return g->begin + (at.segment - g->first) * g->frames + at.part * g->frames / g->parts;
}

// Rounds up: a sample belongs to the part if its time is not earlier.
static int64_t time_of(const struct cmaf_grid *g, int64_t frame, uint32_t timescale)
{
    __int128 scaled = (__int128)frame * g->fps.den * timescale;
    return (int64_t)((scaled + g->fps.num - 1) / g->fps.num);
}

int64_t cmaf_grid_time(const struct cmaf_grid *g, struct cmaf_place at, uint32_t timescale)
{
    return time_of(g, frame_of(g, at), timescale);
}

struct cmaf_place cmaf_grid_place(const struct cmaf_grid *g, int64_t time, uint32_t timescale)
{
    assert(time >= 0);
    __int128 frame = (__int128)g->fps.den * timescale; // of a frame, in the same unit as `since`
    __int128 since = (__int128)time * g->fps.num - frame * g->begin;
    struct cmaf_place at = {.segment = g->first +
                                       (int64_t)((since > 0 ? since : 0) / (frame * g->frames))};
    while (at.part + 1 < g->parts &&
           time >= cmaf_grid_time(g, (struct cmaf_place){at.segment, at.part + 1}, timescale))
        at.part++;
    return at;
}

uint32_t cmaf_grid_timescale(const struct cmaf_grid *g)
{
    uint32_t num = (uint32_t)g->fps.num;
    return num >= MIN_TIMESCALE ? num : num * ((MIN_TIMESCALE + num - 1) / num);
}

double cmaf_grid_part_target(const struct cmaf_grid *g, const struct ladder *ladder, int level)
{
    int64_t most = 0;
    for (int part = 0; part < g->parts; part++) {
        int64_t begin = frame_of(g, (struct cmaf_place){1, part});
        int64_t end = frame_of(g, (struct cmaf_place){1, part + 1});
        while (begin < end && !level_has_frame(ladder, level, begin))
            begin++;
        while (end < 3 * g->frames && !level_has_frame(ladder, level, end))
            end++;
        most = end - begin > most ? end - begin : most;
    }
    return (double)most / fps_value(g->fps);
}
