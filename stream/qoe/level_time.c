// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/qoe/level_time.h"

void level_time_count(struct level_time *t, const struct ladder *ladder, usec_t at)
{
    if (!t->any)
        return;
    if (ladder_has_level(ladder, t->level))
        t->seconds[t->level] += usec_to_sec(usec_max(0, at - t->since));
    t->since = at;
}

void level_time_show(struct level_time *t, const struct ladder *ladder, int level, usec_t at)
{
    level_time_count(t, ladder, at);
    t->since = at;
    t->any = true;
    t->level = level;
}
