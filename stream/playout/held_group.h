// SPDX-License-Identifier: GPL-2.0-or-later
// The copies of a film's group that are held. A group is a key frame and what is decoded after it,
// up to the next key frame of any size. A film's viewer fetches groups again at a better level, and
// the older copy of a group is held until the new one is whole: a copy of which a part is missing
// is not worth the pictures of one that has all. Pure.
#ifndef WEIR_STREAM_PLAYOUT_HELD_GROUP_H
#define WEIR_STREAM_PLAYOUT_HELD_GROUP_H

#include "common/base/decls.h"
#include "common/base/level.h"
#include "stream/playout/held_frames.h"

DECLS_BEGIN

struct held_group {
    int64_t end; // the number of the key frame behind it; -1: none is held
    int level;   // the lowest one that its frames are of
    bool whole;  // each frame of that level is held, up to the end; without levels each number
};

// Returns the copy that begins with key frame `key`, which need not be held.
struct held_group held_group_of(const struct held_frames *h, const struct ladder *ladder,
                                const struct received_frame *key);
// Drops the frames of sizes other than `size_id` with numbers from `from` to before `end`.
void held_group_drop_others(struct held_frames *h, int size_id, int64_t from, int64_t end);

DECLS_END
#endif
