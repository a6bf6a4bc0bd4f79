// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/congestion/rto.h"

#include <assert.h>
#include <limits.h>

static const usec_t FIRST = USEC_PER_SEC;     // RFC 6298, 2.1
static const usec_t MOST = 60 * USEC_PER_SEC; // RFC 6298, 2.5

void rto_init(struct rto *r, usec_t least, usec_t most)
{
    assert(least >= 0 && least <= MOST && most >= 0 && most <= MOST);
    *r = (struct rto){.least = least, .most = most > 0 ? most : MOST};
}

void rto_sample(struct rto *r, usec_t rtt)
{
    rtt = usec_max(rtt, 1);
    r->latest = rtt;
    if (r->srtt == 0) { // RFC 6298, 2.2
        r->srtt = rtt;
        r->rttvar = rtt / 2;
    } else { // 2.3: the variation first, with the old SRTT
        usec_t error = r->srtt > rtt ? r->srtt - rtt : rtt - r->srtt;
        r->rttvar = (3 * r->rttvar + error) / 4;
        r->srtt = (7 * r->srtt + rtt) / 8;
    }
    r->backoff = 0; // 5.7
}

void rto_expired(struct rto *r)
{
    if (r->backoff < INT_MAX)
        r->backoff++;
}

usec_t rto_value(const struct rto *r)
{
    usec_t computed = r->srtt == 0 ? FIRST : usec_max(r->least, r->srtt + 4 * r->rttvar);
    usec_t rto = computed = usec_min(computed, MOST);
    for (int i = 0; i < r->backoff && rto < r->most; i++)
        rto *= 2; // RFC 6298, 5.5
    return usec_max(computed, usec_min(rto, r->most));
}
