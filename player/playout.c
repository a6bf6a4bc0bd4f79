// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/playout.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "player/level_schedule.h"

#define LONGEST_PTS ((usec_t)1 << 60)
// Numbers: hours of a pause. A source that began anew at another number skipped nothing.
#define LONGEST_SKIP ((int64_t)1 << 18)

struct held {
    struct received_frame *frame; // owned
    usec_t since;                 // when it came; pauses added
};

struct missed { // passed over when due, not yet LOST or LATE
    int64_t number;
    usec_t at;
    bool arrived;
};

struct playout {
    struct playout_config config;
    enum playout_mode mode;
    struct playout_action pending; // kind NONE: nothing
    usec_t wake;
    usec_t last_now;
    bool stream_ended;
    bool end_told;
    bool full; // a frame was dropped for want of room since the last one left
    bool paused;
    usec_t paused_at;

    struct held *held; // owned, PLAYOUT_MAX_FRAMES, ascending numbers
    int held_count;
    size_t held_bytes;

    int64_t floor; // refused below
    int64_t next; // everything below was handed out, passed over, or not expected; -1 until started
    int64_t newest;  // highest number taken; -1 none
    int64_t decoded; // highest number handed out as decodable of the size followed
    int size;        // the size followed, -1 none: a key frame is needed

    usec_t anchor;   // due(n) = anchor + pts(n)
    usec_t stall_at; // while REBUFFERING; pauses added
    usec_t left_at;  // low latency: when the last frame left to be shown; pauses added
    int64_t left;    // its number

    int64_t far_number; // of the last frame refused for being too far away
    int far_count;      // in a row

    struct level_schedule levels;
    int missed_count;
    int arrived_count;                        // among missed
    bool settle_all;                          // nothing missed can come any more
    struct missed missed[PLAYOUT_MAX_MISSED]; // ascending numbers
};

// usec_of_frames for rates from outside: never overflows.
static usec_t pts_of(const struct playout *p, int64_t number)
{
    struct fps fps = p->config.ladder->source_fps;
    __int128 pts = (__int128)number * USEC_PER_SEC * fps.den / fps.num;
    return pts < LONGEST_PTS ? (usec_t)pts : LONGEST_PTS;
}

static usec_t due_of(const struct playout *p, int64_t number)
{
    return p->anchor + pts_of(p, number);
}

int playout_level_at(const struct playout *p, int64_t number)
{
    return level_schedule_at(&p->levels, number);
}

static int64_t next_expected(const struct playout *p, int64_t from)
{
    return level_schedule_next(&p->levels, from);
}

int64_t playout_awaited(const struct playout *p)
{
    return p->next < 0 ? -1 : next_expected(p, p->next);
}

uint64_t playout_expected(const struct playout *p, int64_t from, int64_t to)
{
    return to - from < LONGEST_SKIP ? level_schedule_count(&p->levels, from, to) : 0;
}

void playout_level(struct playout *p, int level, int64_t from)
{
    if (from < 0)
        level_schedule_tell(&p->levels, level, p->newest);
    else if (from < PLAYOUT_MAX_NUMBER)
        level_schedule_set(&p->levels, level, from);
    p->wake = 0;
}

// ---- frames held

static struct received_frame *take(struct playout *p, int i)
{
    struct received_frame *f = p->held[i].frame;
    p->held_bytes -= f->bytes;
    p->held_count--;
    memmove(&p->held[i], &p->held[i + 1], (size_t)(p->held_count - i) * sizeof(p->held[0]));
    return f;
}

static void drop(struct playout *p, int i)
{
    received_frame_free(take(p, i));
}

static void drop_all(struct playout *p)
{
    while (p->held_count > 0)
        drop(p, p->held_count - 1);
}

// 0, or ERR_RANGE (a duplicate), ERR_FULL; `f` stays the caller's then.
static int hold(struct playout *p, struct received_frame *f, usec_t now)
{
    int i = p->held_count;
    while (i > 0 && p->held[i - 1].frame->number >= f->number) {
        i--;
        if (p->held[i].frame->number == f->number && p->held[i].frame->size_id == f->size_id)
            return ERR_RANGE;
    }
    while (p->held_count == PLAYOUT_MAX_FRAMES || p->held_bytes + f->bytes > PLAYOUT_MAX_BYTES) {
        p->full = true;
        if (i == p->held_count)
            return ERR_FULL;
        drop(p, p->held_count - 1);
    }
    memmove(&p->held[i + 1], &p->held[i], (size_t)(p->held_count - i) * sizeof(p->held[0]));
    p->held[i] = (struct held){f, now};
    p->held_count++;
    p->held_bytes += f->bytes;
    return ERR_OK;
}

