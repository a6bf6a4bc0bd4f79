// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/goddard/startup_rate.h"

#include <math.h>

static const int ROUNDS = 4;
static const double GROWS = 1.25;

void startup_rate_init(struct startup_rate *r)
{
    *r = (struct startup_rate){.first_at = USEC_NEVER};
}

void startup_rate_set_rtt(struct startup_rate *r, usec_t rtt)
{
    r->rtt = rtt;
}

static bool is_known(const struct startup_rate *r, double bps, bool first)
{
    if (r->span >= STARTUP_RATE_MOST)
        return true;
    return first ? ROUNDS * r->rtt <= STARTUP_RATE_LEAST : bps <= GROWS * r->last_bps;
}

bool startup_rate_packet(struct startup_rate *r, size_t bytes, usec_t arrived)
{
    if (r->first_at == USEC_NEVER) {
        r->first_at = r->since = arrived;
        return false;
    }
    r->bytes += (int64_t)bytes;
    usec_t lasts = arrived - r->since;
    if (lasts < usec_max(r->rtt, STARTUP_RATE_LEAST))
        return false;
    double bps = 8.0 * (double)r->bytes / usec_to_sec(lasts);
    bool first = r->since == r->first_at;
    r->bps = fmax(r->bps, bps);
    r->span = arrived - r->first_at;
    bool known = is_known(r, bps, first);
    r->last_bps = bps;
    r->since = arrived;
    r->bytes = 0;
    return known;
}
