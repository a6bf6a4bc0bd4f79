// SPDX-License-Identifier: GPL-2.0-or-later
// A histogram of non-negative durations in fixed memory: exact count, mean, deviation, minimum and
// maximum; quantiles within 1/128 (0.8 %) of the value. Buckets are linear below 128 us, then 64
// per doubling (the layout of HdrHistogram).
#ifndef WEIR_BASE_HIST_H
#define WEIR_BASE_HIST_H

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define HIST_LINEAR 128
#define HIST_STEPS  64
// Buckets cover values up to 2^42 us (50 days); larger values count in the last bucket.
#define HIST_BUCKETS (HIST_LINEAR + HIST_STEPS * (42 - 7))

struct hist {
    uint64_t count;
    double sum;
    double sum_squares;
    usec_t min;
    usec_t max;
    uint32_t buckets[HIST_BUCKETS];
};

void hist_init(struct hist *h);
// Negative values count as 0 (the clocks of two machines may disagree slightly).
void hist_add(struct hist *h, usec_t value);
// These return NaN while count == 0. A quantile `q` in [0, 1] is the smallest value v such that at
// least the share q of all values is <= v.
double hist_mean_us(const struct hist *h);
double hist_stddev_us(const struct hist *h);
double hist_quantile_us(const struct hist *h, double q);
double hist_max_us(const struct hist *h);

DECLS_END
#endif