static bool is_decodable(const struct playout *p, const struct received_frame *f)
{
    return !p->config.tracker || frame_tracker_verdict(p->config.tracker, f) == FRAME_DECODABLE;
}

// May a frame whose number was passed already still serve as a reference?
static bool is_useful(const struct playout *p, const struct received_frame *f)
{
    if (f->size_id != p->size)
        return f->key;
    return f->number > p->decoded && is_decodable(p, f);
}

// The frame to go next, after dropping what is of no more use in front of it; NULL when nothing is
// held.
static const struct received_frame *front(struct playout *p)
{
    while (p->held_count > 0) {
        const struct received_frame *f = p->held[0].frame;
        if (f->number < p->next ? !is_useful(p, f) : f->size_id != p->size && !f->key) {
            drop(p, 0);
            continue;
        }
        const struct received_frame *twin = p->held_count > 1 ? p->held[1].frame : NULL;
        if (!twin || twin->number != f->number)
            return f;
        // One number in two sizes: a key frame of the other size is where the level changes.
        drop(p, twin->size_id != p->size && twin->key ? 0 : 1);
    }
    return NULL;
}

static int first_key(const struct playout *p)
{
    int i = 0;
    while (i < p->held_count && !p->held[i].frame->key)
        i++;
    return i;
}

static usec_t media_from(const struct playout *p, int i)
{
    if (i >= p->held_count)
        return 0;
    int64_t last = p->held[p->held_count - 1].frame->number;
    return pts_of(p, next_expected(p, last + 1)) - pts_of(p, p->held[i].frame->number);
}

usec_t playout_held(const struct playout *p)
{
    return media_from(p, p->mode == PLAYOUT_BUFFERING ? first_key(p) : 0);
}

// ---- input

static bool is_possible(const struct playout *p, const struct received_frame *f)
{
    if (f->number < 0 || f->number >= PLAYOUT_MAX_NUMBER || f->size_id < 0)
        return false;
    if (p->config.ladder->level_count > 0 && f->size_id >= p->config.ladder->size_count)
        return false;
    if (f->temporal_id < 0 || f->depends_on < -1 || f->depends_on >= f->number)
        return false;
    return !f->key || f->depends_on == -1;
}

static bool is_far(const struct playout *p, int64_t number, int64_t from)
{
    usec_t distance = pts_of(p, number) - pts_of(p, from);
    return distance > PLAYOUT_MAX_AHEAD || distance < -PLAYOUT_MAX_AHEAD;
}

// A number too far away is not believed at once: one wrong number must not move the clock. Returns
// true once it is, after starting anew there.
static bool resync(struct playout *p, const struct received_frame *f, usec_t now)
{
    bool near = p->far_count > 0 && !is_far(p, f->number, p->far_number);
    p->far_count = near ? p->far_count + 1 : 1;
    p->far_number = f->number;
    if (p->far_count < PLAYOUT_RESYNC || !f->key)
        return false;
    drop_all(p);
    p->far_count = 0;
    p->settle_all = p->missed_count > 0;
    p->size = -1;
    p->decoded = -1;
    p->newest = f->number;
    if (p->mode == PLAYOUT_BUFFERING) {
        p->next = -1;
        return true;
    }
    p->next = f->number;
    if (p->mode == PLAYOUT_PLAYING) {
        p->mode = PLAYOUT_REBUFFERING;
        p->stall_at = p->paused ? p->paused_at : now;
        p->pending = (struct playout_action){
            .kind = PLAYOUT_STALL_BEGIN, .number = -1, .level = -1, .at = now};
    }
    return true;
}

// `f` has a number that was passed already. 0 when it is of some use or its lateness is news.
static int push_passed(struct playout *p, struct received_frame *f, usec_t now)
{
    int i = p->missed_count - 1;
    while (i >= 0 && p->missed[i].number != f->number)
        i--;
    bool is_news = i >= 0 && !p->missed[i].arrived && !p->settle_all;
    if (is_news) {
        p->missed[i].arrived = true;
        p->arrived_count++;
    }
    int err = ERR_RANGE;
    if ((is_news || f->size_id != p->size || i < 0) && is_useful(p, f))
        err = hold(p, f, now);
    if (err)
        received_frame_free(f);
    return is_news ? ERR_OK : err;
}

