// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/traffic/model/pareto.h"

#include <assert.h>
#include <math.h>

double pareto_draw(struct rng *rng, double mean, double shape, double max)
{
    assert(mean >= 0 && shape > 1);
    double x_min = mean * (shape - 1) / shape;
    double tail = 1 - rng_unit(rng); // in (0, 1]: the probability of a larger value
    return fmin(x_min * pow(tail, -1 / shape), max);
}
