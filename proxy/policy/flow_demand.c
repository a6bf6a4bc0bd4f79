// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/policy/flow_demand.h"

void flow_demand_add(struct flow_demand *all, int count, const struct flow_demand *viewer)
{
    if (count == 0) {
        *all = *viewer;
        return;
    }
    if (viewer->level > all->level)
        all->level = viewer->level;
    all->follows |= viewer->follows;
    if (all->limit_bps > 0 && (viewer->limit_bps <= 0 || viewer->limit_bps > all->limit_bps))
        all->limit_bps = viewer->limit_bps;
    if (viewer->latency_ms < all->latency_ms)
        all->latency_ms = viewer->latency_ms;
    if (viewer->playout_ms && (!all->playout_ms || viewer->playout_ms < all->playout_ms))
        all->playout_ms = viewer->playout_ms;
}