int playout_push(struct playout *p, struct received_frame *f, usec_t now)
{
    assert(now >= p->last_now);
    p->last_now = now;
    p->wake = 0;
    int err = ERR_RANGE;
    if (!is_possible(p, f)) {
        err = ERR_MALFORMED;
        goto refuse;
    }
    if (p->mode == PLAYOUT_ENDED || f->number < p->floor)
        goto refuse;
    int64_t here = p->next < 0 && p->held_count > 0 ? p->held[0].frame->number : p->next;
    if (here < 0 || !is_far(p, f->number, here)) {
        p->far_count = 0;
    } else if (p->held_count > 0 && !is_far(p, f->number, p->newest)) {
        p->full = true; // the media goes on behind what is held, only too far
        err = ERR_FULL;
        goto refuse;
    } else if (!resync(p, f, now)) {
        goto refuse;
    }
    level_schedule_see(&p->levels, f->number, f->size_id, f->temporal_id, f->key);
    if (f->number < p->next)
        return push_passed(p, f, now);
    int64_t number = f->number;
    err = hold(p, f, now);
    if (err)
        goto refuse;
    if (number > p->newest)
        p->newest = number;
    return ERR_OK;
refuse:
    received_frame_free(f);
    return err;
}

void playout_end(struct playout *p, usec_t now)
{
    p->stream_ended = true;
    p->last_now = usec_max(p->last_now, now);
    p->wake = 0;
}

void playout_pause(struct playout *p, usec_t now)
{
    if (p->paused)
        return;
    p->paused = true;
    p->paused_at = now;
    p->wake = 0;
}

void playout_resume(struct playout *p, usec_t now)
{
    if (!p->paused)
        return;
    usec_t pause = now - p->paused_at;
    p->paused = false;
    p->anchor += pause;
    p->stall_at += pause;
    p->left_at += pause;
    for (int i = 0; i < p->held_count; i++)
        p->held[i].since += pause;
    p->wake = 0;
}

static usec_t stalled_until(const struct playout *p, usec_t now)
{
    return usec_max(0, (p->paused ? p->paused_at : now) - p->stall_at);
}

void playout_flush(struct playout *p, int64_t from, usec_t now)
{
    drop_all(p);
    if (p->pending.kind == PLAYOUT_STALL_BEGIN)
        p->pending.kind = PLAYOUT_NONE; // nobody heard of it
    else if (p->mode == PLAYOUT_REBUFFERING)
        p->pending = (struct playout_action){.kind = PLAYOUT_STALL_END,
                                             .number = -1,
                                             .level = -1,
                                             .at = now,
                                             .stalled = stalled_until(p, now)};
    p->mode = PLAYOUT_BUFFERING;
    p->settle_all = p->missed_count > 0;
    p->stream_ended = false;
    p->end_told = false;
    p->full = false;
    p->floor = from;
    p->next = -1;
    p->newest = -1;
    p->decoded = -1;
    p->size = -1;
    p->far_count = 0;
    p->last_now = usec_max(p->last_now, now);
    p->wake = 0;
}

void playout_set_thresholds(struct playout *p, usec_t start, usec_t resume)
{
    // More than may be held would never be reached.
    p->config.start_threshold = usec_min(start, PLAYOUT_MAX_AHEAD / 2);
    p->config.resume_threshold = usec_min(resume, PLAYOUT_MAX_AHEAD / 2);
    p->wake = 0;
}

// ---- output

static bool act(struct playout_action *out, enum playout_kind kind, usec_t at)
{
    *out = (struct playout_action){.kind = kind, .number = -1, .level = -1, .at = at};
    return true;
}

static bool wait_until(struct playout *p, usec_t t)
{
    p->wake = usec_min(p->wake, t);
    return false;
}

static bool forget_missed(struct playout *p, int i, enum playout_kind kind,
                          struct playout_action *out, usec_t now)
{
    act(out, kind, now);
    out->number = p->missed[i].number;
    out->level = playout_level_at(p, out->number);
    p->missed_count--;
    memmove(&p->missed[i], &p->missed[i + 1], (size_t)(p->missed_count - i) * sizeof(p->missed[0]));
    return true;
}

