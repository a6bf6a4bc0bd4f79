// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/content_ladder.h"

#include <math.h>
#include <stdbool.h>

#include "common/base/err.h"

#define BIT_PIXELS   4.0  // a coded bit costs an encoder as much as so many pixels
#define EXTRAPOLATED 2.0  // max. ratio of a rate to the nearest measured one
#define REMOVAL      0.25 // loss of a level that goes, as the logarithm of a rate
#define GAP_MAX      2.6  // max. ratio of two rates between which a level goes
#define TOP_MIN      40000.0
#define RANGE_MIN    3.0 // min. ratio of the rates of the top and the lowest level
#define QUANT_MIN    12.0
#define QUANT_MAX    51.0

enum { MAX_STEPS = LADDER_MAX_SIZES - 1 };

struct choice { // a level at its size's full frame rate
    int size;   // index into the table
    double bps;
    double db;
};

static double db_of(double ssim)
{
    return -10 * log10(1 - fmin(fmax(ssim, 0), 0.9999));
}

// Finds the pair of points around a rate, or next to it: returns the first, and in *part the place
// between them, below 0 or above 1 if the rate is outside.
static const struct content_point *around(const struct content_size *s, double bps, double *part)
{
    const struct content_point *p = s->points;
    int i = 0;
    while (i < CONTENT_POINTS - 2 && bps > p[i + 1].bps)
        i++;
    *part = log(bps / p[i].bps) / log(p[i + 1].bps / p[i].bps);
    return &p[i];
}

// Returns the quality of a size; -INFINITY: the rate is too far below those that were measured.
static double quality_at(const struct content_size *s, double bps)
{
    double part;
    if (bps * EXTRAPOLATED < s->points[0].bps)
        return -INFINITY;
    bps = fmin(bps, s->points[CONTENT_POINTS - 1].bps * EXTRAPOLATED);
    const struct content_point *p = around(s, bps, &part);
    return db_of(p[0].ssim) + part * (db_of(p[1].ssim) - db_of(p[0].ssim));
}

static double quant_at(const struct content_size *s, double bps)
{
    double part;
    const struct content_point *p = around(s, bps, &part);
    return fmin(fmax(p[0].quant + part * (p[1].quant - p[0].quant), QUANT_MIN), QUANT_MAX);
}

// Returns the lowest rate up to `most` at which the size has the quality; INFINITY: none.
static double rate_for(const struct content_size *s, double db, double most)
{
    double low = s->points[0].bps / EXTRAPOLATED, high = most;
    if (high <= low || quality_at(s, high) < db)
        return INFINITY;
    for (int i = 0; i < 40; i++) {
        double middle = sqrt(low * high);
        *(quality_at(s, middle) < db ? &low : &high) = middle;
    }
    return high;
}

static double cost_of(const struct size_spec *s, double bps)
{
    return (double)s->width * s->height * fps_value(s->fps) + BIT_PIXELS * bps;
}

static double fixed_cost(const struct ladder *l)
{
    double cost = 0;
    for (int i = 0; i < l->size_count; i++)
        cost += cost_of(&l->sizes[i], ladder_size_bitrate(l, i));
    return cost;
}

static bool is_apart(double low, double high)
{
    return high >= low * CONTENT_APART;
}

// Returns the size that looks best at a rate; size -1: none was measured near it.
static struct choice best_at(const struct content_table *t, double bps)
{
    struct choice best = {.size = -1, .bps = bps, .db = -INFINITY};
    for (int i = 0; i < t->count; i++) {
        double db = quality_at(&t->sizes[i], bps);
        if (db > best.db)
            best = (struct choice){i, bps, db};
    }
    return best;
}

// Returns the size below `limit` that needs the lowest rate for the quality; size -1: none.
static struct choice cheapest(const struct content_table *t, double db, double most, int limit)
{
    struct choice best = {.size = -1, .bps = INFINITY, .db = db};
    for (int i = 0; i < limit; i++) {
        double bps = rate_for(&t->sizes[i], db, most);
        if (bps < best.bps)
            best = (struct choice){i, bps, db};
    }
    return best;
}

