// SPDX-License-Identifier: GPL-2.0-or-later
// Low latency: frames leave as they become whole; playout.h tells the law.
#include "stream/playout/playout_state.h"

// Low latency: may the frame in front go although an older one, or the one it rests on, is missing?
static bool may_pass(struct playout *p, const struct received_frame *f, int64_t expected,
                     usec_t now)
{
    if (f->number <= expected || p->stream_ended)
        return true;
    for (int i = 0; i < p->held_count; i++) {
        // A repaired or key frame further on: nobody waits any more for what is in front of it.
        if (playout_is_decodable(p, p->held[i].frame))
            return true;
    }
    usec_t limit = p->held[0].since + PLAYOUT_REPAIR;
    return now >= limit || playout_wait_until(p, limit);
}

bool playout_poll_low_latency(struct playout *p, struct playout_action *out, usec_t now)
{
    for (;;) {
        const struct received_frame *f = playout_front(p);
        if (f && f->number < p->next)
            return playout_hand_out(p, PLAYOUT_DECODE_ONLY, now, out, now);
        int64_t expected = playout_next_expected(p, p->next);
        if (!f)
            break;
        if (!may_pass(p, f, expected, now))
            return false;
        if (f->number > expected) {
            if (!playout_miss(p, expected, now))
                return playout_poll_missed(p, out, now);
            continue;
        }
        if (p->mode == PLAYOUT_REBUFFERING)
            return playout_stall_end(p, out, now);
        return playout_hand_out(p, PLAYOUT_DECODE_AND_SHOW, now, out, now);
    }
    usec_t interval =
        playout_pts(p, playout_next_expected(p, p->left + 1)) - playout_pts(p, p->left);
    usec_t expected_at = p->left_at + interval;
    if (p->stream_ended) {
        if (p->mode == PLAYOUT_REBUFFERING)
            return playout_stall_end(p, out, now);
        if (now < expected_at)
            return playout_wait_until(p, expected_at);
        p->mode = PLAYOUT_ENDED;
        return false;
    }
    if (p->mode == PLAYOUT_REBUFFERING)
        return false;
    usec_t limit = expected_at + usec_max(3 * interval, 100 * USEC_PER_MSEC);
    return now < limit ? playout_wait_until(p, limit) : playout_stall_begin(p, expected_at, out);
}
