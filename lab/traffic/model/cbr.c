// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/traffic/model/cbr.h"

#include <assert.h>
#include <math.h>

void cbr_init(struct cbr *c, int size_bytes, int64_t rate_bps, usec_t now)
{
    assert(size_bytes > 0 && rate_bps > 0);
    *c = (struct cbr){.start = now, .interval_us = size_bytes * 8e6 / (double)rate_bps};
}

// Exact enough: a double represents a year of microseconds to 1/256 of one.
static usec_t due_at(const struct cbr *c, int64_t index)
{
    return c->start + (usec_t)ceil((double)index * c->interval_us);
}

usec_t cbr_next_timeout(const struct cbr *c)
{
    return due_at(c, c->next);
}

int64_t cbr_due(struct cbr *c, usec_t now)
{
    if (now < due_at(c, c->next))
        return 0;
    int64_t last = (int64_t)((double)(now - c->start) / c->interval_us);
    if (last < c->next)
        last = c->next; // the division rounded down where ceil() did not
    int64_t oldest = (int64_t)ceil((double)(now - CBR_CATCH_UP - c->start) / c->interval_us);
    if (oldest > last)
        oldest = last; // datagrams further apart than CBR_CATCH_UP: the latest is never too late
    if (oldest > c->next) {
        c->skipped += oldest - c->next;
        c->next = oldest;
    }
    return last - c->next + 1;
}

void cbr_on_sent(struct cbr *c)
{
    c->next++;
}
