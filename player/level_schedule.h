// SPDX-License-Identifier: GPL-2.0-or-later
// Which level a stream is at, frame by frame: what the sender was asked for and what its frames
// show. So a receiver knows which frames to expect.
//
// A switch to fewer temporal layers of a size takes effect when it is told. One to more layers
// takes effect with the first frame of them, and one to another size with that size's next key
// frame, whenever the sender makes it: until then the frames of the old level go on. A key frame of
// another size that nobody told of is believed too; of the levels that explain what is seen the
// lowest is taken, because it never expects a frame that was not meant to come.
#ifndef WEIR_PLAYER_LEVEL_SCHEDULE_H
#define WEIR_PLAYER_LEVEL_SCHEDULE_H

#include "common/base/level.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LEVEL_SCHEDULE_MAX = 32 }; // changes remembered; beyond, the oldest two become one

struct level_start {
    int64_t from; // frame number
    int level;
    bool seen; // concluded from the frames, not told
};

struct level_schedule {
    const struct ladder
        *ladder;   // borrowed; level_count == 0: there are no levels, every frame is expected
    int announced; // told, and waits for the first frame that shows it; -1 none
    int count;     // >= 1
    struct level_start starts[LEVEL_SCHEDULE_MAX]; // ascending `from`
};

// `level` is valid, or ignored when there are no levels.
void level_schedule_init(struct level_schedule *s, const struct ladder *ladder, int level);
// The level at a frame, as far as it is known; -1 without levels.
int level_schedule_at(const struct level_schedule *s, int64_t number);
// The first frame at or after `from` that is expected.
int64_t level_schedule_next(const struct level_schedule *s, int64_t from);
// How many are expected from `from` to before `to`. Looks at each.
uint64_t level_schedule_count(const struct level_schedule *s, int64_t from, int64_t to);

// `level` from frame `from` on, exactly; ends all that was told or seen of later frames. Levels out
// of range are ignored.
void level_schedule_set(struct level_schedule *s, int level, int64_t from);
// `level` was agreed on now; `newest` is the last frame that came (-1 none).
void level_schedule_tell(struct level_schedule *s, int level, int64_t newest);
// A frame came.
void level_schedule_see(struct level_schedule *s, int64_t number, int size_id, int temporal_id,
                        bool key);

#ifdef __cplusplus
}
#endif
#endif
