// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/command_queue.h"

#include <limits.h>

// What becomes of two commands of one kind.
enum repetition {
    LAST,   // the last one counts
    SUM,    // one by the sum of `level` and of `seconds`
    SWITCH, // they cancel each other out
    TIMES,  // both are done
};

#define OF(kind) (1u << COMMAND_##kind)

static const struct rule {
    enum repetition repetition;
    unsigned replaced; // the other kinds that the command makes meaningless, as bits
} rules[COMMAND_KINDS] = {
    [COMMAND_TOGGLE_PAUSE] = {SWITCH, 0},
    [COMMAND_PAUSE] = {LAST, OF(TOGGLE_PAUSE) | OF(RESUME)},
    [COMMAND_RESUME] = {LAST, OF(TOGGLE_PAUSE) | OF(PAUSE)},
    [COMMAND_LEVEL] = {LAST, OF(AUTOMATIC) | OF(LEVEL_BY)},
    [COMMAND_AUTOMATIC] = {LAST, OF(LEVEL) | OF(LEVEL_BY)},
    [COMMAND_LEVEL_BY] = {SUM, 0},
    [COMMAND_SEEK] = {LAST, OF(SEEK_BY)},
    [COMMAND_SEEK_BY] = {SUM, 0},
    [COMMAND_NORMAL] = {LAST, OF(SCALE) | OF(SCALE_BY) | OF(SPEED) | OF(SPEED_BY)},
    [COMMAND_SCALE] = {LAST, OF(SCALE_BY)},
    [COMMAND_SCALE_BY] = {SUM, 0},
    [COMMAND_SPEED] = {LAST, OF(SPEED_BY)},
    [COMMAND_SPEED_BY] = {SUM, 0},
    [COMMAND_MUTE] = {SWITCH, 0},
    [COMMAND_VOLUME_BY] = {SUM, 0},
    [COMMAND_STEP] = {TIMES, 0},
    [COMMAND_CHANNEL] = {LAST, OF(CHANNEL_BY) | OF(SEEK) | OF(SEEK_BY)}, // of the channel before
    [COMMAND_CHANNEL_BY] = {SUM, OF(SEEK) | OF(SEEK_BY)},
    [COMMAND_SUBTITLES] = {LAST, OF(SUBTITLES_BY)},
    [COMMAND_SUBTITLES_BY] = {SUM, 0},
    [COMMAND_AUDIO_TRACK] = {LAST, OF(AUDIO_TRACK_BY)},
    [COMMAND_AUDIO_TRACK_BY] = {SUM, 0},
    // The others: the last one counts, and replaces no other kind.
};

static int sum_of(int a, int b)
{
    long long sum = (long long)a + b;
    return sum > INT_MAX ? INT_MAX : sum < INT_MIN ? INT_MIN : (int)sum;
}

// Removes the command at a place; those behind it move up.
static void remove_at(struct command_queue *q, int at)
{
    for (q->count--; at < q->count; at++)
        q->waiting[at] = q->waiting[at + 1];
}

void command_queue_add(struct command_queue *q, const struct command *c)
{
    const struct rule *rule = &rules[c->kind];
    struct command added = *c;
    int times = 1;
    for (int i = q->count - 1; i >= 0; i--) {
        const struct command *waiting = &q->waiting[i].command;
        bool is_same = waiting->kind == c->kind;
        if (!is_same && !(rule->replaced >> waiting->kind & 1))
            continue;
        if (is_same && rule->repetition == SUM) {
            added.level = sum_of(waiting->level, added.level);
            added.seconds += waiting->seconds;
        } else if (is_same && rule->repetition == SWITCH) {
            times = 0;
        } else if (is_same && rule->repetition == TIMES) {
            times = sum_of(times, q->waiting[i].times);
        }
        remove_at(q, i);
    }
    if (!times)
        return;
    // Each kind waits once at most, so there is room.
    q->waiting[q->count].command = added;
    q->waiting[q->count++].times = times;
}

bool command_queue_take(struct command_queue *q, struct command *out)
{
    if (!q->count)
        return false;
    *out = q->waiting[0].command;
    if (--q->waiting[0].times == 0)
        remove_at(q, 0);
    return true;
}
