// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/scale.h"

#include <math.h>

double scale_nearest(double requested)
{
    static const double scales[] = {1, 2, 4, 8, -2, -4, -8};
    double nearest = 1;
    for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++)
        if (fabs(scales[i] - requested) < fabs(nearest - requested))
            nearest = scales[i];
    return nearest;
}

static bool is_base(const struct scale_group *g, int place)
{
    const struct stored_place *p = &g->shape->places[g->size_id][place];
    return p->depends != STORED_NO_FRAME && p->temporal_id == 0;
}

// Returns the place of the first frame of layer 0 from `from` on.
static int next_base(const struct scale_group *g, int from)
{
    while (from < g->shape->frames && !is_base(g, from))
        from++;
    return from;
}

// Returns the place of the first frame that is not sent of those that follow the key frame.
static int take_base(struct scale_budget *b, const struct scale_group *g)
{
    int all = 0, taken = 0, end = g->shape->frames;
    double bytes = 0;
    for (int at = next_base(g, 1); at < g->shape->frames; at = next_base(g, at + 1), all++) {
        double more = (double)g->bytes(g->ctx, g->size_id, at);
        if (end == g->shape->frames && bytes + more > b->credit)
            end = at;
        if (end < g->shape->frames)
            continue;
        bytes += more;
        taken++;
    }
    if (2 * taken < all)
        return 1;
    b->credit -= bytes;
    return end;
}

int scale_budget_take(struct scale_budget *b, const struct scale_group *g)
{
    if (g->bps <= 0) // no credit would ever be added
        return 1;
    double rate = g->bps / 8.0;
    double key = (double)g->bytes(g->ctx, g->size_id, 0);
    double most = rate * usec_to_sec(SCALE_MAX_CREDIT);
    bool is_full = b->credit >= most;
    b->credit = fmin(b->credit, most) + rate * usec_to_sec(g->length) / fabs(g->scale);
    if (b->began && key > b->credit && !is_full)
        return 0;
    b->began = true;
    b->credit -= key;
    // Frames closer together than those of normal play would be shown as fast as no screen needs.
    bool is_dense = next_base(g, 1) < g->scale;
    return g->scale < 0 || is_dense ? 1 : take_base(b, g);
}
