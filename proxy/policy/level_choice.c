// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/policy/level_choice.h"

int level_choice_of(struct level_choice *c, const struct level_choice_inputs *in)
{
    bool too_much =
        in->waiting >= in->target / 2 || (in->capacity_bps > 0 && in->capacity_bps < in->level_bps);
    if (in->adapted >= in->level)
        c->lowered = false;
    else if (too_much)
        c->lowered = true;
    return in->follows && !in->alone && c->lowered ? in->adapted : in->level;
}
