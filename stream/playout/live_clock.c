// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/live_clock.h"

// A missing frame is passed over so long before the next one held is due, to decode that one.
#define PASS_LEAD (15 * USEC_PER_MSEC)

static usec_t due_of(const struct media_clock *line, const struct playout_buffer *b, int64_t number)
{
    return media_clock_due(line, playout_buffer_pts(b, number));
}

// Returns when the first frame may leave although an older frame, the frame it depends on, or its
// size's key frame is missing.
static usec_t may_pass_at(const struct media_clock *line, const struct playout_buffer *b,
                          int64_t expected, usec_t now)
{
    const struct held_frames *held = playout_buffer_held(b);
    if (playout_buffer_has_ended(b))
        return now;
    usec_t due = usec_max(due_of(line, b, expected),
                          media_clock_due(line, held_frames_at(held, 0)->pts) - PASS_LEAD);
    if (now < due)
        return due;
    for (int i = 0; i < held_frames_count(held); i++) {
        // A repaired or key frame is held: the missing frames before it are not needed.
        if (playout_buffer_decodes(b, held_frames_at(held, i)))
            return now;
    }
    return held_frames_since(held, 0) + LIVE_CLOCK_REPAIR;
}

// No frame is held.
static struct clock_step empty(const struct play_clock *c, const struct media_clock *line,
                               const struct playout_buffer *b, bool stalled, usec_t now)
{
    if (playout_buffer_has_ended(b) && stalled)
        return (struct clock_step){.kind = STEP_RESUME};
    if (stalled)
        return clock_step_wait(USEC_NEVER);
    int64_t next = playout_buffer_expected(b, c->left + 1);
    usec_t interval = playout_buffer_pts(b, next) - playout_buffer_pts(b, c->left);
    usec_t expected_at = c->left_at + interval;
    if (!c->astray)
        expected_at = usec_max(expected_at, due_of(line, b, playout_buffer_awaited(b)));
    if (playout_buffer_has_ended(b))
        return now < expected_at ? clock_step_wait(expected_at)
                                 : (struct clock_step){.kind = STEP_END};
    usec_t limit = expected_at + usec_max(3 * interval, 100 * USEC_PER_MSEC);
    return now < limit ? clock_step_wait(limit)
                       : (struct clock_step){.kind = STEP_STALL, .at = expected_at};
}

// A picture waits for its layers until all that the level has are there, or a later picture is. Its
// own wait ends when it is due, but not before a frame interval has passed: where the latency is
// short, the picture is due when its first layer arrives.
static usec_t layers_awaited(const struct media_clock *line, const struct playout_buffer *b,
                             const struct received_frame *f)
{
    usec_t end = playout_buffer_pts(b, playout_buffer_expected(b, f->number + 1));
    usec_t limit = held_frames_since(playout_buffer_held(b), 0) + end - f->pts;
    return usec_max(limit, media_clock_due(line, f->pts) - PASS_LEAD);
}

struct clock_step live_clock_step(const struct play_clock *c, const struct media_clock *line,
                                  struct playout_buffer *b, const struct playout_front *front,
                                  bool stalled, usec_t now)
{
    const struct received_frame *f = front->frame;
    if (!f)
        return empty(c, line, b, stalled, now);
    if (f->number < front->next)
        return (struct clock_step){.kind = STEP_DECODE};
    bool gap = f->number > front->expected;
    if (gap || !front->follows) {
        usec_t at = may_pass_at(line, b, front->expected, now);
        if (now < at)
            return clock_step_wait(at);
    }
    if (gap)
        return (struct clock_step){.kind = STEP_PASS, .number = front->expected};
    usec_t wanted = play_clock_wanted(c, line, b, front);
    if (front->lacks_layer)
        wanted = usec_max(wanted, layers_awaited(line, b, f));
    if (now < wanted)
        return clock_step_wait(wanted);
    if (stalled)
        return (struct clock_step){.kind = STEP_RESUME};
    return (struct clock_step){.kind = STEP_SHOW, .at = media_clock_due(line, f->pts)};
}

static struct clock_step step(struct play_clock *c, struct playout_buffer *b, bool stalled,
                              usec_t goal, usec_t now)
{
    (void)goal; // a stall lasts until the next frame
    struct playout_front front = playout_buffer_front(b);
    if (c->astray && front.frame && front.frame->number >= front.next) {
        media_clock_set(&c->media, front.frame->pts, now);
        c->astray = false;
    }
    return live_clock_step(c, &c->media, b, &front, stalled, now);
}

static const struct media_clock *line(const struct play_clock *c, bool stalled)
{
    return stalled && c->astray ? NULL : &c->media;
}

// The last frame up to which nothing is missing; otherwise the last key frame.
static int64_t skip_target(const struct playout_buffer *b, int64_t first, usec_t most)
{
    const struct held_frames *held = playout_buffer_held(b);
    int64_t expected = first, to = -1;
    for (int i = 0; i < held_frames_count(held); i++) {
        const struct received_frame *f = held_frames_at(held, i);
        bool other = !playout_buffer_is_followed(b, f->size_id);
        if (f->number < first || (other && !f->key))
            continue;
        if (other || (f->number > expected && !f->key) ||
            f->pts - playout_buffer_pts(b, first) > most)
            break;
        to = f->number;
        expected = playout_buffer_expected(b, to + 1);
    }
    return to;
}

const struct play_clock_ops live_clock = {
    .step = step, .line = line, .skip_target = skip_target, .keeps_newer = true};
