// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/buffer_goal.h"

#include <math.h>

void buffer_goal_init(struct buffer_goal *g, usec_t now)
{
    *g = (struct buffer_goal){.caution = 1, .troubled = now, .updated = now};
}

void buffer_goal_set(struct buffer_goal *g, usec_t share, usec_t floor)
{
    g->share = share;
    g->floor = floor;
}

void buffer_goal_on_stall(struct buffer_goal *g, usec_t now)
{
    g->caution = fmin(g->caution * BUFFER_GOAL_GROWTH, BUFFER_GOAL_MOST);
    g->troubled = now;
}

void buffer_goal_on_late(struct buffer_goal *g, usec_t now)
{
    g->troubled = now;
}

usec_t buffer_goal_update(struct buffer_goal *g, usec_t now)
{
    usec_t calm = now - usec_max(g->updated, g->troubled + BUFFER_GOAL_CALM);
    if (calm > 0)
        g->caution = fmax(1, g->caution * pow(1 - BUFFER_GOAL_SHRINK, usec_to_sec(calm)));
    g->updated = now;
    usec_t least = usec_max(g->share, g->floor);
    return usec_min((usec_t)((double)least * g->caution), least + BUFFER_GOAL_EXTRA);
}
