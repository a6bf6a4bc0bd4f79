// SPDX-License-Identifier: GPL-2.0-or-later
// Rate and mean over the last second, from running totals that are sampled four times a second.
#ifndef WEIR_PLAYER_UI_MODEL_ROLLING_MEAN_H
#define WEIR_PLAYER_UI_MODEL_ROLLING_MEAN_H

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { ROLLING_MEAN_TOTALS = 5 };

struct rolling_mean {
    int seen;
    struct {
        double count;
        double sum;
        usec_t at;
    } total[ROLLING_MEAN_TOTALS]; // a ring
};

// Adds a sample: the `sum` of all `count` values so far. NaN: no value yet.
void rolling_mean_add(struct rolling_mean *r, double count, double sum, usec_t now);
double rolling_mean_rate(const struct rolling_mean *r); // values a second; NaN: unknown yet
double rolling_mean_mean(const struct rolling_mean *r); // NaN: no value in the last second

DECLS_END
#endif
