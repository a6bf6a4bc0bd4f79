// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/film_clock.h"

static usec_t due_of(const struct play_clock *c, const struct playout_buffer *b, int64_t number)
{
    return media_clock_due(&c->media, playout_buffer_pts(b, number));
}

// Returns true if playing waits for the frame that is next, or for one that it depends on.
static bool is_awaited(const struct playout_buffer *b, const struct playout_front *front)
{
    return front->in_turn ? front->lacks_reference : playout_buffer_may_come(b, front->expected);
}

// The frame that is awaited is not there.
static struct clock_step lack(const struct play_clock *c, const struct playout_buffer *b,
                              const struct playout_front *front, usec_t now)
{
    usec_t due = due_of(c, b, front->expected);
    if (now < due)
        return clock_step_wait(due);
    if ((front->frame || playout_buffer_went_ahead(b)) && !is_awaited(b, front))
        return (struct clock_step){.kind = STEP_PASS, .number = front->expected};
    if (playout_buffer_has_ended(b))
        return (struct clock_step){.kind = STEP_END};
    // Frames arrive one interval apart: one that is no later than that moves no clock.
    usec_t interval = due_of(c, b, playout_buffer_expected(b, front->expected + 1)) - due;
    usec_t limit = due + usec_min(interval, FILM_CLOCK_MAX_GRACE);
    return now < limit ? clock_step_wait(limit)
                       : (struct clock_step){.kind = STEP_STALL, .at = due};
}

static struct clock_step play(const struct play_clock *c, const struct playout_buffer *b,
                              const struct playout_front *front, usec_t now)
{
    if (!front->in_turn || front->lacks_reference)
        return lack(c, b, front, now);
    usec_t wanted = play_clock_wanted(c, &c->media, b, front);
    if (now < wanted)
        return clock_step_wait(wanted);
    bool hurried = front->frame->number == c->hurried;
    usec_t due = hurried ? now : media_clock_due(&c->media, front->frame->pts);
    return (struct clock_step){.kind = STEP_SHOW, .at = due};
}

static struct clock_step resume(struct play_clock *c, const struct playout_buffer *b,
                                const struct playout_front *front, usec_t goal, usec_t now)
{
    bool ended = playout_buffer_has_ended(b);
    bool waits = front->frame ? is_awaited(b, front) || (playout_buffer_media(b, 0) < goal &&
                                                         !ended && !playout_buffer_is_full(b))
                              : !ended;
    if (waits)
        return clock_step_wait(USEC_NEVER);
    int64_t next =
        front->frame ? held_frames_lowest(playout_buffer_held(b), front->next) : front->expected;
    media_clock_set(&c->media, playout_buffer_pts(b, next), now);
    return (struct clock_step){.kind = STEP_RESUME};
}

static struct clock_step step(struct play_clock *c, struct playout_buffer *b, bool stalled,
                              usec_t goal, usec_t now)
{
    struct playout_front front = playout_buffer_front(b);
    // A late frame that others depend on.
    if (front.frame && front.frame->number < front.next && !front.lacks_reference)
        return (struct clock_step){.kind = STEP_DECODE};
    return stalled ? resume(c, b, &front, goal, now) : play(c, b, &front, now);
}

static const struct media_clock *line(const struct play_clock *c, bool stalled)
{
    return stalled ? NULL : &c->media;
}

// The frames between are in no order that is known here: only a key frame is sure to be decodable.
static int64_t skip_target(const struct playout_buffer *b, int64_t first, usec_t most)
{
    const struct held_frames *held = playout_buffer_held(b);
    int64_t to = -1;
    for (int i = 0; i < held_frames_count(held); i++) {
        const struct received_frame *f = held_frames_at(held, i);
        bool other = !playout_buffer_is_followed(b, f->size_id);
        if (f->number < first || (other && !f->key))
            continue;
        if (other || f->pts - playout_buffer_pts(b, first) > most)
            break;
        to = f->key ? f->number : to;
    }
    return to;
}

const struct play_clock_ops film_clock = {.step = step, .line = line, .skip_target = skip_target};
