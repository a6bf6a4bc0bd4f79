// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/stored_plan.h"

#include <math.h>

#include "common/base/err.h"

static int64_t gcd(int64_t a, int64_t b)
{
    return b ? gcd(b, a % b) : a;
}

// Source frames after which a size's pattern repeats; above STORED_MAX_GOP: too many.
static int64_t period_of(const struct size_spec *size, struct fps source)
{
    int64_t taken = (int64_t)size->fps.num * source.den; // of every `of` source frames
    int64_t of = (int64_t)size->fps.den * source.num;
    int64_t both = gcd(taken, of);
    int64_t layers = 1 << (size->layers - 1);
    return of / both > STORED_MAX_GOP ? of / both
                                      : of / both * (layers / gcd(taken / both, layers));
}

static void fill(struct stored_plan *p, const struct ladder *ladder, int size_id)
{
    const struct size_spec *size = &ladder->sizes[size_id];
    int newest[LEVEL_MAX_LAYERS]; // place of each temporal id
    for (int t = 0; t < LEVEL_MAX_LAYERS; t++)
        newest[t] = -1;
    for (int at = 0; at < p->gop; at++) {
        struct stored_place *place = &p->sizes[size_id][at];
        int64_t index = size_index_of_frame(size->fps, ladder->source_fps, at);
        *place = (struct stored_place){.depends = STORED_NO_FRAME};
        if (index < 0)
            continue;
        int t = layer_temporal_id(index, size->layers);
        int on = newest[0];
        for (int lower = 1; lower < t; lower++)
            on = newest[lower] > on ? newest[lower] : on;
        *place = (struct stored_place){.depends = (int16_t)on, .temporal_id = (int16_t)t};
        newest[t] = at;
    }
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
    int64_t periods = llround(STORED_GOP_SECONDS * fps_value(ladder->source_fps) / (double)period);
    p->period = (int)period;
    p->gop = (int)(period * (periods < 1 ? 1 : periods));
    if (p->gop > STORED_MAX_GOP)
        return ERR_RANGE;
    for (int i = 0; i < ladder->size_count; i++)
        fill(p, ladder, i);
    return 0;
}

bool stored_plan_needs(const struct stored_plan *p, int size_id, int target, int at)
{
    int on = p->sizes[size_id][target].depends == STORED_NO_FRAME ? -1 : target;
    while (on > at)
        on = p->sizes[size_id][on].depends;
    return on == at;
}

int stored_plan_at_level(const struct stored_plan *p, const struct level *level, int target)
{
    const struct stored_place *places = p->sizes[level->size_id];
    while (target >= 0 && (places[target].depends == STORED_NO_FRAME ||
                           places[target].temporal_id > level->temporal_id))
        target--;
    if (target >= 0)
        return target;
    while (places[++target].depends == STORED_NO_FRAME)
        ;
    return target;
}
