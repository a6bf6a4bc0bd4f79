// SPDX-License-Identifier: GPL-2.0-or-later
// How long frames of each level were current (shown, or received). Times are of a clock that stops
// while the viewer pauses (active_time.h). Pure.
#ifndef WEIR_STREAM_QOE_LEVEL_TIME_H
#define WEIR_STREAM_QOE_LEVEL_TIME_H

#include "common/base/level.h"
#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

struct level_time { // all zero at first: no level is current
    bool any;
    int level; // the current level; one that the ladder does not have counts no time
    usec_t since;
    double seconds[LADDER_MAX_LEVELS];
};

// `level` is current from now on.
void level_time_show(struct level_time *t, const struct ladder *ladder, int level, usec_t at);
// Counts the time since the last call. Call before `seconds` is read, and before the ladder
// changes.
void level_time_count(struct level_time *t, const struct ladder *ladder, usec_t at);

#ifdef __cplusplus
}
#endif
#endif
