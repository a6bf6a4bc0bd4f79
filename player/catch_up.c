// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/catch_up.h"

#include <assert.h>

// Finer steps would only turn the media clock for nothing.
enum { STEP_PPM = 20 };

void catch_up_init(struct catch_up *c, usec_t now)
{
    *c = (struct catch_up){.speed_ppm = MEDIA_CLOCK_UNIT, .updated = now, .skipped = USEC_NEVER};
}

static int32_t wanted_ppm(usec_t excess)
{
    usec_t beyond = (excess < 0 ? -excess : excess) - CATCH_UP_DEAD_BAND;
    usec_t full = CATCH_UP_MOST_PPM * USEC_PER_SEC / CATCH_UP_GAIN_PPM;
    beyond = usec_min(usec_max(beyond, 0), full);
    int32_t ppm = (int32_t)(beyond * CATCH_UP_GAIN_PPM / USEC_PER_SEC);
    ppm -= ppm % STEP_PPM;
    return MEDIA_CLOCK_UNIT + (excess < 0 ? -ppm : ppm);
}

int32_t catch_up_update(struct catch_up *c, usec_t excess, usec_t now)
{
    assert(now >= c->updated);
    usec_t passed = usec_min(now - c->updated, USEC_PER_SEC);
    int32_t slew = (int32_t)(passed * CATCH_UP_SLEW_PPM / USEC_PER_SEC);
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

void catch_up_rest(struct catch_up *c, usec_t now)
{
    c->speed_ppm = MEDIA_CLOCK_UNIT;
    c->updated = now;
}

bool catch_up_wants_skip(const struct catch_up *c, usec_t excess, usec_t target, usec_t now)
{
    if (c->skipped != USEC_NEVER && now - c->skipped < CATCH_UP_SKIP_APART)
        return false;
    return excess > usec_max(CATCH_UP_LEAST_SKIP, CATCH_UP_SKIP_FACTOR * target);
}

void catch_up_skipped(struct catch_up *c, usec_t now)
{
    c->skipped = now;
}
