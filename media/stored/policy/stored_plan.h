// SPDX-License-Identifier: GPL-2.0-or-later
// The structure of a stored ladder: a pure function of its levels and its length, so that nothing
// of it is stored.
//
// All sizes have a key frame every `gop` source frames, which is about 2 s and a multiple of
// `period`, after which the pattern of every size's frames and layers repeats (level.h). So media
// may be joined at any multiple of the period: frame i of the media can be sent as number base + i
// whenever base is such a multiple, which is what lets a viewer's numbers go on through seeks.
//
// Layers are those of live media, made of B frames: with three of them
//
//     shown      0   1   2   3   4   5   6   7   8  ..  56  57  58  59 | 60
//     layer      0   2   1   2   0   2   1   2   0       0   2   1   2 |  0
//     type       I   b   B   b   P   b   B   b   P       P   b   P   P |  I
//     decoded    0   4   2   1   3   8   6   5   7  ..  55  58  57  59 | 60
//
// A frame of T0 comes before those of the higher layers between it and the T0 frame before it;
// these follow as in the pre-order of a binary tree. Groups are closed: nothing before a key frame
// rests on it, so the frames behind the last one of T0 rest on what is before them.
//
// Slots count the frames of a size in the order of decoding, in units of the source's frames: the
// k-th one decoded has the slot of the k-th one shown. So slots ascend as numbers do, and a frame
// is shown at its own time, `layers` - 1 frames of its size after its slot's at the earliest.
//
// A frame of temporal id t > 0 rests on the one of a lower layer that is decoded last before it,
// which rests on all others that it may refer to; of t = 0 on the T0 frame before it.
#ifndef WEIR_MEDIA_STORED_POLICY_STORED_PLAN_H
#define WEIR_MEDIA_STORED_POLICY_STORED_PLAN_H

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
    int16_t slot;
};

struct stored_shape { // of a group
    int frames;       // of the source's
    struct stored_place places[LADDER_MAX_SIZES][STORED_MAX_GOP];
    int16_t decoded[LADDER_MAX_SIZES][STORED_MAX_GOP]; // by slot: a place; or STORED_NO_FRAME
};

struct stored_plan {
    int period;
    int gop;
    struct stored_shape full;
    int64_t last_group;
    struct stored_shape last;
};

// The last group of media, or the only one; `frames`: whole periods.
void stored_shape_init(struct stored_shape *s, const struct ladder *ladder, int frames);
// 0, or ERR_RANGE: the sizes' frame rates are no simple fractions of the source's, so that the
// pattern does not repeat within STORED_MAX_GOP frames. The media is endless.
int stored_plan_init(struct stored_plan *p, const struct ladder *ladder);
// The media has `frames`, likewise.
void stored_plan_end(struct stored_plan *p, const struct ladder *ladder, int64_t frames);
const struct stored_shape *stored_plan_shape(const struct stored_plan *p, int64_t group);

// Is what stands at place `at` needed to decode the frame at `target`, or that frame itself?
bool stored_shape_needs(const struct stored_shape *s, int size_id, int target, int at);
// The newest place at or before `target` that the level has a frame at, or its first one.
int stored_shape_at_level(const struct stored_shape *s, const struct level *level, int target);

#ifdef __cplusplus
}
#endif
#endif
