// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/congestion/pacer.h"

#include <assert.h>
#include <math.h>

static double bytes_per_usec(const struct pacer *p)
{
    return p->rate_bps / 8e6;
}

static void earn(struct pacer *p, usec_t now)
{
    assert(now >= p->at);
    if (now > p->at) // within one instant, credit added by pacer_catch_up stays
        p->tokens = fmin(p->burst_bytes, p->tokens + (double)(now - p->at) * bytes_per_usec(p));
    p->at = now;
}

void pacer_catch_up(struct pacer *p, double max_bytes, usec_t now)
{
    double earned = p->tokens + (double)(now - p->at) * bytes_per_usec(p);
    earn(p, now);
    p->tokens = fmax(p->tokens, fmin(max_bytes, earned));
}

void pacer_init(struct pacer *p, double rate_bps, double burst_bytes, usec_t now)
{
    assert(rate_bps > 0 && burst_bytes > 0);
    *p = (struct pacer){
        .rate_bps = rate_bps, .burst_bytes = burst_bytes, .tokens = burst_bytes, .at = now};
}

void pacer_set_rate(struct pacer *p, double rate_bps, usec_t now)
{
    assert(rate_bps > 0);
    earn(p, now);
    p->rate_bps = rate_bps;
}

void pacer_sent(struct pacer *p, size_t bytes, usec_t now)
{
    earn(p, now);
    p->tokens -= (double)bytes;
}

// A packet may leave while any credit is left: its excess is paid off afterwards, so the mean is
// exact for packets of any size, and the burst of the law is exceeded by less than one packet.
usec_t pacer_next_timeout(const struct pacer *p)
{
    if (p->tokens > 0)
        return p->at;
    return p->at + (usec_t)floor(-p->tokens / bytes_per_usec(p)) + 1;
}
