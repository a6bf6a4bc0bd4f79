// SPDX-License-Identifier: GPL-2.0-or-later
// What one viewer, or all viewers of a flow together, ask of its origin.
//
//   The law. Together they ask for
//     - the highest of their levels; that the origin adapts to the backbone, if one asks for it;
//     - the highest of their limits: what the access of one cannot carry takes nothing from the
//       others. A viewer without a limit leaves none;
//     - the shortest time that a frame may wait, and the earliest time that it is shown.
//
// Pure.
#ifndef WEIR_PROXY_POLICY_FLOW_DEMAND_H
#define WEIR_PROXY_POLICY_FLOW_DEMAND_H

#include <stdbool.h>

#include "common/base/decls.h"

DECLS_BEGIN

struct flow_demand {
    int level;
    bool follows;     // the origin adapts the level to the backbone
    double limit_bps; // max rate; 0: none
    int latency_ms;   // how long a frame may wait at the origin
    int playout_ms;   // how long after its capture a frame is shown; 0: unknown
};

// Adds a viewer's demand to `all`, which has `count` viewers' already.
void flow_demand_add(struct flow_demand *all, int count, const struct flow_demand *viewer);

DECLS_END
#endif
