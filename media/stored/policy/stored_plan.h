// SPDX-License-Identifier: GPL-2.0-or-later
// The structure of a stored ladder. It is a pure function of the levels and the length, so it is
// not stored in the file.
//
// All sizes have a key frame every `gop` source frames, about 2 s, or 1 s if the source is larger
// than 1920x1080: its encoder holds the pictures of a group. `gop` is a multiple of `period`,
// after which the pattern of every size's frames and layers repeats (level.h). So frame i of the
// media can be sent as number base + i for any multiple `base` of the period. Thus a viewer's frame
// numbers can continue through seeks.
//
// The layers are those of live media, but consist of B frames. With three layers:
//
//     shown      0   1   2   3   4   5   6   7   8  ..  56  57  58  59 | 60
//     layer      0   2   1   2   0   2   1   2   0       0   2   1   2 |  0
//     type       I   b   B   b   P   b   B   b   P       P   b   P   P |  I
//     decoded    0   4   2   1   3   8   6   5   7  ..  55  58  57  59 | 60
//
// A T0 frame is decoded before the frames of higher layers between it and the previous T0 frame;
// these follow in the pre-order of a binary tree. Groups are closed: no frame before a key frame
// depends on it. So the frames after a group's last T0 frame depend only on frames before them.
//
// A slot is a frame's place in decoding order, in units of source frames: the k-th decoded frame of
// a size has the slot of the k-th shown frame. So slots ascend like numbers. A frame's time is its
// own number's; its slot may be later than that by at most `layers` - 1 frames of its size.
//
// A frame with temporal id t > 0 depends on the last frame of a lower layer that is decoded before
// it. That frame depends on all others that it may reference. A frame with t = 0 depends on the
// previous T0 frame.
#ifndef WEIR_MEDIA_STORED_POLICY_STORED_PLAN_H
#define WEIR_MEDIA_STORED_POLICY_STORED_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/level.h"

DECLS_BEGIN

enum {
    STORED_MAX_GOP = 600, // max. source frames of a group
    STORED_NO_FRAME = -2, // the size has no frame at this place or slot
};

struct stored_place { // a source frame of a group in one size
    int16_t depends;  // place of its reference; -1: key frame; STORED_NO_FRAME: no frame
    int16_t temporal_id;
    int16_t slot;
};

struct stored_shape { // the structure of one group
    int frames;       // number of source frames
    struct stored_place places[LADDER_MAX_SIZES][STORED_MAX_GOP];
    int16_t decoded[LADDER_MAX_SIZES][STORED_MAX_GOP]; // by slot: a place, or STORED_NO_FRAME
};

struct stored_plan {
    int period;               // source frames
    int gop;                  // source frames of a full group
    struct stored_shape full; // of all groups but the last
    int64_t last_group;       // index of the last group; -1: the media is endless
    struct stored_shape last; // of the last group
};

// Makes the shape of a group of `frames` source frames, a multiple of the period.
void stored_shape_init(struct stored_shape *s, const struct ladder *ladder, int frames);
// Returns the intended length of a group in seconds.
int stored_plan_seconds(const struct ladder *ladder);
// Makes the plan of endless media. Returns 0, or ERR_RANGE if the pattern does not repeat within
// STORED_MAX_GOP frames, as the sizes' frame rates are no simple fractions of the source's.
int stored_plan_init(struct stored_plan *p, const struct ladder *ladder);
// Sets the length of the media to `frames` source frames, a multiple of the period.
void stored_plan_end(struct stored_plan *p, const struct ladder *ladder, int64_t frames);
const struct stored_shape *stored_plan_shape(const struct stored_plan *p, int64_t group);

// Returns true if place `at` is `target` or a frame that `target` depends on, directly or not.
bool stored_shape_needs(const struct stored_shape *s, int size_id, int target, int at);
// Returns the last place at or before `target` where the level has a frame; its first place if
// there is none.
int stored_shape_at_level(const struct stored_shape *s, const struct level *level, int target);

DECLS_END
#endif
