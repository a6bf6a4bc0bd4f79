// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/congestion/delivery_rate.h"

#include <math.h>

static const usec_t SPACING = 5 * USEC_PER_MSEC;
static const usec_t MAX_WINDOW = 300 * USEC_PER_MSEC;
static const usec_t SPAN = 3 * USEC_PER_SEC;

void delivery_rate_arrived(struct delivery_rate *d, uint32_t bytes, usec_t at)
{
    d->bytes += bytes;
    int before = (d->newest + DELIVERY_INSTANTS - 1) % DELIVERY_INSTANTS;
    if (d->count > 0)
        at = usec_max(at, d->instant[d->newest].at);
    // The newest instant moves with the arrivals until it is far enough from the one before.
    if (d->count < 2 || d->instant[d->newest].at - d->instant[before].at >= SPACING) {
        d->newest = (d->newest + 1) % DELIVERY_INSTANTS;
        d->count += d->count < DELIVERY_INSTANTS;
    }
    d->instant[d->newest].at = at;
    d->instant[d->newest].bytes = d->bytes;
}

double delivery_rate_over(const struct delivery_rate *d, usec_t window)
{
    if (d->count < 2)
        return 0;
    int from = d->newest;
    usec_t end = d->instant[d->newest].at;
    window = usec_min(window, MAX_WINDOW);
    for (int n = 1; n < d->count && d->instant[from].at > end - window; n++)
        from = (from + DELIVERY_INSTANTS - 1) % DELIVERY_INSTANTS;
    double bytes = d->instant[d->newest].bytes - d->instant[from].bytes;
    return end > d->instant[from].at ? bytes / usec_to_sec(end - d->instant[from].at) : 0;
}

void delivery_rate_note(struct delivery_rate *d, usec_t now)
{
    if (now - d->max_since >= SPAN) {
        d->max_before = d->max;
        d->max = 0;
        d->max_since = now;
    }
    d->max = fmax(d->max, delivery_rate_over(d, MAX_WINDOW));
}

double delivery_rate_max(const struct delivery_rate *d)
{
    return fmax(d->max, d->max_before);
}
