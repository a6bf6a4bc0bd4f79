// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/policy/fill_plan.h"

// Returns true if a flow brings the group before `limit`.
static bool is_coming(const struct fill_plan *p, int64_t group, usec_t limit, usec_t now)
{
    for (int i = 0; i < p->flow_count; i++) {
        const struct fill_flow *f = &p->flows[i];
        int64_t ahead = group < f->group ? 0 : group - f->group;
        if (group >= f->group - FILL_REPAIRED && group < f->end &&
            (ahead <= FILL_NEAR || now + (ahead + 1) * f->each <= limit))
            return true;
    }
    return false;
}

// Returns where the next flow is that brings what follows `group`.
static int64_t end_of(const struct fill_plan *p, int64_t group)
{
    int64_t end = p->groups;
    for (int i = 0; i < p->flow_count; i++)
        if (p->flows[i].group > group && p->flows[i].group < end)
            end = p->flows[i].group;
    return end;
}

int64_t fill_plan_next(const struct fill_plan *p, int64_t *end, usec_t now)
{
    int64_t next = -1;
    usec_t first = USEC_NEVER;
    usec_t soonest = now + FILL_SETUP + p->fetch_time; // another session is not faster
    for (int i = 0; i < p->reader_count; i++) {
        const struct fill_reader *r = &p->readers[i];
        int64_t last = r->group + FILL_AHEAD < p->groups ? r->group + FILL_AHEAD : p->groups - 1;
        int64_t group = r->group;
        while (group <= last && !p->is_missing(p->ctx, group))
            group++;
        if (group > last)
            continue;
        usec_t due = r->at + (group - r->group) * p->group_time;
        if (due >= first || is_coming(p, group, usec_max(due, soonest), now))
            continue;
        next = group;
        first = due;
    }
    if (next >= 0)
        *end = end_of(p, next);
    return next;
}

int64_t fill_plan_ahead(const struct fill_reader *readers, int count, int64_t group)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < count; i++) {
        int64_t ahead = group - readers[i].group;
        // A reader that has just gone past still needs what follows.
        if (ahead >= -FILL_NEAR && ahead < least)
            least = ahead < 0 ? 0 : ahead;
    }
    return least;
}
