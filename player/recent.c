// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/recent.h"

#include <math.h>

void recent_add(struct recent *r, double count, double sum, usec_t now)
{
    int i = r->seen++ % RECENT_TOTALS;
    r->total[i].count = count > 0 ? count : 0;
    r->total[i].sum = count > 0 ? sum : 0;
    r->total[i].at = now;
    if (r->seen == 2 * RECENT_TOTALS)
        r->seen = RECENT_TOTALS;
}

static int newest(const struct recent *r)
{
    return (r->seen + RECENT_TOTALS - 1) % RECENT_TOTALS;
}

static int oldest(const struct recent *r)
{
    return r->seen < RECENT_TOTALS ? 0 : r->seen % RECENT_TOTALS;
}

double recent_rate(const struct recent *r)
{
    if (r->seen < 2)
        return NAN;
    double seconds = usec_to_sec(r->total[newest(r)].at - r->total[oldest(r)].at);
    double count = r->total[newest(r)].count - r->total[oldest(r)].count;
    return seconds > 0 && count >= 0 ? count / seconds : NAN;
}

double recent_mean(const struct recent *r)
{
    if (r->seen < 2)
        return NAN;
    double count = r->total[newest(r)].count - r->total[oldest(r)].count;
    return count > 0 ? (r->total[newest(r)].sum - r->total[oldest(r)].sum) / count : NAN;
}
