// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rewind/policy/past_numbers.h"

#include <math.h>

enum { STEP_MAX = 100000 };

// Returns the number of the source's frame that is the size's frame `m`: the least n with
// floor((n + 1) f / s) > m.
static int64_t number_of(const struct past_numbers *n, int64_t m)
{
    int64_t up = (int64_t)n->source.num * n->size.fps.den;
    int64_t down = (int64_t)n->source.den * n->size.fps.num;
    return ((m + 1) * up + down - 1) / down - 1;
}

void past_numbers_init(struct past_numbers *n, const struct ladder *ladder, int size_id,
                       int64_t next)
{
    *n = (struct past_numbers){.source = ladder->source_fps, .size = ladder->sizes[size_id]};
    double ratio = fps_value(n->size.fps) / fps_value(n->source);
    n->at = (int64_t)((double)next * ratio) - 2;
    n->at = n->at < -1 ? -1 : n->at;
    while (number_of(n, n->at + 1) < next)
        n->at++;
}

struct past_number past_numbers_take(struct past_numbers *n, bool key, bool is_referenced,
                                     usec_t wall)
{
    int layers = n->size.layers;
    int64_t period = (int64_t)1 << (layers - 1);
    double step = round((double)(wall - n->wall) / 1e6 * fps_value(n->size.fps));
    struct past_number out = {.depends_on = -1};
    n->wall = wall;
    if (key) {
        n->at = (n->at + period) / period * period; // the next multiple; the first one is 0
        n->is_flat = false;
        for (int i = 0; i < LEVEL_MAX_LAYERS; i++)
            n->newest[i] = -1;
    } else {
        n->at += (int64_t)fmin(fmax(step, 1), STEP_MAX);
        out.temporal_id = layer_temporal_id(n->at, layers);
        bool is_top = layers > 1 && out.temporal_id == layers - 1;
        n->is_flat = n->is_flat || (layers > 1 && is_top == is_referenced);
        if (n->is_flat)
            out.temporal_id = 0;
        int below = n->is_flat ? layers - 1 : out.temporal_id > 0 ? out.temporal_id - 1 : 0;
        for (int i = 0; i <= below; i++)
            out.depends_on = n->newest[i] > out.depends_on ? n->newest[i] : out.depends_on;
    }
    out.number = number_of(n, n->at);
    n->newest[out.temporal_id] = out.number;
    return out;
}
