// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/frame_count.h"

#include "common/base/seq.h"

void frame_count_init(struct frame_count *c, const struct ladder *ladder)
{
    *c = (struct frame_count){.ladder = ladder, .newest = -1};
}

void frame_count_restart(struct frame_count *c)
{
    c->newest = -1;
}

static int missing_between(const struct frame_count *c, int64_t number, int level)
{
    int missing = 0;
    for (int64_t n = c->newest + 1; n < number; n++)
        missing += level_has_frame(c->ladder, c->level, n) && level_has_frame(c->ladder, level, n);
    return missing;
}

int frame_count_packet(struct frame_count *c, uint32_t number, int level)
{
    if (!ladder_has_level(c->ladder, level))
        return 0;
    int64_t n = c->newest < 0 ? number : seq32_extend(c->newest, number);
    int64_t ahead = n - c->newest;
    bool anew = c->newest < 0 || ahead > FRAME_COUNT_MAX_GAP || ahead < -FRAME_COUNT_MAX_GAP;
    if (n < 0 || (!anew && ahead <= 0))
        return 0;
    int lost = anew ? 0 : !c->whole + missing_between(c, n, level);
    c->newest = n;
    c->level = level;
    c->whole = false;
    return lost;
}

bool frame_count_whole(struct frame_count *c, int64_t number)
{
    if (number != c->newest || c->whole)
        return false;
    c->whole = true;
    return true;
}
