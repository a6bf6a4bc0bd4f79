// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/latency/recent_loss.h"

void recent_loss_init(struct recent_loss *l)
{
    *l = (struct recent_loss){.highest = -1, .lost_at = USEC_NEVER, .frequent_at = USEC_NEVER};
}

static void note_loss(struct recent_loss *l, usec_t queued, usec_t now)
{
    l->lost_at = now;
    if (queued < RECENT_LOSS_QUEUE)
        l->frequent_at = now;
    if (l->event_count &&
        now - l->events[(l->event_count - 1) % RECENT_LOSS_EVENTS] < RECENT_LOSS_APART)
        return;
    l->events[l->event_count++ % RECENT_LOSS_EVENTS] = now;
    usec_t oldest = l->events[l->event_count % RECENT_LOSS_EVENTS];
    if (l->event_count >= RECENT_LOSS_EVENTS && now - oldest < RECENT_LOSS_SPAN)
        l->frequent_at = now;
}

void recent_loss_packet(struct recent_loss *l, int64_t ext_seq, usec_t queued, usec_t now)
{
    if (l->highest < 0) {
        l->highest = ext_seq;
        l->seen = UINT64_MAX;
        return;
    }
    if (ext_seq <= l->highest) {
        if (l->highest - ext_seq < 64)
            l->seen |= UINT64_C(1) << (l->highest - ext_seq);
        return;
    }
    for (; l->highest < ext_seq; l->highest++) {
        // Beyond the bits all between are missing.
        if (ext_seq - l->highest > 64) {
            l->highest = ext_seq - 64;
            l->seen = 0;
        }
        l->seen = l->seen << 1 | (l->highest + 1 == ext_seq);
        if (!(l->seen >> RECENT_LOSS_REORDER & 1))
            note_loss(l, queued, now);
    }
}

bool recent_loss_read(const struct recent_loss *l, usec_t now)
{
    return l->lost_at != USEC_NEVER && now - l->lost_at < RECENT_LOSS_MEMORY;
}

bool recent_loss_is_frequent(const struct recent_loss *l, usec_t now)
{
    return l->frequent_at != USEC_NEVER && now - l->frequent_at < RECENT_LOSS_MEMORY;
}
