// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/abr/abr_optimum.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/err.h"

#define GRID       (20 * USEC_PER_MSEC)
#define START      USEC_PER_SEC
#define FIRST_STEP 0.25 // seconds of stall

enum { DOUBLINGS = 12 };

struct problem {
    const struct abr_film *film;
    const struct rate_trace *trace;
    usec_t target;
    usec_t begin; // of the first request's first byte
    usec_t start; // of playing
    // Values of the group before by level and time at which it was whole: `width` times from
    // `from` on. Owned.
    float *values;
    float *chosen; // the best of these for each level of this group. Owned.
    int64_t from, width, capacity;
    double *carried; // bytes that the path has carried by each time. Owned.
    int64_t carried_count;
};

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

// Returns how long playing must have stalled by the end at the lowest level.
static double min_stall(const struct problem *p)
{
    const struct film_table *t = p->film->table;
    double before = rate_trace_bytes(p->trace, p->begin);
    usec_t stall = 0;
    for (int64_t g = 0; g < p->film->groups; g++) {
        before += (double)abr_film_bytes(p->film, g, 0);
        usec_t whole = rate_trace_time(p->trace, before);
        usec_t end = p->start + film_table_start(t, g + 1);
        stall = usec_max(stall, whole - end);
        // A request waits for room.
        usec_t room = p->start + film_table_start(t, g + 1) - p->target;
        before = fmax(before, rate_trace_bytes(p->trace, usec_max(room, 0)));
    }
    return usec_to_sec(stall);
}

static void maximum(float *restrict best, const float *restrict value, float less, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        float other = value[i] - less;
        best[i] = best[i] > other ? best[i] : other;
    }
}

// For each level of the next group: the best value of the groups before it, the change included.
static void change_levels(struct problem *p)
{
    int levels = p->film->levels;
    for (int to = 0; to < levels; to++) {
        float *best = p->chosen + to * p->capacity;
        for (int64_t i = 0; i < p->width; i++)
            best[i] = -INFINITY;
        for (int from = 0; from < levels; from++) {
            const float *value = p->values + from * p->capacity;
            float change =
                (float)abs(p->film->bitrates_bps[to] - p->film->bitrates_bps[from]) / 1e6F;
            maximum(best, value, change, p->width);
        }
    }
}

// Group `g` at `level` begins at each time of the window before it. Times below `earliest` count as
// that; what is whole after the new window's end comes too late.
static void fetch(struct problem *p, int64_t g, int level, int64_t from, int64_t width, float *out)
{
    const float *best = p->chosen + level * p->capacity;
    double bytes = (double)abr_film_bytes(p->film, g, level);
    float utility = (float)p->film->bitrates_bps[level] / 1e6F;
    usec_t room = p->start + film_table_start(p->film->table, g + 1) - p->target;
    int64_t earliest = max64(room / GRID, 0);
    for (int64_t i = 0; i < width; i++)
        out[i] = -INFINITY;
    int64_t whole = 0; // ascends with the time of the request
    for (int64_t i = 0; i < p->width; i++) {
        int64_t at = max64(p->from + i, earliest);
        if (!isfinite(best[i]) || at >= p->carried_count)
            continue;
        double after = p->carried[at] + bytes;
        whole = max64(whole, at);
        while (whole + 1 < p->carried_count && p->carried[whole + 1] < after)
            whole++;
        int64_t to = max64(whole - from, 0); // it is whole before the next time of the grid
        if (to >= width)
            break;
        out[to] = out[to] > best[i] + utility ? out[to] : best[i] + utility;
    }
    // An earlier time is as good: the sender may wait. This also closes the gaps of the grid.
    for (int64_t i = 1; i < width; i++)
        out[i] = out[i] > out[i - 1] ? out[i] : out[i - 1];
}

// Returns the best sum of utilities and changes with so much stall; -INFINITY: it is too little.
static double best_film(struct problem *p, double stall_s)
{
    const struct film_table *t = p->film->table;
    usec_t stall = (usec_t)(stall_s * 1e6);
    p->from = p->begin / GRID;
    p->width = 1;
    for (int l = 0; l < p->film->levels; l++)
        p->chosen[l * p->capacity] = 0;
    for (int64_t g = 0; g < p->film->groups; g++) {
        usec_t end = p->start + film_table_start(t, g + 1);
        int64_t from = max64(end - p->target, p->begin) / GRID;
        int64_t width = (end + stall) / GRID + 1 - from;
        for (int l = 0; l < p->film->levels; l++)
            fetch(p, g, l, from, width, p->values + l * p->capacity);
        p->from = from;
        p->width = width;
        change_levels(p);
    }
    double best = -INFINITY;
    for (int l = 0; l < p->film->levels; l++)
        best = fmax(best, p->values[l * p->capacity + p->width - 1]);
    return best;
}

// Computes what the path carries up to the end of the film.
static bool carry(struct problem *p, double stall_s)
{
    usec_t end = p->start + film_table_start(p->film->table, p->film->groups);
    p->carried_count = (end + (usec_t)(stall_s * 1e6)) / GRID + 2;
    free(p->carried);
    p->carried = malloc((size_t)p->carried_count * sizeof(*p->carried));
    for (int64_t i = 0; i < p->carried_count && p->carried; i++)
        p->carried[i] = rate_trace_bytes(p->trace, i * GRID);
    return p->carried != NULL;
}

static int allocate(struct problem *p, double stall_s)
{
    usec_t length = film_table_length(p->film->table, 0);
    int64_t capacity = (p->target + 2 * length + (usec_t)(stall_s * 1e6)) / GRID + 2;
    if (capacity <= p->capacity)
        return 0;
    free(p->values);
    free(p->chosen);
    size_t cells = (size_t)(capacity * p->film->levels);
    p->values = malloc(cells * sizeof(float));
    p->chosen = malloc(cells * sizeof(float));
    p->capacity = capacity;
    return p->values && p->chosen && carry(p, stall_s) ? 0 : ERR_NO_MEMORY;
}

static int search(struct problem *p, struct abr_optimum *out)
{
    double groups = (double)p->film->groups;
    double cost = p->film->bitrates_bps[p->film->levels - 1] / 1e6;
    double before = out->min_stalled_s;
    double reached = -INFINITY; // with one of the tried stalls
    *out = (struct abr_optimum){.qoe = -INFINITY, .min_stalled_s = before};
    for (int i = 0; i <= DOUBLINGS; i++) {
        double stall = out->min_stalled_s + (i ? FIRST_STEP * exp2(i - 1) : 0);
        int err = allocate(p, stall);
        if (err)
            return err;
        double sum = best_film(p, stall);
        out->qoe = fmax(out->qoe, (sum - cost * before) / groups);
        if (sum - cost * stall > reached) {
            reached = sum - cost * stall;
            out->stalled_s = stall;
        }
        // The top level throughout is the most that a longer stall can give.
        if (cost * groups - cost * stall <= reached)
            break;
        before = stall;
    }
    return 0;
}

int abr_optimum_find(const struct abr_film *film, const struct rate_trace *trace, usec_t rtt,
                     usec_t target, struct abr_optimum *out)
{
    double first = rate_trace_bytes(trace, rtt) + (double)abr_film_bytes(film, 0, 0);
    struct problem p = {.film = film,
                        .trace = trace,
                        .target = target,
                        .begin = rtt,
                        .start = usec_max(START, rate_trace_time(trace, first))};
    *out = (struct abr_optimum){.min_stalled_s = min_stall(&p)};
    int err = search(&p, out);
    free(p.values);
    free(p.chosen);
    free(p.carried);
    return err;
}
