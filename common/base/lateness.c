// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/lateness.h"

void lateness_init(struct lateness *l)
{
    *l = (struct lateness){.due = USEC_NEVER};
}

void lateness_set_due(struct lateness *l, usec_t due)
{
    l->due = due;
}

usec_t lateness_works(struct lateness *l, usec_t now)
{
    usec_t late = l->due == USEC_NEVER ? 0 : now - l->due;
    l->worked = now;
    if (late < LATENESS_MIN)
        return 0;
    unsigned at = l->count++ % LATENESS_SPANS;
    l->spans[at].from = l->due;
    l->spans[at].until = now;
    return late;
}

bool lateness_covers(const struct lateness *l, usec_t from, usec_t to)
{
    unsigned known = l->count < LATENESS_SPANS ? l->count : LATENESS_SPANS;
    for (unsigned i = 0; i < known; i++) {
        usec_t late = l->spans[i].until - l->spans[i].from;
        if (to >= l->spans[i].from && from <= l->spans[i].until + usec_min(late, LATENESS_ECHO))
            return true;
    }
    return false;
}

bool lateness_lasts(const struct lateness *l)
{
    return lateness_covers(l, l->worked, l->worked);
}
