// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/latency/recent_loss.h"

void recent_loss_init(struct recent_loss *l)
{
    *l = (struct recent_loss){.highest = -1, .lost_at = USEC_NEVER};
}

void recent_loss_packet(struct recent_loss *l, int64_t ext_seq, usec_t now)
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
            l->lost_at = now;
    }
}

bool recent_loss_read(const struct recent_loss *l, usec_t now)
{
    return l->lost_at != USEC_NEVER && now - l->lost_at < RECENT_LOSS_MEMORY;
}
