// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/repair/path_estimate.h"

#include <assert.h>
#include <stdlib.h>

#define WINDOW         (10 * USEC_PER_SEC)
#define ASSUMED_RTT    (50 * USEC_PER_MSEC)
#define ASSUMED_JITTER (10 * USEC_PER_MSEC)
#define LEAST_JITTER   USEC_PER_MSEC // timers and clocks of the ends
#define DEVIATIONS     2
#define OF_SRTT        8 // RFC 6298, 2.3
#define OF_DEVIATION   4

void path_estimate_init(struct path_estimate *e)
{
    *e = (struct path_estimate){0};
    windowed_min_init(&e->least, WINDOW);
}

void path_estimate_rtt(struct path_estimate *e, usec_t rtt, usec_t now)
{
    assert(rtt > 0);
    windowed_min_add(&e->least, rtt, now);
    if (e->srtt == 0) {
        e->srtt = rtt;
        e->deviation = 0;
        return;
    }
    e->deviation += (llabs(rtt - e->srtt) - e->deviation) / OF_DEVIATION;
    e->srtt += (rtt - e->srtt) / OF_SRTT;
}

void path_estimate_fill(const struct path_estimate *e, struct repair_path *out)
{
    usec_t least = windowed_min_read(&e->least);
    bool known = e->srtt > 0;
    out->rtt = known ? e->srtt : ASSUMED_RTT;
    out->min_rtt = known ? usec_min(least, e->srtt) : ASSUMED_RTT;
    out->delay = out->min_rtt / 2;
    out->jitter = known
                      ? usec_max(LEAST_JITTER, out->rtt - out->min_rtt + DEVIATIONS * e->deviation)
                      : ASSUMED_JITTER;
}
