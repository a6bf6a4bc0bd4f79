// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/level_switch.h"

enum { MAX_GAP = 1000 }; // max frames that a gap counts

void level_switch_init(struct level_switch *l, const struct ladder *ladder, int level,
                       bool reorders)
{
    *l = (struct level_switch){.ladder = ladder,
                               .reorders = reorders,
                               .level = level,
                               .size_id = ladder->levels[level].size_id,
                               .wanted_size = ladder->levels[level].size_id,
                               .resumable = -1,
                               .waiting_key = true};
}

void level_switch_set(struct level_switch *l, int level)
{
    l->level = level;
    l->wanted_size = l->ladder->levels[level].size_id;
    if (l->ladder->cumulative && l->size_id > l->wanted_size)
        l->size_id = l->wanted_size;
}

// The size of `level` has a key frame on request, but for one that passes.
static void await_key(struct level_switch *l, int level)
{
    l->waiting_key = true;
    l->sent_level = level;
    while (ladder_size_passes(l->ladder, l->ladder->levels[l->sent_level].size_id) &&
           !l->keeps_size && l->sent_level > 0)
        l->sent_level--;
    l->size_id = l->ladder->levels[l->sent_level].size_id;
    l->top = l->ladder->levels[l->sent_level].temporal_id;
}

void level_switch_begin(struct level_switch *l)
{
    // A size that the viewer has without a gap continues at its level, until a frame arrives at
    // which the level may change.
    l->waiting_key = l->size_id != l->resumable;
    if (l->waiting_key)
        await_key(l, l->level);
}

void level_switch_pause(struct level_switch *l, bool whole)
{
    l->resumable = l->waiting_key || !whole ? -1 : l->size_id;
}

void level_switch_go_to(struct level_switch *l, int64_t from, bool any)
{
    l->from = from;
    l->any = any;
    l->resumable = -1;
    l->size_id = l->wanted_size;
    l->waiting_key = true;
    if (ladder_size_passes(l->ladder, l->size_id))
        await_key(l, l->level);
}

void level_switch_lack(struct level_switch *l)
{
    if (ladder_size_passes(l->ladder, l->size_id) && !l->waiting_key && !l->keeps_size)
        await_key(l, l->level);
}

// Counts the level's frames between the newest one and `number`: the encoder skipped them.
static void count_uncoded(struct level_switch *l, int64_t number)
{
    if (l->size_id != l->wanted_size)
        return;
    int64_t from = number - l->newest > MAX_GAP ? number - MAX_GAP : l->newest + 1;
    for (int64_t n = from; n < number; n++)
        l->uncoded += level_has_frame(l->ladder, l->level, n);
}

static enum level_verdict take_relayed(struct level_switch *l, const struct coded_frame *f)
{
    if (l->waiting_key && !f->key)
        return LEVEL_LACKS_KEY;
    bool layered = l->ladder->cumulative;
    bool switches = !layered && f->size_id != l->size_id;
    l->size_id = layered ? l->ladder->levels[f->level].size_id : f->size_id;
    l->wanted_size = l->size_id;
    l->level = l->sent_level = f->level;
    l->waiting_key = false;
    l->newest = f->number;
    return switches ? LEVEL_SWITCHED : LEVEL_TAKEN;
}

// A frame of a larger size than 0, of a cumulative ladder.
static enum level_verdict take_upper(const struct level_switch *l, const struct coded_frame *f)
{
    bool is_sent = !l->waiting_key && f->number == l->newest && f->size_id <= l->size_id;
    return is_sent ? LEVEL_TAKEN : LEVEL_OTHER;
}

// Returns true if the viewer has the frame that this one of a size that passes depends on: a frame
// depends on the last reference before it, which is the newest frame or known.
static bool follows(const struct level_switch *l, const struct coded_frame *f)
{
    return f->depends_on == l->newest || f->depends_on == l->reference;
}

// Returns the highest level of the size.
static int top_level(const struct level_switch *l, int size_id)
{
    int level = l->ladder->level_count - 1;
    while (level > 0 && l->ladder->levels[level].size_id != size_id)
        level--;
    return level;
}

enum level_verdict level_switch_take(struct level_switch *l, const struct coded_frame *f)
{
    if (f->number < l->from)
        return LEVEL_OTHER;
    if (l->relays)
        return take_relayed(l, f);
    bool layered = l->ladder->cumulative;
    if (layered && f->size_id > 0)
        return take_upper(l, f);
    bool is_first = l->any && l->waiting_key && f->number == l->from && f->key;
    bool switches = !layered && f->size_id != l->size_id && f->key &&
                    (f->size_id == l->wanted_size || is_first);
    if (switches && is_first)
        l->sent_level = top_level(l, f->size_id);
    if (switches) {
        l->size_id = f->size_id;
        l->newest = f->number - 1;
    }
    if (!layered && f->size_id != l->size_id)
        return LEVEL_OTHER;
    // Frames were encoded for other viewers while this one paused, so a reference may be missing.
    bool passes = ladder_size_passes(l->ladder, f->size_id);
    bool in_order = !l->reorders || (l->ladder->passes && !passes);
    if (passes && !f->key && !l->waiting_key && !follows(l, f))
        await_key(l, l->level);
    else if (in_order && !passes && f->depends_on > l->newest)
        l->waiting_key = true;
    if (l->waiting_key && !f->key)
        return LEVEL_LACKS_KEY;
    if (!l->waiting_key && in_order && !passes)
        count_uncoded(l, f->number);
    l->waiting_key = false;
    if (passes && (f->key || f->depends_on == l->newest))
        l->reference = f->key ? f->number : l->newest;
    l->newest = f->number;
    if (layered && f->starts <= l->size_id + 1) // the larger sizes join with this picture
        l->size_id = l->wanted_size;
    return switches ? LEVEL_SWITCHED : LEVEL_TAKEN;
}

// Returns the level of what is sent while a larger size has not joined yet.
static int joined_level(const struct level_switch *l)
{
    int temporal_id = l->ladder->levels[l->level].temporal_id;
    for (int i = 0; i < l->ladder->level_count; i++)
        if (l->ladder->levels[i].size_id == l->size_id &&
            l->ladder->levels[i].temporal_id == temporal_id)
            return i;
    return l->sent_level;
}

bool level_switch_sends(struct level_switch *l, const struct coded_frame *f, int top)
{
    if (l->relays)
        return true;
    // The layers of a picture have one temporal id: the first one decides.
    if (l->ladder->cumulative && f->size_id > 0)
        return f->temporal_id <= l->top;
    // Layers are added at a base frame only, because until then higher layers depend on frames that
    // were not sent. Stored frames of higher layers follow their base frame in decoding order,
    // although some are shown before it, so the level changes at base frames in both directions.
    // While the key frame of another size is awaited, the current size continues at its level.
    bool may_change = !l->reorders || f->temporal_id == 0;
    if (l->size_id == l->wanted_size && may_change)
        l->sent_level = l->level;
    else if (l->ladder->cumulative && may_change)
        l->sent_level = joined_level(l);
    int whole = l->ladder->levels[l->sent_level].temporal_id;
    top = top < whole ? top : whole;
    if (f->temporal_id == 0 || (top < l->top && may_change))
        l->top = top;
    if (f->temporal_id <= l->top)
        return true;
    l->thinned += f->temporal_id <= whole && top < whole;
    return false;
}
