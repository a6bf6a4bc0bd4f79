// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/model/rolling_mean.h"

#include <math.h>

void rolling_mean_add(struct rolling_mean *r, double count, double sum, usec_t now)
{
    int i = r->seen++ % ROLLING_MEAN_TOTALS;
    r->total[i].count = count > 0 ? count : 0;
    r->total[i].sum = count > 0 ? sum : 0;
    r->total[i].at = now;
    if (r->seen == 2 * ROLLING_MEAN_TOTALS)
        r->seen = ROLLING_MEAN_TOTALS;
}

static int newest(const struct rolling_mean *r)
{
    return (r->seen + ROLLING_MEAN_TOTALS - 1) % ROLLING_MEAN_TOTALS;
}

static int oldest(const struct rolling_mean *r)
{
    return r->seen < ROLLING_MEAN_TOTALS ? 0 : r->seen % ROLLING_MEAN_TOTALS;
}

double rolling_mean_rate(const struct rolling_mean *r)
{
    if (r->seen < 2)
        return NAN;
    double seconds = usec_to_sec(r->total[newest(r)].at - r->total[oldest(r)].at);
    double count = r->total[newest(r)].count - r->total[oldest(r)].count;
    return seconds > 0 && count >= 0 ? count / seconds : NAN;
}

double rolling_mean_mean(const struct rolling_mean *r)
{
    if (r->seen < 2)
        return NAN;
    double count = r->total[newest(r)].count - r->total[oldest(r)].count;
    return count > 0 ? (r->total[newest(r)].sum - r->total[oldest(r)].sum) / count : NAN;
}
