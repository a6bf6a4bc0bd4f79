// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/congestion/rto.h"

#include <assert.h>
#include <limits.h>

static const usec_t FIRST = USEC_PER_SEC;        // RFC 6298, 2.1
static const usec_t LONGEST = 60 * USEC_PER_SEC; // RFC 6298, 2.5

void rto_init(struct rto *r, usec_t min, usec_t max)
{
    assert(min >= 0 && min <= LONGEST && max >= 0 && max <= LONGEST);
    *r = (struct rto){.min = min, .max = max > 0 ? max : LONGEST};
}

void rto_sample(struct rto *r, usec_t rtt)
{
    rtt = usec_max(rtt, 1);
    r->latest = rtt;
    if (r->srtt == 0) { // RFC 6298, 2.2
        r->srtt = rtt;
        r->rttvar = rtt / 2;
    } else { // RFC 6298, 2.3: RTTVAR first, with the old SRTT
        usec_t error = r->srtt > rtt ? r->srtt - rtt : rtt - r->srtt;
        r->rttvar = (3 * r->rttvar + error) / 4;
        r->srtt = (7 * r->srtt + rtt) / 8;
    }
    r->backoff = 0; // RFC 6298, 5.7
}

void rto_expired(struct rto *r)
{
    if (r->backoff < INT_MAX)
        r->backoff++;
}

usec_t rto_value(const struct rto *r)
{
    usec_t computed =
        r->srtt == 0 ? FIRST : usec_max(r->min, r->srtt + usec_max(r->slack, 4 * r->rttvar));
    usec_t rto = computed = usec_min(computed, LONGEST);
    for (int i = 0; i < r->backoff && rto < r->max; i++)
        rto *= 2; // RFC 6298, 5.5
    return usec_max(computed, usec_min(rto, r->max));
}
