// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/receive/clock_sync.h"

void clock_sync_shared(struct clock_sync *c)
{
    *c = (struct clock_sync){.known = true, .shared = true};
}

bool clock_sync_sample(struct clock_sync *c, usec_t asked, usec_t answered, usec_t received)
{
    usec_t rtt = received - asked;
    // A negative round trip means that our wall clock was set back in between.
    if (c->shared || rtt < 0)
        return false;
    usec_t age = usec_max(0, received - c->taken);
    if (c->known && rtt >= c->least_rtt + 2 * age * CLOCK_SYNC_DRIFT_PPM / 1000000)
        return false;
    c->taken = received;
    c->known = true;
    c->least_rtt = rtt;
    c->offset = answered - (asked + rtt / 2);
    return true;
}