// What was passed over and is decided now.
static bool poll_missed(struct playout *p, struct playout_action *out, usec_t now)
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
    return wait_until(p, settled);
}

// Passes over `number`. false when what was missed must be polled first.
static bool miss(struct playout *p, int64_t number, usec_t now)
{
    if (p->missed_count == PLAYOUT_MAX_MISSED)
        return false;
    p->missed[p->missed_count++] = (struct missed){.number = number, .at = now};
    p->next = number + 1;
    return true;
}

static bool hand_out(struct playout *p, enum playout_kind kind, usec_t show_at,
                     struct playout_action *out, usec_t now)
{
    struct received_frame *f = take(p, 0);
    act(out, kind, now);
    out->frame = f;
    out->number = f->number;
    out->level = playout_level_at(p, f->number);
    out->show_at = usec_max(show_at, now);
    if (is_decodable(p, f)) {
        p->size = f->size_id;
        p->decoded = f->number;
    }
    if (kind == PLAYOUT_DECODE_AND_SHOW) {
        p->left = f->number;
        p->left_at = now;
    }
    if (f->number >= p->next)
        p->next = f->number + 1;
    p->full = false;
    return true;
}

static bool stall_begin(struct playout *p, usec_t at, struct playout_action *out)
{
    p->mode = PLAYOUT_REBUFFERING;
    p->stall_at = at;
    return act(out, PLAYOUT_STALL_BEGIN, at);
}

static bool stall_end(struct playout *p, struct playout_action *out, usec_t now)
{
    p->mode = PLAYOUT_PLAYING;
    act(out, PLAYOUT_STALL_END, now);
    out->stalled = stalled_until(p, now);
    return true;
}

static bool poll_buffering(struct playout *p, struct playout_action *out, usec_t now)
{
    int first = first_key(p);
    if (first == p->held_count) {
        if (p->full) // of frames that nothing can be made of
            drop_all(p);
        p->full = false;
        if (p->stream_ended)
            p->mode = PLAYOUT_ENDED;
        return false;
    }
    if (media_from(p, first) < p->config.start_threshold && !p->config.low_latency &&
        !p->stream_ended && !p->full)
        return false;
    while (first-- > 0)
        drop(p, 0);
    p->mode = PLAYOUT_PLAYING;
    p->next = p->held[0].frame->number;
    p->anchor = now - pts_of(p, p->next);
    p->left = p->next;
    p->left_at = now;
    act(out, PLAYOUT_START, now);
    out->number = p->next;
    out->level = playout_level_at(p, p->next);
    return true;
}

static bool poll_clocked(struct playout *p, struct playout_action *out, usec_t now)
{
    for (;;) {
        const struct received_frame *f = front(p);
        if (f && f->number < p->next)
            return hand_out(p, PLAYOUT_DECODE_ONLY, now, out, now);
        int64_t expected = next_expected(p, p->next);
        if (f && f->number <= expected) {
            usec_t due = due_of(p, f->number);
            if (now < due - p->config.decode_lead)
                return wait_until(p, due - p->config.decode_lead);
            return hand_out(p, PLAYOUT_DECODE_AND_SHOW, due, out, now);
        }
        usec_t due = due_of(p, expected);
        if (now < due)
            return wait_until(p, due);
        if (f) {
            if (!miss(p, expected, now))
                return poll_missed(p, out, now);
            continue;
        }
        if (p->stream_ended) {
            p->mode = PLAYOUT_ENDED;
            return false;
        }
        usec_t interval = due_of(p, next_expected(p, expected + 1)) - due;
        usec_t limit = due + usec_min(interval, PLAYOUT_MAX_GRACE);
        return now < limit ? wait_until(p, limit) : stall_begin(p, due, out);
    }
}

static bool poll_rebuffering(struct playout *p, struct playout_action *out, usec_t now)
{
    const struct received_frame *f = front(p);
    if (f && f->number < p->next)
        return hand_out(p, PLAYOUT_DECODE_ONLY, now, out, now);
    if (!f && !p->stream_ended)
        return false;
    if (f && media_from(p, 0) < p->config.resume_threshold && !p->stream_ended && !p->full)
        return false;
    p->anchor = now - pts_of(p, f ? f->number : next_expected(p, p->next));
    return stall_end(p, out, now);
}

