// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/held_group.h"

enum { LONGEST = 1 << 14 }; // numbers in a group; a longer one counts as one with gaps

static bool has_frame(const struct ladder *ladder, int level, int64_t number)
{
    return ladder->level_count == 0 || level_has_frame(ladder, level, number);
}

struct held_group held_group_of(const struct held_frames *h, const struct ladder *ladder,
                                const struct received_frame *key)
{
    int count = held_frames_count(h), level = key->level;
    int64_t end = -1;
    for (int i = 0; i < count && end < 0; i++) {
        const struct received_frame *f = held_frames_at(h, i);
        if (f->key && f->number > key->number)
            end = f->number;
        else if (f->size_id == key->size_id && f->number >= key->number && f->level < level)
            level = f->level;
    }
    if (ladder->level_count > 0 && !ladder_has_level(ladder, level))
        return (struct held_group){.end = -1, .level = level}; // a packet can claim any level
    if (end - key->number > LONGEST)
        return (struct held_group){.end = end, .level = level};
    int64_t missing = 0;
    for (int64_t n = key->number; n < end && missing <= count; n++) // more cannot all be held
        missing += has_frame(ladder, level, n);
    for (int i = 0; i < count && missing > 0; i++) {
        const struct received_frame *f = held_frames_at(h, i);
        missing -= f->size_id == key->size_id && f->number >= key->number && f->number < end &&
                   has_frame(ladder, level, f->number);
    }
    return (struct held_group){.end = end, .level = level, .whole = end >= 0 && missing == 0};
}

void held_group_drop_others(struct held_frames *h, int size_id, int64_t from, int64_t end)
{
    for (int i = held_frames_count(h); i-- > 0;) {
        const struct received_frame *f = held_frames_at(h, i);
        if (f->size_id != size_id && f->number >= from && f->number < end)
            held_frames_drop(h, i);
    }
}
