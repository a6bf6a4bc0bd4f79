// SPDX-License-Identifier: GPL-2.0-or-later
// How long something of each level stood on the screen. Times are of a clock that stands still
// while the viewer pauses (pause_clock.h). Pure.
#ifndef WEIR_STREAM_QOE_LEVEL_TIME_H
#define WEIR_STREAM_QOE_LEVEL_TIME_H

#include "common/base/level.h"
#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

struct level_time { // all zero to begin with: nothing stands there
    bool any;
    int level; // of what stands there; one that the ladder does not have takes no time
    usec_t since;
    double seconds[LADDER_MAX_LEVELS];
};

// From now on something of `level` stands there.
void level_time_show(struct level_time *t, const struct ladder *ladder, int level, usec_t at);
// Counts what passed since the last call. Before `seconds` are read, and before the ladder changes.
void level_time_count(struct level_time *t, const struct ladder *ladder, usec_t at);

#ifdef __cplusplus
}
#endif
#endif
