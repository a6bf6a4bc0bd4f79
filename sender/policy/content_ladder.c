// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/content_ladder.h"

#include <math.h>
#include <stdbool.h>

#include "common/base/err.h"

#define FIXED_USED                                                                                 \
    0.94 // of a rate of the fixed ladder: a group is within 12 % below (stored_rate.h)
#define BIT_PIXELS   4.0     // a coded bit costs an encoder as much as so many pixels
#define EXTRAPOLATED 2.0     // max. ratio of a rate to the nearest measured one
#define ALIKE_DB     0.1     // the smaller one of two sizes whose qualities differ by less is used
#define GAIN_MIN     0.3     // of a level above the next lower one, in dB
#define BULGE_MAX    0.4     // see smooth
#define GAP_MAX      3.2     // ratio of two neighbours' rates, about, up to which levels go
#define STRIDE       1.01    // of the rates along which the steps are counted
#define LOWEST_MIN   16000.0 // of a film that needs little
#define RANGE_MIN    3.0     // min. ratio of the rates of the top and the lowest level
#define QUANT_MIN    12.0
#define QUANT_MAX    51.0

enum { MAX_LEVELS = LADDER_MAX_SIZES }; // each has a size of its own

struct choice {
    int size; // index into the table
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

// Returns the lowest rate up to `most` at which the size has the quality; `most`: there is none.
static double rate_for(const struct content_size *s, double db, double most)
{
    double low = s->points[0].bps / EXTRAPOLATED, high = most;
    for (int i = 0; i < 40 && low < high; i++) {
        double middle = sqrt(low * high);
        *(quality_at(s, middle) < db ? &low : &high) = middle;
    }
    return high;
}

// Returns the lowest rate up to `most` at which the size has a quantiser this fine; `most`: there
// is none.
static double rate_of_quant(const struct content_size *s, double quant, double most)
{
    double low = s->points[0].bps / EXTRAPOLATED, high = most;
    for (int i = 0; i < 40 && low < high; i++) {
        double middle = sqrt(low * high);
        *(quant_at(s, middle) > quant ? &low : &high) = middle;
    }
    return high;
}

// Returns the size that looks best at a rate, but not as good as `limit` dB; size -1: none such was
// measured near that rate.
static struct choice best_at(const struct content_table *t, double bps, double limit)
{
    struct choice best = {.size = -1, .bps = bps, .db = -INFINITY};
    for (int i = 0; i < t->count; i++) {
        double db = quality_at(&t->sizes[i], bps);
        if (db < limit && db > best.db + (best.size < 0 ? 0 : ALIKE_DB))
            best = (struct choice){i, bps, db};
    }
    return best;
}

static double cost_of_size(const struct size_spec *s, double bps)
{
    return (double)s->width * s->height * fps_value(s->fps) + BIT_PIXELS * bps;
}

static double cost_of(const struct content_table *t, const struct choice *c)
{
    return cost_of_size(&t->sizes[c->size].spec, c->bps);
}

static double cost_of_all(const struct content_table *t, const struct choice c[], int count)
{
    double cost = 0;
    for (int i = 0; i < count; i++)
        cost += cost_of(t, &c[i]);
    return cost;
}

static double cost_of_fixed(const struct ladder *l)
{
    double cost = 0;
    for (int i = 0; i < l->size_count; i++)
        cost += cost_of_size(&l->sizes[i], ladder_size_bitrate(l, i));
    return cost;
}

// Returns the number of steps from one rate to the next, STRIDE higher one, a part of one: by
// quality or, where it hardly grows, by the rate.
static double steps_within(const struct content_table *t, double bps)
{
    double gain =
        (best_at(t, bps * STRIDE, INFINITY).db - best_at(t, bps, INFINITY).db) / CONTENT_STEP_DB;
    double most = log(STRIDE) / log(CONTENT_APART), least = log(STRIDE) / log(CONTENT_STEP_RATE);
    return fmin(fmax(gain, least), most);
}

static double steps_between(const struct content_table *t, double low, double high)
{
    double sum = 0;
    for (double bps = low; bps < high; bps *= STRIDE)
        sum += steps_within(t, bps);
    return sum;
}

// Places levels at so many equal steps from the lowest, which stands in c[0], to the top, which
// becomes the last one. Returns their number.
static int place(const struct content_table *t, struct choice c[], struct choice top, int steps)
{
    double total = steps_between(t, c[0].bps, top.bps), passed = 0;
    int count = 1;
    for (double bps = c[0].bps; bps < top.bps && count < steps; bps *= STRIDE) {
        passed += steps_within(t, bps);
        struct choice next = best_at(t, bps * STRIDE, top.db - GAIN_MIN);
        if (passed >= total * count / steps && next.db > c[count - 1].db + GAIN_MIN)
            c[count++] = next;
    }
    c[count++] = top;
    return count;
}

static void take_out(struct choice c[], int *count, int at)
{
    --*count;
    for (int i = at; i < *count; i++)
        c[i] = c[i + 1];
}

// Returns how much better a level looks than its neighbours let expect: the distance from their
// line, in dB.
static double bulge(const struct choice *c)
{
    double part = log(c->bps / c[-1].bps) / log(c[1].bps / c[-1].bps);
    return c->db - (c[-1].db + part * (c[1].db - c[-1].db));
}

static bool may_go(const struct choice *c)
{
    return c[1].bps <= GAP_MAX * c[-1].bps;
}

// Gives one level below the top a smaller size: the one that loses the least
// quality for the cost that is saved. Returns false if none can have one.
static bool save(const struct content_table *t, struct choice c[], int count)
{
    int at = -1;
    double least = INFINITY;
    struct choice smaller = {.size = -1};
    for (int i = 0; i < count - 1; i++)
        for (int size = 0; size < c[i].size; size++) {
            struct choice to = {size, c[i].bps, quality_at(&t->sizes[size], c[i].bps)};
            double loss = (c[i].db - to.db) / (cost_of(t, &c[i]) - cost_of(t, &to));
            if ((i == 0 || to.db > c[i - 1].db + GAIN_MIN) && loss < least) {
                least = loss;
                at = i;
                smaller = to;
            }
        }
    if (at >= 0)
        c[at] = smaller;
    return at >= 0;
}

// Takes out levels that look much worse than their neighbours let expect.
static void smooth(struct choice c[], int *count)
{
    for (int i = 1; i < *count - 1;)
        if (may_go(&c[i]) && bulge(&c[i]) < -BULGE_MAX)
            take_out(c, count, i);
        else
            i++;
}

static void add_size(struct content_ladder *out, const struct content_size *s, double bps)
{
    struct ladder *l = &out->ladder;
    int id = l->size_count++;
    l->sizes[id] = s->spec;
    l->levels[l->level_count++] =
        (struct level){id, s->spec.layers - 1, (int)lround(bps * CONTENT_PEAK / 1000) * 1000};
    out->finest[id] = quant_at(s, bps);
}

int content_ladder_choose(const struct content_table *t, const struct ladder *fixed,
                          struct content_ladder *out)
{
    struct choice c[MAX_LEVELS];
    const struct content_size *largest = &t->sizes[t->count - 1];
    double most = ladder_size_bitrate(fixed, fixed->size_count - 1) * FIXED_USED;
    double bps = fmax(rate_for(largest, db_of(CONTENT_TOP_SSIM), most),
                      rate_of_quant(largest, CONTENT_TOP_QUANT, most));
    bps = fmax(bps, fmin(LOWEST_MIN * RANGE_MIN / CONTENT_PEAK, most));
    struct choice top = {t->count - 1, bps, quality_at(largest, bps)};
    double known = INFINITY; // the lowest rate at which a quality is known
    for (int i = 0; i < t->count; i++)
        known = fmin(known, t->sizes[i].points[0].bps / EXTRAPOLATED);
    double low = fmin(CONTENT_LOWEST_BPS, fmax(LOWEST_MIN, bps * CONTENT_PEAK / RANGE_MIN));
    low = fmax(low / CONTENT_PEAK, known);
    c[0] = best_at(t, low, top.db - GAIN_MIN);
    if (c[0].size < 0 || low * CONTENT_APART > bps)
        return ERR_RANGE;
    // Fewer steps are cheaper, until they are too wide; then smaller sizes are.
    double budget = CONTENT_BUDGET * cost_of_fixed(fixed);
    int steps = (int)fmin(fmax(round(steps_between(t, c[0].bps, bps)), 1), MAX_LEVELS - 1);
    int least = (int)ceil(log(bps / c[0].bps) / log(GAP_MAX));
    int count = place(t, c, top, steps);
    while (cost_of_all(t, c, count) > budget && steps > least)
        count = place(t, c, top, --steps);
    while (cost_of_all(t, c, count) > budget && save(t, c, count))
        ;
    smooth(c, &count);
    struct content_ladder made = {.ladder = *fixed};
    made.ladder.size_count = made.ladder.level_count = 0;
    for (int i = 0; i < count; i++)
        add_size(&made, &t->sizes[c[i].size], c[i].bps);
    if (!ladder_is_valid(&made.ladder))
        return ERR_RANGE;
    *out = made;
    return 0;
}
