// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/playout.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "stream/playout/film_clock.h"
#include "stream/playout/media_skip.h"
#include "stream/playout/scaled_clock.h"

// After a seek the first picture is shown as soon as it is decoded. The pictures behind it are
// shown as if it were due so much later: the frames that only serve to decode it take their time.
#define AFTER_SEEK (100 * USEC_PER_MSEC)

struct playout {
    struct playout_buffer *buffer; // owned
    struct play_clock clock;
    bool scaled; // scaled_clock.h says the steps
    enum playout_mode mode;
    struct playout_action pending; // kind NONE: nothing
    usec_t wake;
    usec_t last_now;
    usec_t start_threshold;
    usec_t resume_threshold;
    bool end_told;
    bool paused;
    bool holds; // the next frame shown is the last one: a seek within a pause; not `paused`
    usec_t paused_at;
    int64_t show;    // while BUFFERING: where playing begins; -1: at the first key frame
    bool at_once;    // playing begins once this frame is held, whatever the threshold
    bool previewed;  // while BUFFERING: the key frame before it was handed out to be shown
    int64_t skip_to; // frames below are left out; -1: none
    usec_t stall_at; // while REBUFFERING; pauses added
};

// ---- What is held

static const struct received_frame *held_at(const struct playout *p, int i)
{
    return held_frames_at(playout_buffer_held(p->buffer), i);
}

usec_t playout_pts(const struct playout *p, int64_t number)
{
    return playout_buffer_pts(p->buffer, number);
}

usec_t playout_interval(const struct playout *p)
{
    return playout_buffer_interval(p->buffer);
}

usec_t playout_due(const struct playout *p, int64_t number)
{
    return media_clock_due(&p->clock.media, playout_pts(p, number));
}

bool playout_was_late(const struct playout *p, const struct lateness *own, int64_t number)
{
    usec_t due = playout_due(p, number);
    usec_t grace = usec_min(playout_interval(p), FILM_CLOCK_MAX_GRACE);
    return lateness_lasts(own) || lateness_covers(own, due, due + grace);
}

int playout_level_at(const struct playout *p, int64_t number)
{
    return playout_buffer_level_at(p->buffer, number);
}

int64_t playout_awaited(const struct playout *p)
{
    return playout_buffer_awaited(p->buffer);
}

uint64_t playout_expected(const struct playout *p, int64_t from, int64_t to)
{
    return playout_buffer_count(p->buffer, from, to);
}

usec_t playout_goal(const struct playout *p)
{
    usec_t delay = playout_buffer_reorder(p->buffer);
    usec_t goal = p->mode == PLAYOUT_REBUFFERING ? p->resume_threshold : p->start_threshold;
    return delay ? delay + usec_max(goal, 1) : goal; // with the frame that the last of them is
}

usec_t playout_held(const struct playout *p)
{
    bool begins = p->mode == PLAYOUT_BUFFERING && !p->previewed;
    int first = begins ? held_frames_first_key(playout_buffer_held(p->buffer)) : 0;
    return playout_buffer_media(p->buffer, first);
}

size_t playout_held_bytes(const struct playout *p)
{
    return playout_buffer_bytes(p->buffer);
}

int playout_held_frames(const struct playout *p)
{
    return held_frames_count(playout_buffer_held(p->buffer));
}

// ---- Input

static struct playout_action action(enum playout_kind kind, usec_t at)
{
    return (struct playout_action){.kind = kind, .number = -1, .level = -1, .at = at};
}

// The media goes on elsewhere, with the frame that was just pushed.
static void move(struct playout *p, usec_t now)
{
    p->skip_to = -1;
    if (p->mode == PLAYOUT_BUFFERING) {
        p->previewed = false;
        return;
    }
    p->clock.astray = true;
    if (p->mode != PLAYOUT_PLAYING)
        return;
    p->mode = PLAYOUT_REBUFFERING;
    p->stall_at = p->paused ? p->paused_at : now;
    p->pending = action(PLAYOUT_STALL_BEGIN, now);
}

int playout_push(struct playout *p, struct received_frame *f, usec_t now)
{
    assert(now >= p->last_now);
    p->last_now = now;
    p->wake = 0;
    bool moved;
    int err = playout_buffer_push(p->buffer, f, &moved, now);
    if (moved)
        move(p, now);
    return err;
}

void playout_set_missing(struct playout *p, int64_t seq)
{
    playout_buffer_set_missing(p->buffer, seq);
    p->wake = 0;
}