// Low latency: may the frame in front go although an older one, or the one it rests on, is missing?
static bool may_pass(struct playout *p, const struct received_frame *f, int64_t expected,
                     usec_t now)
{
    if (f->number <= expected || p->stream_ended)
        return true;
    for (int i = 0; i < p->held_count; i++) {
        // A repaired or key frame further on: nobody waits any more for what is in front of it.
        if (is_decodable(p, p->held[i].frame))
            return true;
    }
    usec_t interval = pts_of(p, next_expected(p, expected + 1)) - pts_of(p, expected);
    usec_t limit = p->held[0].since + usec_min(interval, PLAYOUT_MAX_GRACE);
    return now >= limit || wait_until(p, limit);
}

static bool poll_low_latency(struct playout *p, struct playout_action *out, usec_t now)
{
    for (;;) {
        const struct received_frame *f = front(p);
        if (f && f->number < p->next)
            return hand_out(p, PLAYOUT_DECODE_ONLY, now, out, now);
        int64_t expected = next_expected(p, p->next);
        if (!f || !may_pass(p, f, expected, now))
            break;
        if (f->number > expected) {
            if (!miss(p, expected, now))
                return poll_missed(p, out, now);
            continue;
        }
        if (p->mode == PLAYOUT_REBUFFERING)
            return stall_end(p, out, now);
        return hand_out(p, PLAYOUT_DECODE_AND_SHOW, now, out, now);
    }
    usec_t interval = pts_of(p, next_expected(p, p->left + 1)) - pts_of(p, p->left);
    usec_t expected_at = p->left_at + interval;
    if (p->stream_ended) {
        if (p->mode == PLAYOUT_REBUFFERING)
            return stall_end(p, out, now);
        if (now < expected_at)
            return wait_until(p, expected_at);
        p->mode = PLAYOUT_ENDED;
        return false;
    }
    if (p->mode == PLAYOUT_REBUFFERING)
        return false;
    usec_t limit = expected_at + usec_max(3 * interval, 100 * USEC_PER_MSEC);
    return now < limit ? wait_until(p, limit) : stall_begin(p, expected_at, out);
}

static bool poll_mode(struct playout *p, struct playout_action *out, usec_t now)
{
    if (p->mode == PLAYOUT_BUFFERING)
        return poll_buffering(p, out, now);
    if (p->mode == PLAYOUT_ENDED)
        return false;
    if (p->config.low_latency)
        return poll_low_latency(p, out, now);
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
    if (poll_missed(p, out, now))
        return true;
    if (!p->paused && poll_mode(p, out, now))
        return true;
    if (p->mode == PLAYOUT_ENDED && !p->end_told) {
        p->settle_all = p->missed_count > 0;
        if (poll_missed(p, out, now))
            return true;
        p->end_told = true;
        return act(out, PLAYOUT_ENDED_ACTION, now);
    }
    return act(out, PLAYOUT_NONE, now) && false;
}

usec_t playout_next_timeout(const struct playout *p)
{
    return p->wake;
}

// ---- the rest

struct playout *playout_new(const struct playout_config *config)
{
    const struct ladder *ladder = config->ladder;
    assert(ladder->source_fps.num > 0 && ladder->source_fps.den > 0);
    assert(config->decode_lead >= 0 && config->decode_lead <= USEC_PER_SEC);
    assert(ladder->level_count == 0 || (config->level >= 0 && config->level < ladder->level_count));
    struct playout *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->held = calloc(PLAYOUT_MAX_FRAMES, sizeof(*p->held));
    if (!p->held) {
        free(p);
        return NULL;
    }
    p->config = *config;
    playout_flush(p, 0, 0);
    playout_set_thresholds(p, config->start_threshold, config->resume_threshold);
    p->last_now = INT64_MIN;
    level_schedule_init(&p->levels, ladder, config->level);
    return p;
}

void playout_free(struct playout *p)
{
    if (!p)
        return;
    drop_all(p);
    free(p->held);
    free(p);
}

enum playout_mode playout_mode(const struct playout *p)
{
    return p->mode;
}

bool playout_paused(const struct playout *p)
{
    return p->paused;
}

size_t playout_held_bytes(const struct playout *p)
{
    return p->held_bytes;
}

int playout_held_frames(const struct playout *p)
{
    return p->held_count;
}
