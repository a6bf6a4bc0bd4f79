// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/level_choice.h"

#include <stddef.h>
#include <string.h>

static bool is_index(int level)
{
    return level >= 0 && level < LADDER_MAX_LEVELS;
}

void level_choice_begin(struct level_choice *c, const struct level_start *s)
{
    int level = s->wanted >= 0 ? s->wanted : s->top;
    if (s->again && s->before <= s->top)
        level = s->before;
    else if (s->policy && s->wanted < 0 && s->top > 0 && !s->again)
        level = -1;
    *c = (struct level_choice){.level = level, .requested = level};
}

void level_choice_request(struct level_choice *c, int level, const char *reason)
{
    if (c->reason && is_index(c->requested))
        c->replaced[c->requested] = c->reason;
    c->requested = level;
    c->reason = reason;
}

void level_choice_refused(struct level_choice *c)
{
    c->requested = c->level;
    c->reason = NULL;
}

bool level_choice_arrived(struct level_choice *c, int level, const char *otherwise,
                          struct level_switch *out)
{
    if (level == c->level)
        return false;
    *out = (struct level_switch){.from = c->level, .to = level, .reason = otherwise};
    bool replaced = is_index(level) && c->replaced[level];
    if (c->reason && level == c->requested) {
        out->reason = c->reason;
        c->reason = NULL;
        memset(c->replaced, 0, sizeof(c->replaced));
    } else if (replaced) { // the server had begun with it
        out->reason = c->replaced[level];
        c->replaced[level] = NULL;
    }
    c->level = level;
    return true;
}
