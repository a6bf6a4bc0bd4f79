// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/qoe/freeze_account.h"

#include <string.h>

static usec_t limit_of(usec_t interval)
{
    return usec_max(FREEZE_INTERVALS * interval, FREEZE_LEAST);
}

// Adds the open stall, up to `now`, to the gap.
static void add_stall(struct freeze_account *a, usec_t now)
{
    usec_t took = usec_max(0, now - usec_max(a->stalled_since, a->since));
    a->stalled += took;
    if (took <= a->longest)
        return;
    a->longest = took;
    a->stall_cause = a->stalls_by;
}

static enum freeze_cause judge(const struct freeze_account *a, usec_t gap)
{
    if (a->longest > 0 && (2 * a->stalled >= gap || !a->known))
        return a->stall_cause;
    return a->known ? a->why : FREEZE_DISPLAY;
}

static const struct qoe_freeze_entry *close_gap(struct freeze_account *a, usec_t limit, usec_t now)
{
    bool was_open = a->open;
    usec_t gap = now - a->since;
    if (was_open && a->stalls)
        add_stall(a, now);
    enum freeze_cause cause = judge(a, gap);
    a->open = a->known = false;
    a->stalled = a->longest = 0;
    a->stalled_since = usec_max(a->stalled_since, now);
    if (!was_open || gap <= limit)
        return NULL;
    double seconds = usec_to_sec(gap);
    a->last = (struct qoe_freeze_entry){.at = a->at, .duration = seconds, .cause = cause};
    if (a->count < QOE_MAX_LIST)
        a->list[a->count] = a->last;
    a->count++;
    a->total += seconds;
    a->max = seconds > a->max ? seconds : a->max;
    a->sums[cause].count++;
    a->sums[cause].total += seconds;
    return &a->last;
}

const struct qoe_freeze_entry *freeze_account_shown(struct freeze_account *a,
                                                    const struct freeze_picture *p,
                                                    const struct active_time *clock, usec_t at)
{
    if (p->number < a->from)
        return NULL;
    usec_t now = active_time_read(clock, at);
    if (a->open && p->known)
        freeze_account_missing(a, p->why);
    const struct qoe_freeze_entry *f =
        close_gap(a, limit_of(usec_max(a->interval, p->interval)), now);
    a->open = true;
    a->since = now + p->early;
    a->at = p->at_seconds + usec_to_sec(p->early);
    a->interval = p->interval;
    return f;
}

const struct qoe_freeze_entry *freeze_account_break(struct freeze_account *a, int64_t from,
                                                    const struct active_time *clock, usec_t at)
{
    a->from = from;
    return close_gap(a, limit_of(a->interval), active_time_read(clock, at));
}

const struct qoe_freeze_entry *freeze_account_end(struct freeze_account *a, bool media,
                                                  const struct active_time *clock, usec_t at)
{
    usec_t now = active_time_read(clock, at);
    usec_t limit = limit_of(a->interval);
    if (a->stalls) {
        add_stall(a, now);
        a->stalls = false;
    }
    if (media && !a->known && a->stalled <= limit)
        a->open = false;
    return close_gap(a, limit, now);
}

void freeze_account_missing(struct freeze_account *a, enum freeze_cause why)
{
    a->known = true;
    a->why = why;
}

void freeze_account_renumber(struct freeze_account *a)
{
    a->from = 0;
}

void freeze_account_stall_begin(struct freeze_account *a, enum stall_cause cause,
                                const struct active_time *clock, usec_t at)
{
    if (a->stalls)
        return;
    a->stalls = true;
    a->stalled_since = active_time_read(clock, at);
    a->stalls_by = freeze_cause_of_stall(cause);
}

void freeze_account_stall_end(struct freeze_account *a, enum stall_cause cause,
                              const struct active_time *clock, usec_t at)
{
    if (!a->stalls)
        return;
    a->stalls_by = freeze_cause_of_stall(cause);
    if (a->open)
        add_stall(a, active_time_read(clock, at));
    a->stalls = false;
}

void freeze_account_read(const struct freeze_account *a, struct qoe_freezes *out,
                         const struct active_time *clock, usec_t at)
{
    memcpy(out->by_cause, a->sums, sizeof(a->sums));
    out->count = (double)a->count;
    out->total = a->total;
    out->longest = a->max;
    out->listed = (int)(a->count < QOE_MAX_LIST ? a->count : QOE_MAX_LIST);
    out->events = a->list;
    usec_t gap = active_time_read(clock, at) - a->since;
    if (!a->open || gap <= limit_of(a->interval))
        return;
    enum freeze_cause cause = a->stalls ? a->stalls_by : judge(a, gap);
    double seconds = usec_to_sec(gap);
    out->count++;
    out->total += seconds;
    out->longest = seconds > a->max ? seconds : a->max;
    out->by_cause[cause].count++;
    out->by_cause[cause].total += seconds;
}
