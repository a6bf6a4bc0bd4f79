// SPDX-License-Identifier: GPL-2.0-or-later
// Packets at a constant rate in "on" periods, none in "off" periods, beginning with "on". Periods
// have a fixed length, or are drawn from Pareto distributions.
#ifndef WEIR_SIM_FLOW_ONOFF_H
#define WEIR_SIM_FLOW_ONOFF_H

#include "common/base/decls.h"
#include "lab/sim/flow.h"

DECLS_BEGIN

struct flow_onoff_config {
    uint32_t packet_bytes;
    int64_t bps;
    usec_t on, off; // lengths of the periods; off 0: always on
    double shape;   // 0: fixed lengths; > 1: `on` and `off` are means of Pareto distributions
};

// Returns NULL if there is no memory.
struct flow *flow_onoff_new(const struct flow_env *env, const struct flow_onoff_config *config,
                            uint32_t id, usec_t start, usec_t stop, uint64_t seed);

DECLS_END
#endif
