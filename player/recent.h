// SPDX-License-Identifier: GPL-2.0-or-later
// Rate and mean of the last second, from totals since the start that are looked at four times a
// second.
#ifndef WEIR_PLAYER_RECENT_H
#define WEIR_PLAYER_RECENT_H

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RECENT_TOTALS = 5 };

struct recent {
    int seen;
    struct {
        double count;
        double sum;
        usec_t at;
    } total[RECENT_TOTALS]; // a ring
};

// `sum` of `count` values so far; NaN while there is none.
void recent_add(struct recent *r, double count, double sum, usec_t now);
double recent_rate(const struct recent *r); // values a second; NaN: not known yet
double recent_mean(const struct recent *r); // NaN: no value lately

#ifdef __cplusplus
}
#endif
#endif
