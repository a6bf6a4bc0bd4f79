// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/policy/record_order.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

void record_order_init(struct record_order *o, usec_t hold)
{
    o->hold = hold;
    o->left = INT64_MIN;
    o->count = 0;
}

bool record_order_push(struct record_order *o, int64_t slot, void *frame, usec_t now)
{
    assert(o->count < RECORD_ORDER_MAX);
    int at = o->count;
    while (at > 0 && o->held[at - 1].slot > slot)
        at--;
    if (slot <= o->left || (at > 0 && o->held[at - 1].slot == slot))
        return false;
    memmove(&o->held[at + 1], &o->held[at], (size_t)(o->count - at) * sizeof(*o->held));
    o->held[at] = (struct record_held){slot, now + o->hold, frame};
    o->count++;
    return true;
}

void *record_order_pull(struct record_order *o, bool all, usec_t now)
{
    // A frame behind the first one may be due before it: then the first one, which came later, has
    // no earlier frame to wait for that the other one would not have.
    bool due = all || o->count == RECORD_ORDER_MAX;
    for (int i = 0; i < o->count && !due; i++)
        due = now >= o->held[i].due;
    if (!due || o->count == 0)
        return NULL;
    void *frame = o->held[0].frame;
    o->left = o->held[0].slot;
    o->count--;
    memmove(&o->held[0], &o->held[1], (size_t)o->count * sizeof(*o->held));
    return frame;
}
