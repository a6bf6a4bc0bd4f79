// SPDX-License-Identifier: GPL-2.0-or-later
// How long each level was current (shown, or received), and the switches between levels: the group
// `levels` of the report. Times are in active time (active_time.h). Pure.
#ifndef WEIR_STREAM_QOE_QOE_LEVELS_H
#define WEIR_STREAM_QOE_QOE_LEVELS_H

#include "common/base/decls.h"
#include "stream/qoe/qoe_events.h"

DECLS_BEGIN

struct qoe_levels { // all zero at first: no level is current; qoe_levels.c alone uses the fields
    bool any;
    int level; // current level; time is not counted if the ladder does not have it
    usec_t since;
    double seconds[LADDER_MAX_LEVELS];
    uint64_t switches;
    struct qoe_switch_entry list[QOE_MAX_LIST];
};

// Makes `level` the current level.
void qoe_levels_show(struct qoe_levels *l, const struct ladder *ladder, int level, usec_t at);
// Counts the time since the last call. Call it before the ladder changes.
void qoe_levels_count(struct qoe_levels *l, const struct ladder *ladder, usec_t at);
// `at_seconds`: seconds of the session, for the list.
void qoe_levels_switch(struct qoe_levels *l, const struct qoe_switch *e, double at_seconds);
// Also writes the mean frame rate of the levels to `encoded_frame_rate`.
void qoe_levels_read(struct qoe_levels *l, const struct ladder *ladder, struct qoe_json *out,
                     usec_t at);

// Frames per second of a level, or of the source if the ladder does not have that level; 0: neither
// is known.
double qoe_level_fps(const struct ladder *ladder, int level);

DECLS_END
#endif
