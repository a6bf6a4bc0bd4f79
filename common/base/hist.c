// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/hist.h"

#include <math.h>
#include <string.h>

void hist_init(struct hist *h)
{
    memset(h, 0, sizeof(*h));
}

static int bucket_of(usec_t v)
{
    if (v < HIST_LINEAR)
        return (int)v;
    int log2 = 63 - __builtin_clzll((unsigned long long)v);
    if (log2 >= 42)
        return HIST_BUCKETS - 1;
    int step = (int)((v >> (log2 - 6)) & (HIST_STEPS - 1));
    return HIST_LINEAR + (log2 - 7) * HIST_STEPS + step;
}

// Returns the middle of bucket `i`.
static double bucket_value(int i)
{
    if (i < HIST_LINEAR)
        return i;
    int log2 = 7 + (i - HIST_LINEAR) / HIST_STEPS;
    int step = (i - HIST_LINEAR) % HIST_STEPS;
    double width = ldexp(1, log2 - 6);
    return ldexp(1, log2) + (step + 0.5) * width;
}

void hist_add(struct hist *h, usec_t value)
{
    if (value < 0)
        value = 0;
    if (h->count == 0 || value < h->min)
        h->min = value;
    if (h->count == 0 || value > h->max)
        h->max = value;
    h->count++;
    h->sum += (double)value;
    h->sum_squares += (double)value * (double)value;
    h->buckets[bucket_of(value)]++;
}

double hist_mean_us(const struct hist *h)
{
    return h->count ? h->sum / (double)h->count : NAN;
}

double hist_stddev_us(const struct hist *h)
{
    if (!h->count)
        return NAN;
    double mean = hist_mean_us(h);
    double variance = h->sum_squares / (double)h->count - mean * mean;
    return variance > 0 ? sqrt(variance) : 0;
}

double hist_quantile_us(const struct hist *h, double q)
{
    if (!h->count)
        return NAN;
    double wanted = ceil(q * (double)h->count);
    if (wanted < 1)
        wanted = 1;
    uint64_t seen = 0;
    for (int i = 0; i < HIST_BUCKETS; i++) {
        seen += h->buckets[i];
        if ((double)seen >= wanted)
            return fmin(fmax(bucket_value(i), (double)h->min), (double)h->max);
    }
    return (double)h->max;
}

double hist_max_us(const struct hist *h)
{
    return h->count ? (double)h->max : NAN;
}
