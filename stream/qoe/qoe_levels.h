// SPDX-License-Identifier: GPL-2.0-or-later
// Which levels were seen: how long frames of each were current (shown, or received), and the
// switches between them; the group `levels` of the report. Times are of a clock that stops while
// the viewer pauses (active_time.h). Pure.
#ifndef WEIR_STREAM_QOE_QOE_LEVELS_H
#define WEIR_STREAM_QOE_QOE_LEVELS_H

#include "stream/qoe/qoe_events.h"

#ifdef __cplusplus
extern "C" {
#endif

struct qoe_levels { // all zero at first: no level is current; qoe_levels.c alone uses the fields
    bool any;
    int level; // the current level; one that the ladder does not have counts no time
    usec_t since;
    double seconds[LADDER_MAX_LEVELS];
    uint64_t switches;
    struct qoe_switch_entry list[QOE_MAX_LIST];
};

// `level` is current from now on.
void qoe_levels_show(struct qoe_levels *l, const struct ladder *ladder, int level, usec_t at);
// Counts the time since the last call. Call before the ladder changes.
void qoe_levels_count(struct qoe_levels *l, const struct ladder *ladder, usec_t at);
// `at_seconds`: of the session, for the list.
void qoe_levels_switch(struct qoe_levels *l, const struct qoe_switch *e, double at_seconds);
// Also puts the mean rate of the levels into `encoded_frame_rate`.
void qoe_levels_read(struct qoe_levels *l, const struct ladder *ladder, struct qoe_json *out,
                     usec_t at);

// Frames per second of a level, or of the source if the ladder does not have that level; 0: neither
// is known.
double qoe_level_fps(const struct ladder *ladder, int level);

#ifdef __cplusplus
}
#endif
#endif
