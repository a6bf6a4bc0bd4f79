// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/latency/recent_loss.h"

void recent_loss_init(struct recent_loss *l)
{
    *l = (struct recent_loss){
        .highest = -1, .lost_at = USEC_NEVER, .frequent_at = USEC_NEVER, .clear_at = USEC_NEVER};
    windowed_min_init(&l->least, RECENT_LOSS_WAY);
    windowed_min_init(&l->longest, RECENT_LOSS_WAY);
    for (int i = 0; i <= RECENT_LOSS_REORDER; i++)
        l->ways[i] = USEC_NEVER;
}

static bool is_clear(const struct recent_loss *l, usec_t way)
{
    return way != USEC_NEVER && way - windowed_min_read(&l->least) < RECENT_LOSS_QUEUE;
}

// Returns true if a packet with this way met a queue that was about as long as it becomes.
static bool is_at_peak(const struct recent_loss *l, usec_t way)
{
    if (way == USEC_NEVER)
        return false;
    usec_t least = windowed_min_read(&l->least);
    usec_t peak = -windowed_min_read(&l->longest) - least;
    return peak >= RECENT_LOSS_QUEUE && (double)(way - least) >= RECENT_LOSS_PEAK * (double)peak;
}

static void note_loss(struct recent_loss *l, usec_t now)
{
    l->lost_at = now;
    usec_t longest = l->ways[0];
    for (int i = 1; i <= RECENT_LOSS_REORDER; i++)
        longest = usec_max(longest, l->ways[i]);
    if (is_clear(l, longest)) {
        l->clear_at = now;
        l->clear_way = longest;
    }
    if (is_at_peak(l, longest))
        return;
    if (l->event_count &&
        now - l->events[(l->event_count - 1) % RECENT_LOSS_EVENTS] < RECENT_LOSS_APART)
        return;
    l->events[l->event_count++ % RECENT_LOSS_EVENTS] = now;
    usec_t oldest = l->events[l->event_count % RECENT_LOSS_EVENTS];
    if (l->event_count >= RECENT_LOSS_EVENTS && now - oldest < RECENT_LOSS_SPAN)
        l->frequent_at = now;
}

static void note_way(struct recent_loss *l, usec_t way, usec_t now)
{
    l->ways[l->way_next++ % (RECENT_LOSS_REORDER + 1)] = way;
    if (way == USEC_NEVER)
        return;
    windowed_min_add(&l->least, way, now);
    windowed_min_add(&l->longest, -way, now);
}

void recent_loss_packet(struct recent_loss *l, int64_t ext_seq, usec_t way, usec_t now)
{
    if (ext_seq > l->highest)
        note_way(l, way, now);
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
            note_loss(l, now);
    }
}

static bool is_recent(usec_t at, usec_t memory, usec_t now)
{
    return at != USEC_NEVER && now - at < memory;
}

bool recent_loss_read(const struct recent_loss *l, usec_t memory, usec_t now)
{
    return is_recent(l->lost_at, memory, now);
}

bool recent_loss_is_frequent(const struct recent_loss *l, usec_t now)
{
    return is_recent(l->frequent_at, RECENT_LOSS_MEMORY, now) ||
           (is_recent(l->clear_at, RECENT_LOSS_MEMORY, now) && is_clear(l, l->clear_way));
}
