// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/congestion/recv_rate.h"

#include <assert.h>
#include <math.h>

// Returns how long the receiver waited for this packet, at most R: a receiver reports on its last R
// only. The clock is untrusted: the difference may be any number.
static usec_t wait_for(struct recv_rate *r, usec_t at, usec_t rtt)
{
    usec_t gap = (usec_t)((uint64_t)at - (uint64_t)r->last_arrival);
    if (r->arrived && gap < 0) // the packet was reordered on the way
        return 0;
    bool first = !r->arrived;
    r->arrived = true;
    r->last_arrival = at;
    return first ? rtt : usec_min(gap, rtt);
}

// Bins of R/8, so that an early report, sent at a loss, covers a whole R too (6.2). Two adjacent
// bins span more than R/8 together, so 16 bins span R.
void recv_rate_arrived(struct recv_rate *r, uint32_t bytes, usec_t at, usec_t rtt)
{
    assert(rtt > 0);
    usec_t gap = wait_for(r, at, rtt);
    struct recv_bin *bin = &r->bin[r->newest];
    if (gap > 0 && bin->span > 0 && bin->span + gap > rtt / 8) {
        r->newest = (r->newest + 1) % RECV_BINS;
        bin = &r->bin[r->newest];
        *bin = (struct recv_bin){0};
    }
    bin->span += gap;
    bin->bytes += bytes;
}

void recv_rate_measure(struct recv_rate *r, usec_t rtt)
{
    usec_t span = 0;
    double bytes = 0;
    for (unsigned i = 0; i < RECV_BINS && span < rtt; i++) {
        const struct recv_bin *bin = &r->bin[(r->newest + RECV_BINS - i) % RECV_BINS];
        usec_t part = usec_min(bin->span, rtt - span); // the share of the oldest bin within R
        if (part > 0)
            bytes += bin->bytes * (double)part / (double)bin->span;
        span += part;
    }
    if (span > 0)
        r->rate = bytes / usec_to_sec(span);
}

double recv_set_max(const struct recv_rate *r)
{
    double max = 0;
    for (unsigned i = 0; i < r->count; i++)
        max = fmax(max, r->set[i].rate);
    return r->count > 0 ? max : INFINITY;
}

void recv_set_halve(struct recv_rate *r)
{
    for (unsigned i = 0; i < r->count; i++)
        r->set[i].rate /= 2;
}

void recv_set_only(struct recv_rate *r, double rate, usec_t now)
{
    r->set[0] = (struct recv_item){rate, now};
    r->count = 1;
}

void recv_set_maximize(struct recv_rate *r, double rate, usec_t now)
{
    recv_set_only(r, r->count > 0 ? fmax(rate, recv_set_max(r)) : rate, now);
}

void recv_set_update(struct recv_rate *r, double rate, usec_t rtt, usec_t now)
{
    unsigned kept = 0;
    bool joins = r->count > 0 && now - r->set[r->count - 1].at < rtt / 4;
    for (unsigned i = r->count == RECV_SET && !joins ? 1 : 0; i < r->count; i++)
        if (now - r->set[i].at <= 2 * rtt)
            r->set[kept++] = r->set[i];
    // Reports that come close together share an item, so that the set spans 2 R.
    if (joins)
        r->set[kept - 1].rate = fmax(r->set[kept - 1].rate, rate);
    else
        r->set[kept++] = (struct recv_item){rate, now};
    r->count = kept;
}
