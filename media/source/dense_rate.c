// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/dense_rate.h"

#include <stdint.h>
#include <stdlib.h>

static const double EQUAL = 0.2;    // of the middle step: stamps in milliseconds, at 120 pictures/s
static const double MOST = 0.75;    // of the steps of a block
static const double CREDIBLE = 300; // a higher rate is one of time stamps that are wrong
static const double CLEARLY = 1.19; // times the container's rate: 30 beside 25

enum { EDGE = DENSE_BLOCK / 8 }; // pictures at each end that may lack neighbours: B frames

static int compare(const void *a, const void *b)
{
    usec_t x = *(const usec_t *)a, y = *(const usec_t *)b;
    return (x > y) - (x < y);
}

// Returns the pictures/s of a whole block, or 0.
static double rate_of(usec_t times[DENSE_BLOCK])
{
    usec_t steps[DENSE_BLOCK];
    int count = 0, equal = 0;
    qsort(times, DENSE_BLOCK, sizeof(*times), compare);
    for (int i = EDGE; i + EDGE + 1 < DENSE_BLOCK; i++)
        steps[count++] = times[i + 1] - times[i];
    qsort(steps, (size_t)count, sizeof(*steps), compare);
    double middle = (double)steps[count / 2], sum = 0;
    for (int i = 0; i < count; i++) {
        double step = (double)steps[i];
        if (step < middle * (1 - EQUAL) || step > middle * (1 + EQUAL))
            continue;
        equal++;
        sum += step;
    }
    double rate = middle > 0 ? equal * (double)USEC_PER_SEC / sum : 0;
    return equal >= count * MOST && rate < CREDIBLE ? rate : 0;
}

void dense_rate_init(struct dense_rate *r)
{
    *r = (struct dense_rate){0};
}

void dense_rate_add(struct dense_rate *r, usec_t at)
{
    const usec_t far = INT64_MAX / 4; // so that a difference of broken stamps is one, too
    r->times[r->count++] = usec_max(usec_min(at, far), -far);
    if (r->count < DENSE_BLOCK)
        return;
    double rate = rate_of(r->times);
    r->highest = rate > r->highest ? rate : r->highest;
    r->count = 0;
}

void dense_rate_break(struct dense_rate *r)
{
    r->count = 0;
}

double dense_rate_above(const struct dense_rate *r, double named)
{
    return r->highest >= named * CLEARLY ? r->highest : 0;
}
