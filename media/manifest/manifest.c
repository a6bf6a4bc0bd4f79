// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/manifest/manifest.h"

#include <stdio.h>

struct manifest_next manifest_next_part(const struct manifest *m,
                                        const struct manifest_rendition *r)
{
    if (r->segment_count == 0)
        return (struct manifest_next){0};
    const struct manifest_segment *last = &r->segments[r->segment_count - 1];
    if (last->complete || last->part_count >= m->segment_parts)
        return (struct manifest_next){.number = last->number + 1};
    return (struct manifest_next){last->number, last->part_count};
}

// The date of a day since 1970-01-01: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms",
// civil_from_days. Years begin in March, eras of 400 years have 146097 days.
void manifest_time(usec_t wall, char out[MANIFEST_TIME])
{
    int64_t ms = wall / USEC_PER_MSEC;
    int64_t days = ms / 86400000 + 719468;
    int64_t era = days / 146097;
    int64_t of_era = days % 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153;
    int day = (int)(of_year - (153 * month + 2) / 5 + 1);
    int civil_month = (int)(month < 10 ? month + 3 : month - 9);
    int civil_year = (int)((year + era * 400 + (civil_month <= 2)) % 10000);
    int of_day = (int)(ms % 86400000);
    snprintf(out, MANIFEST_TIME, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", civil_year, civil_month,
             day, of_day / 3600000, of_day / 60000 % 60, of_day / 1000 % 60, of_day % 1000);
}
