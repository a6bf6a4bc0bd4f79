// SPDX-License-Identifier: GPL-2.0-or-later
// The Pareto distribution, P(X > x) = (x_min / x)^shape for x >= x_min, given by its mean:
//
//     mean = x_min * shape / (shape - 1),   shape > 1
//
// Object sizes and think times of the web have such heavy tails (Crovella, Bestavros: Self-
// Similarity in World Wide Web Traffic: Evidence and Possible Causes, 1997). Below a shape of 2 the
// variance is infinite: the mean of a thousand draws is usually below `mean` and occasionally far
// above.
#ifndef WEIR_LAB_TRAFFIC_MODEL_PARETO_H
#define WEIR_LAB_TRAFFIC_MODEL_PARETO_H

#include "common/base/decls.h"
#include "common/base/rng.h"
#include "common/base/usec.h"

DECLS_BEGIN

// Returns one draw; values above `max` count as `max`. mean >= 0, shape > 1.
double pareto_draw(struct rng *rng, double mean, double shape, double max);
// Returns the length of a period, above 0 and at most 1000 times `mean`.
usec_t pareto_period(struct rng *rng, usec_t mean, double shape);

DECLS_END
#endif