void playout_end(struct playout *p, usec_t now)
{
    playout_buffer_end(p->buffer);
    p->last_now = usec_max(p->last_now, now);
    p->wake = 0;
}

void playout_pause(struct playout *p, usec_t now)
{
    p->holds = false;
    if (p->paused)
        return;
    p->paused = true;
    p->paused_at = now;
    p->wake = 0;
}

static void start_clock(struct playout *p, usec_t now)
{
    if (!p->paused)
        return;
    usec_t pause = now - p->paused_at;
    p->paused = false;
    p->clock.media.at += pause;
    p->clock.left_at += pause;
    p->stall_at += pause;
    playout_buffer_paused(p->buffer, pause);
    p->wake = 0;
}

void playout_resume(struct playout *p, usec_t now)
{
    p->holds = false;
    start_clock(p, now);
}

static usec_t stalled_until(const struct playout *p, usec_t now)
{
    return usec_max(0, (p->paused ? p->paused_at : now) - p->stall_at);
}

void playout_seek(struct playout *p, int64_t first, int64_t show, bool at_once, usec_t now)
{
    p->holds |= p->paused && show >= 0;
    if (p->holds)
        start_clock(p, now);
    playout_buffer_seek(p->buffer, first);
    if (p->pending.kind == PLAYOUT_STALL_BEGIN) {
        p->pending.kind = PLAYOUT_NONE; // the caller has not polled it yet
    } else if (p->mode == PLAYOUT_REBUFFERING) {
        p->pending = action(PLAYOUT_STALL_END, now);
        p->pending.stalled = stalled_until(p, now);
    }
    p->mode = PLAYOUT_BUFFERING;
    p->end_told = false;
    p->skip_to = -1;
    p->clock.astray = false;
    p->clock.hurried = -1;
    p->show = show;
    p->previewed = false;
    p->at_once = at_once;
    p->last_now = usec_max(p->last_now, now);
    p->wake = 0;
}

void playout_flush(struct playout *p, int64_t from, usec_t now)
{
    playout_buffer_drop_all(p->buffer);
    playout_seek(p, from, -1, false, now);
}

void playout_set_thresholds(struct playout *p, usec_t start, usec_t resume)
{
    // More than may be held would never be reached.
    p->start_threshold = usec_min(start, PLAYOUT_MAX_AHEAD / 2);
    p->resume_threshold = usec_min(resume, PLAYOUT_MAX_AHEAD / 2);
    p->wake = 0;
}

void playout_set_scale(struct playout *p, double pace, usec_t now)
{
    p->scaled = pace != 1;
    media_clock_set_speed(&p->clock.media, (int32_t)lround(pace * MEDIA_CLOCK_UNIT), now);
}

// ---- The media clock

void playout_set_speed(struct playout *p, int32_t speed_ppm, usec_t now)
{
    media_clock_set_speed(&p->clock.media, speed_ppm, p->paused ? p->paused_at : now);
    p->wake = 0;
}

usec_t playout_position(const struct playout *p, usec_t now)
{
    return media_clock_position(&p->clock.media, p->paused ? p->paused_at : now);
}

void playout_postpone(struct playout *p, usec_t by)
{
    p->clock.media.at += by;
    p->wake = 0;
}

const struct media_clock *playout_clock(const struct playout *p)
{
    bool runs = p->mode == PLAYOUT_PLAYING || p->mode == PLAYOUT_REBUFFERING;
    return runs && !p->paused ? p->clock.ops->line(&p->clock, p->mode == PLAYOUT_REBUFFERING)
                              : NULL;
}

usec_t playout_skip(struct playout *p, usec_t most)
{
    if (p->mode != PLAYOUT_PLAYING || p->paused || !p->clock.ops->skip_target)
        return 0;
    int64_t first = playout_buffer_expected(p->buffer, playout_buffer_next(p->buffer));
    int64_t to = p->clock.ops->skip_target(p->buffer, first, most);
    if (to <= first)
        return 0;
    // It takes the place of the frame that was next: the pictures go on without a gap.
    usec_t due = playout_due(p, first);
    media_clock_set(&p->clock.media, playout_pts(p, to), due);
    p->skip_to = to;
    p->wake = 0;
    return playout_pts(p, to) - playout_pts(p, first);
}

// ---- Output

static bool wait_until(struct playout *p, usec_t t)
{
    p->wake = usec_min(p->wake, t);
    return false;
}

