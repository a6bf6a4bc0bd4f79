// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/traffic/model/pareto.h"

#include <assert.h>
#include <math.h>

static const double PERIOD_MAX = 1000; // multiple of the mean

double pareto_draw(struct rng *rng, double mean, double shape, double max)
{
    assert(mean >= 0 && shape > 1);
    double x_min = mean * (shape - 1) / shape;
    double tail = 1 - rng_unit(rng); // in (0, 1]: the probability of a larger value
    return fmin(x_min * pow(tail, -1 / shape), max);
}

usec_t pareto_period(struct rng *rng, usec_t mean, double shape)
{
    return (usec_t)pareto_draw(rng, (double)mean, shape, PERIOD_MAX * (double)mean) + 1;
}
