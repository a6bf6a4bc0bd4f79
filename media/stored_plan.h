// SPDX-License-Identifier: GPL-2.0-or-later
// The structure of a stored ladder: a pure function of its levels, so that nothing of it is stored.
//
// All sizes have a key frame every `gop` source frames, which is about 2 s and a multiple of
// `period`, after which the pattern of every size's frames and layers repeats (level.h). So media
// may be joined at any multiple of the period: frame i of the media can be sent as number base + i
// whenever base is such a multiple, which is what lets a viewer's numbers go on through seeks.
//
// Within a group, a frame of temporal id t > 0 rests on the newest frame of a lower one, of t = 0
// on the T0 frame before it (layer_refs.h).
#ifndef WEIR_MEDIA_STORED_PLAN_H
#define WEIR_MEDIA_STORED_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/level.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    STORED_MAX_GOP = 600,   // frames
    STORED_GOP_SECONDS = 2, // wanted
    STORED_NO_FRAME = -2,   // the size does not have it
};

struct stored_place { // of a frame within its group
    int16_t depends;  // place; -1: nothing, a key frame; STORED_NO_FRAME
    int16_t temporal_id;
};

struct stored_plan {
    int period;
    int gop;
    struct stored_place sizes[LADDER_MAX_SIZES][STORED_MAX_GOP];
};

// 0, or ERR_RANGE: the sizes' frame rates are no simple fractions of the source's, so that the
// pattern does not repeat within STORED_MAX_GOP frames.
int stored_plan_init(struct stored_plan *p, const struct ladder *ladder);
// Is what stands at place `at` needed to decode the frame at `target`, or that frame itself?
bool stored_plan_needs(const struct stored_plan *p, int size_id, int target, int at);
// The newest place at or before `target` that the level has a frame at, or its first one.
int stored_plan_at_level(const struct stored_plan *p, const struct level *level, int target);

#ifdef __cplusplus
}
#endif
#endif
