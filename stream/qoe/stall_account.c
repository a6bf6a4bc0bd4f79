// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/qoe/stall_account.h"

#include <string.h>

void stall_account_begin(struct stall_account *a, enum stall_cause cause, double at_seconds,
                         const struct active_time *clock, usec_t at)
{
    if (a->open)
        return;
    a->open = true;
    a->cause = cause;
    a->since = active_time_read(clock, at);
    if (a->count < QOE_MAX_LIST)
        a->list[a->count] = (struct qoe_stall_entry){.at = at_seconds};
    a->count++;
}

// Returns the duration of the open stall as if it ended at `at`, in seconds.
static double so_far(struct stall_account *a, const struct active_time *clock, usec_t at)
{
    double duration = active_time_seconds(clock, a->since, at);
    if (a->count <= QOE_MAX_LIST) {
        a->list[a->count - 1].duration = duration;
        a->list[a->count - 1].cause = a->cause;
    }
    return duration;
}

void stall_account_end(struct stall_account *a, enum stall_cause cause,
                       const struct active_time *clock, usec_t at)
{
    if (!a->open)
        return;
    a->cause = cause;
    double duration = so_far(a, clock, at);
    a->total += duration;
    a->sums[cause].count++;
    a->sums[cause].total += duration;
    a->open = false;
}

void stall_account_read(struct stall_account *a, struct qoe_stalls *out,
                        const struct active_time *clock, usec_t at)
{
    memcpy(out->by_cause, a->sums, sizeof(a->sums));
    double open = a->open ? so_far(a, clock, at) : 0;
    out->by_cause[a->cause].count += a->open;
    out->by_cause[a->cause].total += open;
    out->count = (double)a->count;
    out->total = a->total + open;
    out->listed = (int)(a->count < QOE_MAX_LIST ? a->count : QOE_MAX_LIST);
    out->events = a->list;
}
