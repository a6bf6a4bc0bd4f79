// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/qoe/av_offset.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void av_offset_add(struct av_offset *o, usec_t offset)
{
    o->us[o->samples++ % AV_OFFSET_SAMPLES] = offset;
}

static void drop(struct av_offset_marks *m, int i)
{
    m->count--;
    memmove(&m->at[i], &m->at[i + 1], (size_t)(m->count - i) * sizeof(m->at[0]));
}

static int nearest(const struct av_offset_marks *m, usec_t at)
{
    int best = -1;
    for (int i = 0; i < m->count; i++)
        if (llabs(m->at[i] - at) <= AV_OFFSET_NEAR &&
            (best < 0 || llabs(m->at[i] - at) < llabs(m->at[best] - at)))
            best = i;
    return best;
}

// Pairs the mark with its counterpart. If there is none yet, queues it and returns false.
static bool match(struct av_offset_marks *others, struct av_offset_marks *own, usec_t at,
                  usec_t *other)
{
    int i = nearest(others, at);
    if (i >= 0) {
        *other = others->at[i];
        drop(others, i);
        return true;
    }
    if (own->count == AV_OFFSET_WAITING)
        drop(own, 0);
    own->at[own->count++] = at;
    return false;
}

void av_offset_flash(struct av_offset *o, usec_t shown_at)
{
    usec_t heard_at;
    if (match(&o->beeps, &o->flashes, shown_at, &heard_at))
        av_offset_add(o, heard_at - shown_at);
}

void av_offset_beep(struct av_offset *o, usec_t heard_at)
{
    usec_t shown_at;
    if (match(&o->flashes, &o->beeps, heard_at, &shown_at))
        av_offset_add(o, heard_at - shown_at);
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// Returns the smallest value v such that at least the fraction `q` of all values is <= v.
static double quantile(const int64_t *sorted, int count, double q)
{
    int i = (int)ceil(q * count) - 1;
    return (double)sorted[i < 0 ? 0 : i] / 1e3;
}

void av_offset_read(const struct av_offset *o, struct av_offset_figures *out)
{
    int count = o->samples < AV_OFFSET_SAMPLES ? (int)o->samples : AV_OFFSET_SAMPLES;
    *out = (struct av_offset_figures){.samples = (double)o->samples,
                                      .mean = NAN,
                                      .min = NAN,
                                      .p5 = NAN,
                                      .p50 = NAN,
                                      .p95 = NAN,
                                      .max = NAN,
                                      .abs_p95 = NAN};
    int64_t *sorted = count ? malloc((size_t)count * sizeof(*sorted)) : NULL;
    if (!sorted)
        return;
    memcpy(sorted, o->us, (size_t)count * sizeof(*sorted));
    qsort(sorted, (size_t)count, sizeof(*sorted), compare);
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += (double)sorted[i];
    out->mean = sum / count / 1e3;
    out->min = quantile(sorted, count, 0);
    out->p5 = quantile(sorted, count, 0.05);
    out->p50 = quantile(sorted, count, 0.5);
    out->p95 = quantile(sorted, count, 0.95);
    out->max = quantile(sorted, count, 1);
    for (int i = 0; i < count; i++)
        sorted[i] = llabs(sorted[i]);
    qsort(sorted, (size_t)count, sizeof(*sorted), compare);
    out->abs_p95 = quantile(sorted, count, 0.95);
    free(sorted);
}
