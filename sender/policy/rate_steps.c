// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/rate_steps.h"

#include <assert.h>
#include <stdint.h>

enum { DOWN_PERCENT = 85, UP_PERCENT = 125 };

void rate_steps_init(struct rate_steps *r, int bps, usec_t now)
{
    *r = (struct rate_steps){.current_bps = bps, .requested_bps = bps, .changed = now};
}

void rate_steps_request(struct rate_steps *r, int bps)
{
    assert(bps > 0);
    r->requested_bps = bps;
}

int rate_steps_take(struct rate_steps *r, usec_t now)
{
    int64_t percent = (int64_t)r->requested_bps * 100;
    bool falls = percent <= (int64_t)r->current_bps * DOWN_PERCENT;
    bool rises = percent >= (int64_t)r->current_bps * UP_PERCENT;
    usec_t after = falls ? RATE_STEPS_DOWN_AFTER : RATE_STEPS_UP_AFTER;
    if ((!falls && !rises) || now - r->changed < after)
        return 0;
    r->current_bps = r->requested_bps;
    r->changed = now;
    return r->current_bps;
}