static void take_out(struct choice c[], int *count, int at)
{
    --*count;
    for (int i = at; i < *count; i++)
        c[i] = c[i + 1];
}

// Makes one level between the lowest and the top cheaper to encode: the one whose change costs the
// fewest bits. Returns false if none can change without a wide gap.
static bool save(const struct content_table *t, struct choice c[], int *count)
{
    int at = 1;
    double least = INFINITY;
    struct choice changed = {.size = -1};
    for (int i = 1; i < *count - 1; i++) {
        double cost = cost_of(&t->sizes[c[i].size].spec, c[i].bps);
        struct choice to = cheapest(t, c[i].db, c[i + 1].bps / CONTENT_APART, c[i].size);
        double saved = to.size < 0 ? 0 : cost - cost_of(&t->sizes[to.size].spec, to.bps);
        double loss = saved > 0 ? log(to.bps / c[i].bps) / saved : INFINITY;
        bool may_go = c[i + 1].bps <= GAP_MAX * c[i - 1].bps;
        if (may_go && loss > REMOVAL / cost) {
            loss = REMOVAL / cost;
            to.size = -1;
        }
        if (loss < least) {
            least = loss;
            at = i;
            changed = to;
        }
    }
    if (isinf(least))
        return false;
    if (changed.size < 0)
        take_out(c, count, at);
    else
        c[at] = changed;
    return true;
}

static double cost_of_all(const struct content_table *t, const struct choice c[], int count)
{
    double cost = 0;
    for (int i = 0; i < count; i++)
        cost += cost_of(&t->sizes[c[i].size].spec, c[i].bps);
    return cost;
}

static void add_size(struct content_ladder *out, const struct content_size *s, double bps)
{
    struct ladder *l = &out->ladder;
    int id = l->size_count++;
    l->sizes[id] = s->spec;
    l->levels[l->level_count++] =
        (struct level){id, s->spec.layers - 1, (int)lround(bps / 1000) * 1000};
    out->finest[id] = quant_at(s, bps);
}

int content_ladder_choose(const struct content_table *t, const struct ladder *fixed,
                          struct content_ladder *out)
{
    struct choice c[MAX_STEPS + 1];
    const struct content_size *largest = &t->sizes[t->count - 1];
    double cap = CONTENT_TOP_MAX * ladder_size_bitrate(fixed, fixed->size_count - 1);
    double top = rate_for(largest, db_of(CONTENT_TOP_SSIM), cap);
    top = fmin(fmax(isinf(top) ? cap : top, TOP_MIN), cap);
    double top_db = quality_at(largest, top);
    c[0] = best_at(t, fmin(CONTENT_LOWEST_BPS, top / RANGE_MIN));
    if (c[0].size < 0 || !(top_db > c[0].db))
        return ERR_RANGE;
    int steps = (int)lround((top_db - c[0].db) / CONTENT_STEP_DB), count = 1;
    // Where quality hardly grows with the rate, the rates at least double at most.
    steps = (int)fmax(steps, ceil(log2(top / c[0].bps)));
    steps = steps < 1 ? 1 : steps > MAX_STEPS ? MAX_STEPS : steps;
    for (int i = 1; i < steps; i++) {
        double db = c[0].db + (top_db - c[0].db) * i / steps;
        struct choice next = cheapest(t, db, top / CONTENT_APART, t->count);
        if (next.size >= 0 && is_apart(c[count - 1].bps, next.bps))
            c[count++] = next;
    }
    c[count++] = (struct choice){t->count - 1, top, top_db};
    double budget = CONTENT_BUDGET * fixed_cost(fixed);
    while (count > 2 && cost_of_all(t, c, count) > budget && save(t, c, &count))
        ;
    struct content_ladder made = {.ladder = *fixed};
    made.ladder.size_count = made.ladder.level_count = 0;
    double before = 0;
    for (int i = 0; i < count; i++) {
        if (i > 0 && i < count - 1 && !is_apart(before, c[i].bps))
            continue;
        add_size(&made, &t->sizes[c[i].size], c[i].bps);
        before = c[i].bps;
    }
    if (!ladder_is_valid(&made.ladder))
        return ERR_RANGE;
    *out = made;
    return 0;
}
