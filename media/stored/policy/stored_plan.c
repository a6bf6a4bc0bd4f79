// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/stored/policy/stored_plan.h"

#include <math.h>

#include "common/base/err.h"

static int64_t gcd(int64_t a, int64_t b)
{
    return b ? gcd(b, a % b) : a;
}

// Returns the number of source frames after which a size's pattern repeats; a result above
// STORED_MAX_GOP is too large to use.
static int64_t period_of(const struct size_spec *size, struct fps source)
{
    int64_t taken =
        (int64_t)size->fps.num * source.den; // frames that the size has of every `of` source frames
    int64_t of = (int64_t)size->fps.den * source.num;
    int64_t both = gcd(taken, of);
    int64_t layers = 1 << (size->layers - 1);
    return of / both > STORED_MAX_GOP ? of / both
                                      : of / both * (layers / gcd(taken / both, layers));
}

// Returns the number of nodes before `r` in the pre-order of the binary tree of 1 .. period - 1.
static int rank_of(int r, int period)
{
    int rank = 0;
    for (int low = 0, high = period, mid = period / 2; mid != r; mid = (low + high) / 2) {
        if (r < mid) {
            high = mid;
            rank++;
        } else {
            rank += mid - low;
            low = mid;
        }
    }
    return rank;
}

// Returns the position in decoding order of the m-th of a group's `count` frames.
static int turn_of(int m, int layers, int count)
{
    int period = 1 << (layers - 1);
    int base = m / period * period, r = m - base;
    if (r == 0)
        return m == 0 ? 0 : m - period + 1;
    bool tail = base + period >= count; // no frame of T0 follows
    return base + rank_of(r, period) + (tail ? 1 : 2);
}

static void fill_size(struct stored_shape *s, const struct ladder *ladder, int size_id)
{
    const struct size_spec *size = &ladder->sizes[size_id];
    struct stored_place *places = s->places[size_id];
    int16_t *decoded = s->decoded[size_id];
    int16_t shown[STORED_MAX_GOP]; // places of the size's frames
    int count = 0;
    for (int at = 0; at < s->frames; at++) {
        places[at] = (struct stored_place){.depends = STORED_NO_FRAME};
        decoded[at] = STORED_NO_FRAME;
        if (size_index_of_frame(size->fps, ladder->source_fps, at) >= 0)
            shown[count++] = (int16_t)at;
    }
    for (int m = 0; m < count; m++)
        decoded[shown[turn_of(m, size->layers, count)]] = shown[m];
    // newest[t]: slot of the last decoded frame with a temporal id of at most t
    int16_t newest[LEVEL_MAX_LAYERS] = {0};
    bool begun = false;
    for (int m = 0; m < count; m++) {
        int16_t slot = shown[m], at = decoded[slot];
        int64_t index = size_index_of_frame(size->fps, ladder->source_fps, at);
        int t = layer_temporal_id(index, size->layers);
        int on = begun ? decoded[newest[t > 0 ? t - 1 : 0]] : -1;
        places[at] = (struct stored_place){(int16_t)on, (int16_t)t, slot};
        for (int above = t; above < LEVEL_MAX_LAYERS; above++)
            newest[above] = slot;
        begun = true;
    }
}

void stored_shape_init(struct stored_shape *s, const struct ladder *ladder, int frames)
{
    s->frames = frames;
    for (int i = 0; i < ladder->size_count; i++)
        fill_size(s, ladder, i);
}

int stored_plan_seconds(const struct ladder *ladder)
{
    enum { LARGE = 1920 * 1088 }; // pixels
    return (int64_t)ladder->source_width * ladder->source_height > LARGE ? 1 : 2;
}

int stored_plan_init(struct stored_plan *p, const struct ladder *ladder)
{
    int64_t period = 1;
    for (int i = 0; i < ladder->size_count; i++) {
        int64_t own = period_of(&ladder->sizes[i], ladder->source_fps);
        if (own > STORED_MAX_GOP)
            return ERR_RANGE;
        period = period / gcd(period, own) * own;
        if (period > STORED_MAX_GOP)
            return ERR_RANGE;
    }
    int64_t periods =
        llround(stored_plan_seconds(ladder) * fps_value(ladder->source_fps) / (double)period);
    p->period = (int)period;
    p->gop = (int)(period * (periods < 1 ? 1 : periods));
    if (p->gop > STORED_MAX_GOP)
        return ERR_RANGE;
    stored_shape_init(&p->full, ladder, p->gop);
    p->last_group = -1;
    return 0;
}

void stored_plan_end(struct stored_plan *p, const struct ladder *ladder, int64_t frames)
{
    p->last_group = frames / p->gop;
    stored_shape_init(&p->last, ladder, (int)(frames % p->gop));
}

const struct stored_shape *stored_plan_shape(const struct stored_plan *p, int64_t group)
{
    return group == p->last_group ? &p->last : &p->full;
}

bool stored_shape_needs(const struct stored_shape *s, int size_id, int target, int at)
{
    int on = s->places[size_id][target].depends == STORED_NO_FRAME ? -1 : target;
    while (on >= 0 && on != at)
        on = s->places[size_id][on].depends;
    return on == at;
}

int stored_shape_at_level(const struct stored_shape *s, const struct level *level, int target)
{
    const struct stored_place *places = s->places[level->size_id];
    while (target >= 0 && (places[target].depends == STORED_NO_FRAME ||
                           places[target].temporal_id > level->temporal_id))
        target--;
    if (target >= 0)
        return target;
    while (places[++target].depends == STORED_NO_FRAME)
        ;
    return target;
}
