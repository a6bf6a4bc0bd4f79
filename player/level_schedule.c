// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/level_schedule.h"

#include <string.h>

// A level's pattern repeats long before this many source frames (120 fps taken at 1 fps, 4 layers:
// 960).
enum { LONGEST_GAP = 1024 };

void level_schedule_init(struct level_schedule *s, const struct ladder *ladder, int level)
{
    *s = (struct level_schedule){.ladder = ladder, .announced = -1, .count = 1};
    s->starts[0] = (struct level_start){0, ladder->level_count > 0 ? level : -1, false};
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

// What is told ends what comes later; what is seen stands between.
static void insert(struct level_schedule *s, struct level_start start)
{
    int i = 0;
    while (i < s->count && s->starts[i].from < start.from)
        i++;
    if (!start.seen)
        s->count = i;
    if (i == s->count || s->starts[i].from != start.from) {
        if (s->count == LEVEL_SCHEDULE_MAX) {
            s->count--;
            memmove(&s->starts[0], &s->starts[1], (size_t)s->count * sizeof(start));
            i = i > 0 ? i - 1 : 0;
        }
        memmove(&s->starts[i + 1], &s->starts[i], (size_t)(s->count - i) * sizeof(start));
        s->count++;
    }
    s->starts[i] = start;
}

static bool is_level(const struct level_schedule *s, int level)
{
    return level >= 0 && level < s->ladder->level_count;
}

void level_schedule_set(struct level_schedule *s, int level, int64_t from)
{
    if (!is_level(s, level) || from < 0)
        return;
    s->announced = -1;
    insert(s, (struct level_start){from, level, false});
}

void level_schedule_tell(struct level_schedule *s, int level, int64_t newest)
{
    if (!is_level(s, level))
        return;
    const struct level_start *last = &s->starts[s->count - 1];
    const struct level *told = &s->ladder->levels[level];
    const struct level *now = &s->ladder->levels[last->level];
    if (told->size_id != now->size_id || (told->temporal_id > now->temporal_id && !last->seen))
        s->announced = level;
    else // its key frame may have come before the word
        level_schedule_set(s, level, last->seen ? last->from : newest + 1);
}

// The lowest level of a size that has temporal layer `temporal_id`; -1 when there is none.
static int lowest_level(const struct ladder *ladder, int size_id, int temporal_id)
{
    for (int l = 0; l < ladder->level_count; l++) {
        if (ladder->levels[l].size_id == size_id && ladder->levels[l].temporal_id >= temporal_id)
            return l;
    }
    return -1;
}

void level_schedule_see(struct level_schedule *s, int64_t number, int size_id, int temporal_id,
                        bool key)
{
    if (s->ladder->level_count == 0)
        return;
    const struct level_start *start = &s->starts[index_at(s, number)];
    const struct level *at = &s->ladder->levels[start->level];
    bool other_size = key && size_id != at->size_id;
    bool higher = size_id == at->size_id && temporal_id > at->temporal_id;
    if ((other_size || higher) && is_level(s, s->announced) &&
        s->ladder->levels[s->announced].size_id == size_id) {
        level_schedule_set(s, s->announced, number);
        return;
    }
    int level =
        other_size || (higher && start->seen) ? lowest_level(s->ladder, size_id, temporal_id) : -1;
    if (level >= 0)
        insert(s, (struct level_start){number, level, true});
}