// Gives out the next frame that was passed over and is decided by now.
static bool poll_missed(struct playout *p, struct playout_action *out, usec_t now)
{
    int64_t number;
    bool late;
    usec_t wake;
    if (!playout_buffer_decided(p->buffer, &number, &late, &wake, now))
        return wait_until(p, wake);
    *out = action(late ? PLAYOUT_LATE : PLAYOUT_LOST, now);
    out->number = number;
    out->level = playout_level_at(p, number);
    return true;
}

// The first frame held leaves.
static bool hand_out(struct playout *p, enum playout_kind kind, usec_t show_at,
                     struct playout_action *out, usec_t now)
{
    struct playout_taken taken = playout_buffer_take(p->buffer);
    *out = action(kind, now);
    out->frame = taken.frame;
    out->number = taken.frame->number;
    out->level = taken.level;
    out->sound = taken.sound;
    out->show_at = usec_max(show_at, now);
    if (kind != PLAYOUT_DECODE_AND_SHOW || p->mode == PLAYOUT_BUFFERING)
        return true;
    p->clock.left = out->number;
    p->clock.left_at = now;
    if (p->holds && taken.in_turn)
        playout_pause(p, out->show_at);
    return true;
}

static bool has_enough(const struct playout *p, int first)
{
    if (playout_buffer_has_ended(p->buffer) || playout_buffer_is_full(p->buffer) ||
        p->clock.ops->begins_at_key)
        return true;
    return p->at_once ? held_frames_reach(playout_buffer_held(p->buffer), p->show)
                      : playout_buffer_media(p->buffer, first) >= playout_goal(p);
}

// Hands out key frame `first`, before the frame of a seek, to be shown until that is there: what is
// between them may take seconds to arrive. Returns false if it is not that.
static bool preview(struct playout *p, int first, struct playout_action *out, usec_t now)
{
    if (!p->at_once || p->previewed || held_at(p, first)->number >= p->show)
        return false;
    playout_buffer_drop(p->buffer, first);
    p->previewed = true;
    return hand_out(p, PLAYOUT_DECODE_AND_SHOW, now, out, now);
}

static bool poll_buffering(struct playout *p, struct playout_action *out, usec_t now)
{
    const struct held_frames *held = playout_buffer_held(p->buffer);
    int first = p->previewed ? 0 : held_frames_first_key(held);
    if (first == held_frames_count(held)) {
        playout_buffer_give_up(p->buffer);
        if (playout_buffer_has_ended(p->buffer))
            p->mode = PLAYOUT_ENDED;
        return false;
    }
    // The frame that the sender began with, or one before this one, is on its way.
    if (!p->previewed && playout_buffer_lacks_begin(p->buffer, first))
        return false;
    if (!has_enough(p, first))
        return preview(p, first, out, now);
    playout_buffer_drop(p->buffer, first);
    p->mode = PLAYOUT_PLAYING;
    int64_t begin = held_at(p, 0)->number;
    // After the key frame was shown, the first one in decoding order may come after frame `show`.
    begin = p->previewed || p->show > begin ? p->show : begin;
    playout_buffer_start(p->buffer, begin);
    usec_t later =
        p->scaled ? p->clock.decode_lead : AFTER_SEEK + playout_buffer_reorder(p->buffer);
    media_clock_set(&p->clock.media, playout_pts(p, begin), now + (p->at_once ? later : 0));
    p->clock.hurried = p->at_once ? begin : -1;
    p->clock.left = begin;
    p->clock.left_at = now;
    *out = action(PLAYOUT_START, now);
    out->number = begin;
    out->level = playout_level_at(p, begin);
    return true;
}

static struct clock_step next_step(struct playout *p, usec_t now)
{
    struct clock_step s;
    if (p->skip_to >= 0 && media_skip_step(p->skip_to, p->buffer, &s))
        return s;
    p->skip_to = -1;
    bool stalled = p->mode == PLAYOUT_REBUFFERING;
    usec_t goal = stalled ? playout_goal(p) : 0;
    return (p->scaled ? scaled_clock_step : p->clock.ops->step)(&p->clock, p->buffer, stalled, goal,
                                                                now);
}

