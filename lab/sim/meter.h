// SPDX-License-Identifier: GPL-2.0-or-later
// Statistics of a flow, sampled every 100 ms of a simulation: the variation of its sent bytes and
// of its rate, and its counters since an instant.
//
//   burstiness = standard deviation / mean (Grieco and Mascolo 2004, section 5.1.1)
#ifndef WEIR_SIM_METER_H
#define WEIR_SIM_METER_H

#include "common/base/decls.h"
#include "lab/sim/flow.h"

DECLS_BEGIN

#define METER_STEP (100 * USEC_PER_MSEC)

struct spread { // initially all zero
    uint64_t n;
    double mean, squares; // squares: sum of squared deviations from the mean
};
void spread_add(struct spread *s, double x);
// Sample standard deviation / mean; NaN: unknown.
double spread_variation(const struct spread *s);

struct meter {
    usec_t since;          // earlier samples do not count
    struct flow_counts at; // counters at `since`
    bool begun;
    int steps;                    // number of samples since `since`
    uint64_t sent_100ms, sent_1s; // bytes at the end of the last bin
    struct spread tx_100ms, tx_1s, rate;
};

void meter_init(struct meter *m, usec_t since);
// Call every METER_STEP, in order.
void meter_sample(struct meter *m, const struct flow *f, usec_t now);

DECLS_END
#endif
