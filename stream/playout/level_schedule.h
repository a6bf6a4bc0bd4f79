// SPDX-License-Identifier: GPL-2.0-or-later
// The level of each frame of a stream, so that a receiver knows which frames to expect. Each packet
// carries the level that the sender serves (struct adu_ext), whether the viewer requested it or the
// network limits it.
//
// A level with fewer layers of its size takes effect after the last frame of the level before, as
// the frames up to its own first one may be those that it leaves out. Any other begins with the
// first of its frames; a size's key frame may bear a number of frames of the size before, which end
// there.
#ifndef WEIR_STREAM_PLAYOUT_LEVEL_SCHEDULE_H
#define WEIR_STREAM_PLAYOUT_LEVEL_SCHEDULE_H

#include "common/base/decls.h"
#include "common/base/level.h"

DECLS_BEGIN

enum { LEVEL_SCHEDULE_MAX = 32 }; // changes remembered; beyond, the oldest two become one

struct level_start {
    int64_t from; // frame number
    int level;
};

struct level_schedule {
    const struct ladder
        *ladder;    // borrowed; level_count == 0: there are no levels, every frame is expected
    int64_t newest; // frame seen; -1 none
    int count;      // >= 1
    struct level_start starts[LEVEL_SCHEDULE_MAX]; // ascending `from`
};

// `level`: until a frame says another. Valid, or ignored when there are no levels.
void level_schedule_init(struct level_schedule *s, const struct ladder *ladder, int level);
// The level at a frame, as far as it is known; -1 without levels.
int level_schedule_at(const struct level_schedule *s, int64_t number);
// The first frame at or after `from` that is expected.
int64_t level_schedule_next(const struct level_schedule *s, int64_t from);
// How many are expected of [from, to).
uint64_t level_schedule_count(const struct level_schedule *s, int64_t from, int64_t to);

// Returns true if a frame of that size and temporal layer can be of `level`. A packet can claim any
// level.
bool level_schedule_is_of(const struct ladder *ladder, int level, int size_id, int temporal_id);
// A frame arrived; of a picture with several sizes, that of size 0. A level that it cannot be of is
// ignored.
void level_schedule_see(struct level_schedule *s, int64_t number, int level, int size_id,
                        int temporal_id, bool key);
// Of several copies of the frames from key frame `from` to before `end`, that of `level` is shown.
void level_schedule_choose(struct level_schedule *s, int64_t from, int64_t end, int level);

DECLS_END
#endif
