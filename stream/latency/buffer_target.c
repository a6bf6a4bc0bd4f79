// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/latency/buffer_target.h"

#include <math.h>

void buffer_target_init(struct buffer_target *g, usec_t now)
{
    *g = (struct buffer_target){.caution = 1, .troubled = now, .updated = now};
}

void buffer_target_set(struct buffer_target *g, usec_t share, usec_t floor)
{
    g->share = share;
    g->floor = floor;
}

void buffer_target_on_stall(struct buffer_target *g, usec_t now)
{
    g->caution = fmin(g->caution * BUFFER_TARGET_GROWTH, BUFFER_TARGET_MOST);
    g->troubled = now;
}

void buffer_target_on_late(struct buffer_target *g, usec_t now)
{
    g->troubled = now;
}

usec_t buffer_target_update(struct buffer_target *g, usec_t now)
{
    usec_t calm = now - usec_max(g->updated, g->troubled + BUFFER_TARGET_CALM);
    if (calm > 0)
        g->caution = fmax(1, g->caution * pow(1 - BUFFER_TARGET_SHRINK, usec_to_sec(calm)));
    g->updated = now;
    usec_t least = usec_max(g->share, g->floor);
    return usec_min((usec_t)((double)least * g->caution), least + BUFFER_TARGET_EXTRA);
}
