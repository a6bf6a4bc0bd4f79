// SPDX-License-Identifier: GPL-2.0-or-later
// What a flow did, sampled each 100 ms of a simulation: the variation of what it sent and of its
// rate, and its figures since an instant.
//
//   burstiness = standard deviation / mean (Grieco and Mascolo 2004, section 5.1.1)
#ifndef WEIR_SIM_METER_H
#define WEIR_SIM_METER_H

#include "lab/sim/flow.h"

#ifdef __cplusplus
extern "C" {
#endif

#define METER_STEP (100 * USEC_PER_MSEC)

struct spread { // all zero to begin with
    uint64_t n;
    double mean, squares; // of deviations from the mean
};
void spread_add(struct spread *s, double x);
double spread_variation(const struct spread *s); // sample standard deviation / mean; NaN: unknown

struct meter {
    usec_t since;          // what came before does not count
    struct flow_counts at; // since then
    bool begun;
    int steps;                    // since then
    uint64_t sent_100ms, sent_1s; // bytes, at the last bin's end
    struct spread tx_100ms, tx_1s, rate;
};

void meter_init(struct meter *m, usec_t since);
// Each METER_STEP, in order.
void meter_sample(struct meter *m, const struct flow *f, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
