// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/qoe/outage_meter.h"

#include "stream/qoe/qoe_levels.h"

void outage_meter_end(struct outage_meter *o, const struct qoe_media_edge *e, usec_t active)
{
    o->open = true;
    o->end = *e;
    o->end_active = active;
}

void outage_meter_forget(struct outage_meter *o)
{
    o->open = false;
}

uint64_t outage_meter_begin(struct outage_meter *o, const struct qoe_media_edge *e,
                            const struct ladder *ladder, usec_t active)
{
    if (!o->open)
        return 0;
    o->open = false;
    usec_t gap = e->shown - o->end.shown;
    usec_t media = gap;
    if (e->captured != QOE_UNKNOWN && o->end.captured != QOE_UNKNOWN)
        media = e->captured - o->end.captured;
    if (media > gap + OUTAGE_MAX_LATENCY || media < gap - OUTAGE_MAX_LATENCY)
        media = gap;
    double fps = qoe_level_fps(ladder, o->end.level);
    usec_t interval = fps > 0 ? (usec_t)(1e6 / fps) : 0;
    usec_t paused = usec_max(0, gap - usec_max(0, active - o->end_active));
    usec_t missed = media - paused;
    uint64_t frames =
        missed > 0 && interval > 0 ? (uint64_t)((missed + interval / 2) / interval) : 0;
    o->frames += frames;
    return frames;
}
