// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/followed_size.h"

#include "stream/playout/held_group.h"

void followed_size_init(struct followed_size *s, const struct reference_tracker *tracker,
                        const struct ladder *film)
{
    *s = (struct followed_size){.tracker = tracker, .film = film, .size = -1, .decoded = -1};
}

void followed_size_forget(struct followed_size *s)
{
    s->size = -1;
    s->decoded = -1;
    s->group = s->until = 0;
}

bool followed_size_decodes(const struct followed_size *s, const struct received_frame *f)
{
    return !s->tracker || reference_tracker_verdict(s->tracker, f) == FRAME_DECODABLE;
}

bool followed_size_takes(const struct followed_size *s, const struct received_frame *f)
{
    return f->key || f->size_id == s->size;
}

bool followed_size_refuses(const struct followed_size *s, const struct received_frame *f)
{
    int64_t slot = received_frame_slot(f);
    return slot < s->group || (f->size_id != s->size && slot < s->until);
}

static bool was_sent_later(const struct followed_size *s, const struct received_frame *f)
{
    int32_t later = (int32_t)(f->last_written_us - s->written_us);
    return later ? later > 0 : f->number > s->began;
}

bool followed_size_needs(const struct followed_size *s, const struct received_frame *f)
{
    // A key frame that was late for the size before the present one does not bring that back.
    if (f->size_id != s->size)
        return f->key && !followed_size_refuses(s, f) && (s->size < 0 || was_sent_later(s, f));
    return received_frame_slot(f) > s->decoded && followed_size_decodes(s, f);
}

// One number in two sizes. A key frame of another size is where the level changes; of two key
// frames the one that was sent later counts: a group that was cut off comes again, maybe in the
// size of the group before it. An incomplete copy never replaces a complete one.
static bool replaces(const struct followed_size *s, const struct held_frames *held,
                     const struct received_frame *twin, const struct received_frame *f)
{
    int32_t later = (int32_t)(twin->last_written_us - f->last_written_us);
    if (twin->key && f->key && later) {
        const struct received_frame *newer = later > 0 ? twin : f, *older = later > 0 ? f : twin;
        bool stays = s->film && !held_group_of(held, s->film, newer).whole &&
                     held_group_of(held, s->film, older).whole;
        return twin == (stays ? older : newer);
    }
    if (!followed_size_takes(s, f))
        return followed_size_takes(s, twin);
    if (twin->size_id == s->size || !twin->key)
        return false;
    return f->size_id == s->size || !f->key || twin->size_id > f->size_id;
}

const struct received_frame *followed_size_front(const struct followed_size *s,
                                                 struct held_frames *held, int64_t next,
                                                 int64_t missing, bool newer)
{
    while (held_frames_count(held) > 0) {
        const struct received_frame *f = held_frames_at(held, 0);
        bool is_newer = (int32_t)(f->last_written_us - s->written_us) > 0;
        bool waits = f->first_seq >= missing || (newer && is_newer);
        bool useless =
            f->number < next ? !followed_size_needs(s, f) : !followed_size_takes(s, f) && !waits;
        if (useless) {
            held_frames_drop(held, 0);
            continue;
        }
        const struct received_frame *twin =
            held_frames_count(held) > 1 ? held_frames_at(held, 1) : NULL;
        if (!twin || twin->number != f->number)
            return f;
        held_frames_drop(held, replaces(s, held, twin, f) ? 0 : 1);
    }
    return NULL;
}

void followed_size_handed(struct followed_size *s, const struct received_frame *f, int64_t end)
{
    if (f->size_id != s->size)
        s->began = f->number;
    if (f->key)
        s->written_us = f->last_written_us;
    if (f->key && s->film)
        s->group = f->number;
    s->until = end > s->until ? end : s->until;
    s->size = f->size_id;
    s->decoded = received_frame_slot(f);
}
