// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/level_schedule.h"

#include <string.h>

// A level's pattern repeats long before this many source frames (120 fps taken at 1 fps, 4 layers:
// 960).
enum { LONGEST_GAP = 1024 };

void level_schedule_init(struct level_schedule *s, const struct ladder *ladder, int level)
{
    *s = (struct level_schedule){.ladder = ladder, .newest = -1, .count = 1};
    s->starts[0] = (struct level_start){0, ladder->level_count > 0 ? level : -1};
}

static int index_at(const struct level_schedule *s, int64_t number)
{
    int i = s->count - 1;
    while (i > 0 && s->starts[i].from > number)
        i--;
    return i;
}

int level_schedule_at(const struct level_schedule *s, int64_t number)
{
    return s->starts[index_at(s, number)].level;
}

int64_t level_schedule_next(const struct level_schedule *s, int64_t from)
{
    for (int64_t n = from; n < from + LONGEST_GAP; n++) {
        int level = level_schedule_at(s, n);
        if (level < 0 || level_has_frame(s->ladder, level, n))
            return n;
    }
    return from;
}

uint64_t level_schedule_count(const struct level_schedule *s, int64_t from, int64_t to)
{
    uint64_t count = 0;
    for (int64_t n = from; n < to; n++) {
        int level = level_schedule_at(s, n);
        count += level < 0 || level_has_frame(s->ladder, level, n);
    }
    return count;
}

// i > 0
static void insert(struct level_schedule *s, int i, struct level_start start)
{
    if (s->count == LEVEL_SCHEDULE_MAX) {
        s->count--;
        i--;
        memmove(&s->starts[0], &s->starts[1], (size_t)s->count * sizeof(start));
    }
    memmove(&s->starts[i + 1], &s->starts[i], (size_t)(s->count - i) * sizeof(start));
    s->starts[i] = start;
    s->count++;
}

// Sets the level from frame `from` on, up to the next known change.
static void start_at(struct level_schedule *s, int64_t from, int level)
{
    int i = index_at(s, from);
    if (s->starts[i].level == level)
        return;
    if (s->starts[i].from == from)
        s->starts[i].level = level;
    else
        insert(s, i + 1, (struct level_start){from, level});
}

// Drops the changes between `from` and `end`, and those that change nothing.
static void drop_between(struct level_schedule *s, int64_t from, int64_t end)
{
    int kept = 1;
    for (int i = 1; i < s->count; i++) {
        const struct level_start start = s->starts[i];
        bool between = start.from > from && start.from < end;
        if (!between && start.level != s->starts[kept - 1].level)
            s->starts[kept++] = start;
    }
    s->count = kept;
}

void level_schedule_choose(struct level_schedule *s, int64_t from, int64_t end, int level)
{
    int after = level_schedule_at(s, end);
    drop_between(s, from, end);
    start_at(s, from, level);
    start_at(s, end, after);
    drop_between(s, from, end);
}

bool level_schedule_is_of(const struct ladder *ladder, int level, int size_id, int temporal_id)
{
    if (!ladder_has_level(ladder, level))
        return false;
    const struct level *l = &ladder->levels[level];
    bool has_size = ladder->cumulative ? l->size_id >= size_id : l->size_id == size_id;
    return has_size && l->temporal_id >= temporal_id;
}

void level_schedule_see(struct level_schedule *s, int64_t number, int level, int size_id,
                        int temporal_id, bool key)
{
    if (number < s->starts[0].from || !level_schedule_is_of(s->ladder, level, size_id, temporal_id))
        return;
    int before = level_schedule_at(s, number);
    int64_t newest = s->newest;
    if (number > newest)
        s->newest = number;
    if (level == before)
        return;
    const struct level *old = &s->ladder->levels[before];
    bool cumulative = s->ladder->cumulative; // one pattern of frames for all sizes
    bool same = cumulative || old->size_id == size_id;
    bool fewer = same && old->temporal_id > s->ladder->levels[level].temporal_id;
    if (number > newest) {
        start_at(s, fewer && newest >= 0 ? newest + 1 : number, level);
        return;
    }
    if (fewer)
        return; // a group comes again with fewer layers: the frame is of both levels
    int i = index_at(s, number);
    if (key && !same) { // its encoder was behind that of the size before
        s->count = i + 1;
        start_at(s, number, level);
        return;
    }
    // The frame arrived late, after frames of another level, which continues after it.
    bool ends = i + 1 == s->count || s->starts[i + 1].from > number + 1;
    if (ends && i > 0 && s->starts[i].from == number && s->starts[i - 1].level == level) {
        s->starts[i].from = number + 1;
        return;
    }
    if (ends)
        insert(s, i + 1, (struct level_start){number + 1, before});
    start_at(s, number, level);
}
