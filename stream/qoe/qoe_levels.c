// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/qoe/qoe_levels.h"

void qoe_levels_count(struct qoe_levels *l, const struct ladder *ladder, usec_t at)
{
    if (!l->any)
        return;
    if (ladder_has_level(ladder, l->level))
        l->seconds[l->level] += usec_to_sec(usec_max(0, at - l->since));
    l->since = at;
}

void qoe_levels_show(struct qoe_levels *l, const struct ladder *ladder, int level, usec_t at)
{
    qoe_levels_count(l, ladder, at);
    l->since = at;
    l->any = true;
    l->level = level;
}

void qoe_levels_switch(struct qoe_levels *l, const struct qoe_switch *e, double at_seconds)
{
    if (l->switches < QOE_MAX_LIST)
        l->list[l->switches] = (struct qoe_switch_entry){at_seconds, e->from, e->to, e->why};
    l->switches++;
}

void qoe_levels_read(struct qoe_levels *l, const struct ladder *ladder, struct qoe_json *out,
                     usec_t at)
{
    qoe_levels_count(l, ladder, at);
    double time = 0;
    double level_time = 0;
    double rate_time = 0;
    for (int i = 0; i < ladder->level_count; i++) {
        time += l->seconds[i];
        level_time += i * l->seconds[i];
        rate_time += level_frame_rate(ladder, i) * l->seconds[i];
        out->levels.time_at[i] = l->seconds[i];
        out->levels.bitrates[i] = ladder->levels[i].bitrate_bps;
    }
    out->levels.count = ladder->level_count;
    out->levels.mean = qoe_ratio(level_time, time);
    out->playback.encoded_frame_rate = qoe_ratio(rate_time, time);
    out->levels.switch_count = (double)l->switches;
    out->levels.listed = (int)(l->switches < QOE_MAX_LIST ? l->switches : QOE_MAX_LIST);
    out->levels.switches = l->list;
}

double qoe_level_fps(const struct ladder *ladder, int level)
{
    if (ladder_has_level(ladder, level))
        return level_frame_rate(ladder, level);
    return ladder->source_fps.num > 0 ? fps_value(ladder->source_fps) : 0;
}
