// SPDX-License-Identifier: GPL-2.0-or-later
// What leaves the playout buffer, and when.
#include <assert.h>
#include <string.h>

#include "stream/playout/playout_state.h"

// After a seek the first picture is shown as soon as it is decoded, those behind it as if it were
// due so much later: what only serves to decode it takes its time.
#define AFTER_SEEK (100 * USEC_PER_MSEC)

bool playout_act(struct playout_action *out, enum playout_kind kind, usec_t at)
{
    *out = (struct playout_action){.kind = kind, .number = -1, .level = -1, .at = at};
    return true;
}

bool playout_wait_until(struct playout *p, usec_t t)
{
    p->wake = usec_min(p->wake, t);
    return false;
}

static bool forget_missed(struct playout *p, int i, enum playout_kind kind,
                          struct playout_action *out, usec_t now)
{
    playout_act(out, kind, now);
    out->number = p->missed[i].number;
    out->level = playout_level_at(p, out->number);
    p->missed_count--;
    memmove(&p->missed[i], &p->missed[i + 1], (size_t)(p->missed_count - i) * sizeof(p->missed[0]));
    return true;
}

bool playout_poll_missed(struct playout *p, struct playout_action *out, usec_t now)
{
    for (int i = 0; p->arrived_count > 0 && i < p->missed_count; i++) {
        if (p->missed[i].arrived) {
            p->arrived_count--;
            return forget_missed(p, i, PLAYOUT_LATE, out, now);
        }
    }
    if (p->missed_count == 0) {
        p->settle_all = false;
        return false;
    }
    usec_t settled = p->missed[0].at + PLAYOUT_SETTLE;
    if (p->settle_all || p->missed_count == PLAYOUT_MAX_MISSED || now >= settled)
        return forget_missed(p, 0, PLAYOUT_LOST, out, now);
    return playout_wait_until(p, settled);
}

bool playout_miss(struct playout *p, int64_t number, usec_t now)
{
    if (p->missed_count == PLAYOUT_MAX_MISSED)
        return false;
    p->missed[p->missed_count++] = (struct missed){.number = number, .at = now};
    playout_handed(p, number);
    return true;
}

bool playout_hand_out(struct playout *p, enum playout_kind kind, usec_t show_at,
                      struct playout_action *out, usec_t now)
{
    struct received_frame *f = playout_take(p, 0);
    playout_act(out, kind, now);
    out->frame = f;
    out->number = f->number;
    out->level = playout_level_at(p, f->number);
    out->show_at = usec_max(show_at, now);
    if (playout_is_decodable(p, f)) {
        if (f->size_id != p->size)
            p->size_at = f->number;
        p->size = f->size_id;
        p->decoded = received_frame_slot(f);
    }
    if (kind == PLAYOUT_DECODE_AND_SHOW) {
        p->left = f->number;
        p->left_at = now;
    }
    bool in_turn = f->number <= playout_awaited(p);
    playout_handed(p, f->number);
    p->full = false;
    if (p->holds && kind == PLAYOUT_DECODE_AND_SHOW && in_turn)
        playout_pause(p, usec_max(show_at, now));
    return true;
}

bool playout_stall_begin(struct playout *p, usec_t at, struct playout_action *out)
{
    p->mode = PLAYOUT_REBUFFERING;
    p->stall_at = at;
    return playout_act(out, PLAYOUT_STALL_BEGIN, at);
}

bool playout_stall_end(struct playout *p, struct playout_action *out, usec_t now)
{
    p->mode = PLAYOUT_PLAYING;
    playout_act(out, PLAYOUT_STALL_END, now);
    out->stalled = playout_stalled_until(p, now);
    return true;
}

// The frame to begin with, or one that comes after it in any order.
static bool holds_place(const struct playout *p)
{
    for (int i = 0; i < p->held_count; i++) {
        const struct received_frame *f = p->held[i].frame;
        if (f->number == p->show || (f->number > p->show && received_frame_slot(f) > p->show))
            return true;
    }
    return false;
}

static bool has_enough(const struct playout *p, int first)
{
    if (p->stream_ended || p->full || p->config.low_latency)
        return true;
    return p->at_once ? holds_place(p) : playout_media_from(p, first) >= playout_goal(p);
}

static bool poll_buffering(struct playout *p, struct playout_action *out, usec_t now)
{
    int first = playout_first_key(p);
    if (first == p->held_count) {
        if (p->full) // of frames that nothing can be made of
            playout_drop_all(p);
        p->full = false;
        if (p->stream_ended)
            p->mode = PLAYOUT_ENDED;
        return false;
    }
    if (!has_enough(p, first))
        return false;
    while (first-- > 0)
        playout_drop(p, 0);
    p->mode = PLAYOUT_PLAYING;
    p->next = p->held[0].frame->number;
    if (p->show > p->next)
        p->next = p->show;
    usec_t later = AFTER_SEEK + playout_reorder_delay(p, p->held[0].frame->size_id);
    media_clock_set(&p->clock, playout_pts(p, p->next), now + (p->at_once ? later : 0));
    p->hurried = p->at_once ? p->next : -1;
    p->left = p->next;
    p->left_at = now;
    playout_act(out, PLAYOUT_START, now);
    out->number = p->next;
    out->level = playout_level_at(p, p->next);
    return true;
}

