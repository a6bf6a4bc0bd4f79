// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/media_skip.h"

// Returns true if a frame up to `to` may depend on `f`.
static bool is_needed(const struct playout_buffer *b, const struct received_frame *f, int64_t to)
{
    const struct ladder *l = playout_buffer_setup(b)->ladder;
    const struct held_frames *held = playout_buffer_held(b);
    int top = f->size_id < l->size_count ? l->sizes[f->size_id].layers - 1 : 0;
    if (!playout_buffer_takes(b, f))
        return false;
    if (top > 0 && f->temporal_id == top && !f->key)
        return false;
    for (int i = 0; i < held_frames_count(held); i++) {
        const struct received_frame *k = held_frames_at(held, i);
        if (k->key && k->size_id == f->size_id && k->number > f->number && k->number <= to)
            return false;
    }
    return true;
}

bool media_skip_step(int64_t to, struct playout_buffer *b, struct clock_step *out)
{
    while (playout_buffer_next(b) < to) {
        struct playout_front front = playout_buffer_front(b);
        const struct received_frame *f = front.frame;
        // Of B frames, one that left already is not awaited, but has its number.
        int64_t expected = playout_buffer_expected(b, front.next);
        if (f && f->number < front.next) {
            *out = (struct clock_step){.kind = STEP_DECODE};
            return true;
        }
        if (f && f->number <= expected && f->number < to) {
            bool needed = is_needed(b, f, to);
            *out = (struct clock_step){.kind = needed ? STEP_DECODE : STEP_DROP, .skipped = true};
            return true;
        }
        if (expected < to) {
            *out = (struct clock_step){.kind = STEP_PASS, .number = expected};
            return true;
        }
        playout_buffer_pass_to(b, to);
    }
    return false;
}
