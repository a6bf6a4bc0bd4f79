// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/policy/level_choice.h"

int level_choice_of(struct level_choice *c, const struct level_choice_inputs *in, usec_t now)
{
    if (!c->begun)
        c->begun_at = now;
    c->begun = true;
    c->settled |= in->adapted >= in->level || in->waiting >= in->target / 2 ||
                  now - c->begun_at >= LEVEL_CHOICE_START;
    if (!in->follows || in->alone || !c->settled)
        return in->level;
    return in->adapted < in->level ? in->adapted : in->level;
}