// Leaves out what playout_skip passed over, frame by frame. False: nothing more of it.
static bool poll_skip(struct playout *p, struct playout_action *out, usec_t now)
{
    while (p->next < p->skip_to) {
        int64_t expected = playout_next_expected(p, p->next);
        int64_t held = p->held_count > 0 ? p->held[0].frame->number : INT64_MAX;
        if (held < p->next) {
            playout_drop(p, 0);
        } else if (held <= expected && held < p->skip_to) {
            playout_drop(p, 0);
            p->next = held + 1;
            playout_act(out, PLAYOUT_SKIPPED, now);
            out->number = held;
            out->level = playout_level_at(p, held);
            return true;
        } else if (expected >= p->skip_to) {
            p->next = p->skip_to;
        } else if (!playout_miss(p, expected, now)) {
            return playout_poll_missed(p, out, now);
        }
    }
    p->skip_to = -1;
    return false;
}

// Is frame `number` held, behind those that are decoded before it?
static bool has_behind(const struct playout *p, int64_t number)
{
    for (int i = 1; p->config.reorders && i < p->held_count && i < PLAYOUT_REORDER; i++)
        if (p->held[i].frame->number == number)
            return true;
    return false;
}

// When the frame at the front is to leave. What it rests on may come until it is due itself.
static usec_t wanted_at(const struct playout *p)
{
    if (p->held[0].frame->number == p->hurried || has_behind(p, p->hurried))
        return INT64_MIN;
    bool waits = p->config.reorders && !playout_is_decodable(p, p->held[0].frame);
    return playout_wanted(p) - (waits ? 0 : p->config.decode_lead);
}

static bool poll_clocked(struct playout *p, struct playout_action *out, usec_t now)
{
    if (poll_skip(p, out, now))
        return true;
    for (;;) {
        const struct received_frame *f = playout_front(p);
        if (f && f->number < p->next)
            return playout_hand_out(p, PLAYOUT_DECODE_ONLY, now, out, now);
        int64_t expected = playout_awaited(p);
        if (f && (f->number <= expected || has_behind(p, expected))) {
            usec_t due = f->number == p->hurried ? now : playout_due(p, f->number);
            usec_t wanted = wanted_at(p);
            if (now < wanted)
                return playout_wait_until(p, wanted);
            return playout_hand_out(p, PLAYOUT_DECODE_AND_SHOW, due, out, now);
        }
        usec_t due = playout_due(p, expected);
        if (now < due)
            return playout_wait_until(p, due);
        if (f || p->ahead_count > 0) {
            if (!playout_miss(p, expected, now))
                return playout_poll_missed(p, out, now);
            continue;
        }
        if (p->stream_ended) {
            p->mode = PLAYOUT_ENDED;
            return false;
        }
        usec_t interval = playout_due(p, playout_next_expected(p, expected + 1)) - due;
        usec_t limit = due + usec_min(interval, PLAYOUT_MAX_GRACE);
        return now < limit ? playout_wait_until(p, limit) : playout_stall_begin(p, due, out);
    }
}

static bool poll_rebuffering(struct playout *p, struct playout_action *out, usec_t now)
{
    const struct received_frame *f = playout_front(p);
    if (f && f->number < p->next)
        return playout_hand_out(p, PLAYOUT_DECODE_ONLY, now, out, now);
    if (!f && !p->stream_ended)
        return false;
    if (f && playout_media_from(p, 0) < playout_goal(p) && !p->stream_ended && !p->full)
        return false;
    int64_t next = f ? playout_lowest_held(p) : playout_awaited(p);
    media_clock_set(&p->clock, playout_pts(p, next), now);
    return playout_stall_end(p, out, now);
}

static bool poll_mode(struct playout *p, struct playout_action *out, usec_t now)
{
    if (p->mode == PLAYOUT_BUFFERING)
        return poll_buffering(p, out, now);
    if (p->mode == PLAYOUT_ENDED)
        return false;
    if (p->config.low_latency)
        return playout_poll_low_latency(p, out, now);
    return p->mode == PLAYOUT_PLAYING ? poll_clocked(p, out, now) : poll_rebuffering(p, out, now);
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
    if (playout_poll_missed(p, out, now))
        return true;
    if (!p->paused && poll_mode(p, out, now))
        return true;
    if (p->mode == PLAYOUT_ENDED && !p->end_told) {
        p->settle_all = p->missed_count > 0;
        if (playout_poll_missed(p, out, now))
            return true;
        p->end_told = true;
        return playout_act(out, PLAYOUT_ENDED_ACTION, now);
    }
    return playout_act(out, PLAYOUT_NONE, now) && false;
}

usec_t playout_next_timeout(const struct playout *p)
{
    return p->wake;
}
