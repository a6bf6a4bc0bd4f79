// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/latency/speed_control.h"

#include <assert.h>

// Finer steps would only turn the media clock for nothing.
enum { STEP_PPM = 20 };

void speed_control_init(struct speed_control *c, usec_t now)
{
    *c = (struct speed_control){.speed_ppm = MEDIA_CLOCK_UNIT, .updated = now};
}

static int32_t wanted_ppm(usec_t excess)
{
    usec_t beyond = (excess < 0 ? -excess : excess) - SPEED_CONTROL_DEAD_BAND;
    usec_t full = SPEED_CONTROL_MOST_PPM * USEC_PER_SEC / SPEED_CONTROL_GAIN_PPM;
    beyond = usec_min(usec_max(beyond, 0), full);
    int32_t ppm = (int32_t)(beyond * SPEED_CONTROL_GAIN_PPM / USEC_PER_SEC);
    ppm -= ppm % STEP_PPM;
    return MEDIA_CLOCK_UNIT + (excess < 0 ? -ppm : ppm);
}

int32_t speed_control_update(struct speed_control *c, usec_t excess, usec_t now)
{
    assert(now >= c->updated);
    usec_t passed = usec_min(now - c->updated, USEC_PER_SEC);
    int32_t slew = (int32_t)(passed * SPEED_CONTROL_SLEW_PPM / USEC_PER_SEC);
    if (slew == 0)
        return c->speed_ppm; // the time adds up
    int32_t change = wanted_ppm(excess) - c->speed_ppm;
    if (change > slew)
        change = slew;
    if (change < -slew)
        change = -slew;
    c->speed_ppm += change;
    c->updated = now;
    return c->speed_ppm;
}

void speed_control_rest(struct speed_control *c, usec_t now)
{
    c->speed_ppm = MEDIA_CLOCK_UNIT;
    c->updated = now;
}
