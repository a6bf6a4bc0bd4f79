// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/level.h"

// Bounds of values from outside. The terms of a rate are bounded so that the product of two terms
// fits in 64 bits.
enum { MAX_DIMENSION = 16384, MAX_FPS = 1000, MAX_FPS_TERM = 1000000000 };

// Returns floor(n f / s): how many of the source's first n frames the size takes.
static int64_t frames_taken(struct fps f, struct fps s, __int128 n)
{
    return (int64_t)(n * ((int64_t)f.num * s.den) / ((int64_t)f.den * s.num));
}

int64_t size_index_of_frame(struct fps size, struct fps source, int64_t n)
{
    int64_t before = frames_taken(size, source, n);
    int64_t after = frames_taken(size, source, (__int128)n + 1);
    return after > before ? after - 1 : -1;
}

int layer_temporal_id(int64_t m, int layers)
{
    unsigned k = (unsigned)m & ((1u << (layers - 1)) - 1);
    return k == 0 ? 0 : layers - 1 - __builtin_ctz(k);
}

bool level_has_frame(const struct ladder *ladder, int l, int64_t n)
{
    const struct level *level = &ladder->levels[l];
    const struct size_spec *size = &ladder->sizes[level->size_id];
    int64_t m = size_index_of_frame(size->fps, ladder->source_fps, n);
    return m >= 0 && layer_temporal_id(m, size->layers) <= level->temporal_id;
}

double level_frame_rate(const struct ladder *ladder, int l)
{
    const struct level *level = &ladder->levels[l];
    const struct size_spec *size = &ladder->sizes[level->size_id];
    return fps_value(size->fps) / (1 << (size->layers - 1 - level->temporal_id));
}

static bool fps_is_valid(struct fps f)
{
    return f.num > 0 && f.den > 0 && f.num <= MAX_FPS_TERM && f.den <= MAX_FPS_TERM &&
           f.num <= (int64_t)MAX_FPS * f.den;
}

static bool dimension_is_valid(int pixels)
{
    return pixels > 0 && pixels <= MAX_DIMENSION && pixels % 2 == 0;
}

static bool size_is_valid(const struct size_spec *s, struct fps source)
{
    return dimension_is_valid(s->width) && dimension_is_valid(s->height) && fps_is_valid(s->fps) &&
           (int64_t)s->fps.num * source.den <= (int64_t)s->fps.den * source.num && s->layers >= 1 &&
           s->layers <= LEVEL_MAX_LAYERS;
}

// Returns true if both sizes have the same frames, of the same layers.
static bool is_same_pattern(const struct size_spec *a, const struct size_spec *b)
{
    return a->fps.num == b->fps.num && a->fps.den == b->fps.den && a->layers == b->layers;
}

bool ladder_is_valid(const struct ladder *ladder)
{
    if (!fps_is_valid(ladder->source_fps) || !dimension_is_valid(ladder->source_width) ||
        !dimension_is_valid(ladder->source_height) || ladder->size_count < 1 ||
        ladder->size_count > LADDER_MAX_SIZES || ladder->level_count < 1 ||
        ladder->level_count > LADDER_MAX_LEVELS)
        return false;
    for (int i = 0; i < ladder->size_count; i++)
        if (!size_is_valid(&ladder->sizes[i], ladder->source_fps))
            return false;
    for (int i = 1; ladder->cumulative && i < ladder->size_count; i++)
        if (!is_same_pattern(&ladder->sizes[i], &ladder->sizes[0]))
            return false;
    // Highest layer seen per size; a size's bitrates ascend with its layers.
    int top_layer[LADDER_MAX_SIZES];
    for (int i = 0; i < ladder->size_count; i++)
        top_layer[i] = -1;
    int bitrate_bps = 0;
    for (int i = 0; i < ladder->level_count; i++) {
        const struct level *l = &ladder->levels[i];
        if (l->size_id < 0 || l->size_id >= ladder->size_count ||
            l->temporal_id <= top_layer[l->size_id] ||
            l->temporal_id >= ladder->sizes[l->size_id].layers || l->bitrate_bps <= bitrate_bps)
            return false;
        top_layer[l->size_id] = l->temporal_id;
        bitrate_bps = l->bitrate_bps;
    }
    return true;
}

int ladder_size_bitrate(const struct ladder *ladder, int size_id)
{
    int bitrate_bps = 0;
    for (int i = 0; i < ladder->level_count; i++)
        if (ladder->levels[i].size_id == size_id) // ascending order: the last match is the highest
            bitrate_bps = ladder->levels[i].bitrate_bps;
    return bitrate_bps;
}