// Takes the steps of the clock up to one that the caller must know.
static bool poll_clock(struct playout *p, struct playout_action *out, usec_t now)
{
    for (;;) {
        struct clock_step s = next_step(p, now);
        switch (s.kind) {
        case STEP_WAIT:
            return wait_until(p, s.at);
        case STEP_DECODE:
            (void)hand_out(p, PLAYOUT_DECODE_ONLY, now, out, now);
            out->skipped = s.skipped;
            return true;
        case STEP_SHOW:
            return hand_out(p, PLAYOUT_DECODE_AND_SHOW, s.at, out, now);
        case STEP_DROP:
            *out = action(PLAYOUT_SKIPPED, now);
            out->number = held_at(p, 0)->number;
            out->level = playout_level_at(p, out->number);
            playout_buffer_drop(p->buffer, 1);
            playout_buffer_pass_to(p->buffer, out->number + 1);
            return true;
        case STEP_PASS:
            if (!playout_buffer_pass(p->buffer, s.number, now))
                return poll_missed(p, out, now);
            break;
        case STEP_STALL:
            p->mode = PLAYOUT_REBUFFERING;
            p->stall_at = s.at;
            *out = action(PLAYOUT_STALL_BEGIN, s.at);
            return true;
        case STEP_RESUME:
            p->mode = PLAYOUT_PLAYING;
            *out = action(PLAYOUT_STALL_END, now);
            out->stalled = stalled_until(p, now);
            return true;
        case STEP_END:
            p->mode = PLAYOUT_ENDED;
            return false;
        }
    }
}

static bool poll_mode(struct playout *p, struct playout_action *out, usec_t now)
{
    if (p->mode == PLAYOUT_BUFFERING)
        return poll_buffering(p, out, now);
    return p->mode != PLAYOUT_ENDED && poll_clock(p, out, now);
}

bool playout_poll(struct playout *p, struct playout_action *out, usec_t now)
{
    assert(now >= p->last_now);
    p->last_now = now;
    p->wake = USEC_NEVER;
    if (p->pending.kind != PLAYOUT_NONE) {
        *out = p->pending;
        p->pending.kind = PLAYOUT_NONE;
        return true;
    }
    if (poll_missed(p, out, now))
        return true;
    if (!p->paused && poll_mode(p, out, now))
        return true;
    if (p->mode == PLAYOUT_ENDED && !p->end_told) {
        playout_buffer_close(p->buffer);
        if (poll_missed(p, out, now))
            return true;
        p->end_told = true;
        *out = action(PLAYOUT_ENDED_ACTION, now);
        return true;
    }
    *out = action(PLAYOUT_NONE, now);
    return false;
}

usec_t playout_next_timeout(const struct playout *p)
{
    return p->wake;
}

// ---- Life

struct playout *playout_new(const struct playout_config *config)
{
    const struct ladder *ladder = config->ladder;
    assert(ladder->source_fps.num > 0 && ladder->source_fps.den > 0);
    assert(config->decode_lead >= 0 && config->decode_lead <= USEC_PER_SEC);
    assert(ladder->level_count == 0 || (config->level >= 0 && config->level < ladder->level_count));
    struct playout *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->clock.ops = config->clock ? config->clock : &film_clock;
    p->clock.decode_lead = config->decode_lead;
    media_clock_init(&p->clock.media);
    struct playout_buffer_config buffer = {.ladder = ladder,
                                           .tracker = config->tracker,
                                           .level = config->level,
                                           .stamped = config->stamped,
                                           .reorders = config->reorders,
                                           .waits = config->waits,
                                           .keeps_newer = p->clock.ops->keeps_newer};
    p->buffer = playout_buffer_new(&buffer);
    if (!p->buffer) {
        free(p);
        return NULL;
    }
    playout_flush(p, 0, 0);
    playout_set_thresholds(p, config->start_threshold, config->resume_threshold);
    p->at_once = config->at_once;
    p->last_now = INT64_MIN;
    return p;
}

void playout_free(struct playout *p)
{
    if (p)
        playout_buffer_free(p->buffer);
    free(p);
}

enum playout_mode playout_mode(const struct playout *p)
{
    return p->mode;
}

usec_t playout_early(const struct playout *p, int64_t number, usec_t at)
{
    bool hurried = p->mode == PLAYOUT_PLAYING && number >= 0 && number == p->clock.hurried;
    return hurried ? usec_max(0, playout_due(p, number) - at) : 0;
}

bool playout_is_scaled(const struct playout *p)
{
    return p->scaled;
}

bool playout_paused(const struct playout *p)
{
    return p->paused;
}

bool playout_holds(const struct playout *p)
{
    return p->holds;
}
