// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/policy/record_order.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

void record_order_init(struct record_order *o, usec_t hold)
{
    o->hold = hold;
    o->left = INT64_MIN;
    o->has_key = false;
    o->count = 0;
}

static bool was_sent_later(const struct record_turn *t, const struct record_turn *than)
{
    int32_t later = (int32_t)(t->written_us - than->written_us);
    return later ? later > 0 : t->number > than->number;
}

// Returns true if the key frame changes the size. One of a size that was left does not.
static bool changes_size(const struct record_order *o, const struct record_turn *t)
{
    return t->key && o->has_key && t->size_id != o->key.size_id && was_sent_later(t, &o->key);
}

static bool is_followed(const struct record_order *o, const struct record_turn *t)
{
    return !o->has_key || t->size_id == o->key.size_id || changes_size(o, t);
}

static bool is_behind(const struct record_turn *t, const struct record_turn *other)
{
    return t->slot > other->slot || (t->slot == other->slot && t->number > other->number);
}

bool record_order_push(struct record_order *o, const struct record_turn *t, usec_t now)
{
    assert(o->count < RECORD_ORDER_MAX);
    if (t->slot <= o->left && !changes_size(o, t))
        return false;
    int at = o->count;
    while (at > 0 && is_behind(&o->held[at - 1].turn, t))
        at--;
    for (int i = 0; i < o->count; i++)
        if (o->held[i].turn.slot == t->slot && o->held[i].turn.size_id == t->size_id)
            return false;
    memmove(&o->held[at + 1], &o->held[at], (size_t)(o->count - at) * sizeof(*o->held));
    o->held[at] = (struct record_held){*t, now + o->hold};
    o->count++;
    return true;
}

// Returns the key frame of another size that makes the first frame superfluous; NULL: none.
static const struct record_turn *find_successor(const struct record_order *o)
{
    const struct record_turn *first = &o->held[0].turn;
    for (int i = 1; i < o->count; i++) {
        const struct record_turn *t = &o->held[i].turn;
        bool is_later = first->key ? was_sent_later(t, first) : is_followed(o, t);
        if (t->key && t->size_id != first->size_id && t->number <= first->number && is_later)
            return t;
    }
    return NULL;
}

// Returns true if frames that are shown before the successor may depend on the first frame.
static bool is_needed(const struct record_order *o, const struct record_turn *successor)
{
    const struct record_turn *first = &o->held[0].turn;
    bool needed = false;
    for (int i = 1; i < o->count && !needed; i++) {
        const struct record_turn *t = &o->held[i].turn;
        needed = t->size_id == first->size_id && t->number < successor->number &&
                 t->slot <= successor->slot;
    }
    return needed;
}

bool record_order_pull(struct record_order *o, bool all, usec_t now, struct record_leaving *out)
{
    // A frame behind the first one may be due before it: then the first one, which came later, has
    // no earlier frame to wait for that the other one would not have.
    bool due = all || o->count == RECORD_ORDER_MAX;
    for (int i = 0; i < o->count && !due; i++)
        due = now >= o->held[i].due;
    if (!due || o->count == 0)
        return false;
    struct record_turn first = o->held[0].turn;
    const struct record_turn *successor = find_successor(o);
    bool needed = successor && is_needed(o, successor);
    *out = (struct record_leaving){.frame = first.frame,
                                   .gives_way = !is_followed(o, &first) || (successor && !needed),
                                   .before = needed ? successor->number : -1};
    if (!out->gives_way) { // a frame of the followed size may still take the place of one that did
        o->left = first.slot;
        if (first.key) {
            o->has_key = true;
            o->key = first;
        }
    }
    o->count--;
    memmove(&o->held[0], &o->held[1], (size_t)o->count * sizeof(*o->held));
    return true;
}
