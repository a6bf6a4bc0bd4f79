// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/playout.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "stream/playout/followed_size.h"
#include "stream/playout/frame_times.h"
#include "stream/playout/held_layers.h"
#include "stream/playout/level_schedule.h"
#include "stream/playout/missed_frames.h"
#include "stream/playout/play_order.h"

// After a seek the first picture is shown as soon as it is decoded. The pictures behind it are
// shown as if it were due so much later: the frames that only serve to decode it take their time.
#define AFTER_SEEK (100 * USEC_PER_MSEC)
// Live: a missing frame is passed over so long before the next one held is due, to decode that one.
#define PASS_LEAD (15 * USEC_PER_MSEC)
// Numbers: hours of a pause. A source that restarted at another number skipped nothing.
#define LONGEST_SKIP ((int64_t)1 << 18)

struct playout {
    struct playout_config config;
    enum playout_mode mode;
    struct playout_action pending; // kind NONE: nothing
    usec_t wake;
    usec_t last_now;
    bool stream_ended;
    bool end_told;
    bool full; // a frame was dropped because the buffer was full, since the last one left
    bool paused;
    bool holds; // the next frame shown is the last one: a seek within a pause; not `paused`
    usec_t paused_at;

    struct held_frames *held;  // owned
    struct held_layers layers; // cumulative ladder: larger sizes of pictures
    struct frame_times *times; // owned
    struct level_schedule levels;
    struct play_order order;
    struct missed_frames missed;

    int64_t floor;       // refused below
    int64_t show;        // while BUFFERING: where playing begins; -1: at the first key frame
    int64_t hurried;     // a frame that is not to wait for its time; -1 none
    bool at_once;        // playing begins once this frame is held, whatever the threshold
    bool previewed;      // while BUFFERING: the key frame before it was handed out to be shown
    bool scaled;         // the sender chooses the frames: no number is expected
    int64_t newest;      // highest number taken; -1 none
    int64_t last_slot;   // the highest taken; -1 none
    int most_reorder;    // by how many frames one was decoded after its turn to be shown
    int64_t missing_seq; // of playout_set_missing
    struct followed_size follows;

    struct media_clock clock;
    int64_t skip_to; // frames below are left out; -1: none
    bool astray;     // live: the clock is of another stretch of media; the next frame sets it
    usec_t stall_at; // while REBUFFERING; pauses added
    usec_t left_at;  // live: when the last frame left to be shown; pauses added
    int64_t left;    // its number

    int64_t far_number; // of the last frame refused for being too far away
    int far_count;      // in a row
};

// ---- What is held

static const struct received_frame *held_at(const struct playout *p, int i)
{
    return held_frames_at(p->held, i);
}

usec_t playout_pts(const struct playout *p, int64_t number)
{
    return frame_times_of(p->times, number);
}

usec_t playout_interval(const struct playout *p)
{
    return frame_times_interval(p->times);
}

usec_t playout_due(const struct playout *p, int64_t number)
{
    return media_clock_due(&p->clock, playout_pts(p, number));
}

bool playout_was_late(const struct playout *p, const struct lateness *own, int64_t number)
{
    usec_t due = playout_due(p, number);
    usec_t grace = usec_min(playout_interval(p), PLAYOUT_MAX_GRACE);
    return lateness_lasts(own) || lateness_covers(own, due, due + grace);
}

static usec_t due_of(const struct playout *p, const struct received_frame *f)
{
    return media_clock_due(&p->clock, f->pts);
}

int playout_level_at(const struct playout *p, int64_t number)
{
    return level_schedule_at(&p->levels, number);
}

// Returns by how many frames one that is held is decoded after its turn to be shown.
static int held_reorder(const struct playout *p)
{
    int most = 0, count = held_frames_count(p->held);
    for (int i = 0; i < count && i < HELD_FRAMES_REORDER; i++)
        most = held_at(p, i)->reorder > most ? held_at(p, i)->reorder : most;
    return most < HELD_FRAMES_REORDER ? most : HELD_FRAMES_REORDER;
}

// How much later than decoding begins the first frames of a size can be shown. Of a film whose own
// frames are passed on (one layer), the frames tell.
static usec_t reorder_delay(const struct playout *p, int size_id)
{
    const struct ladder *l = p->config.ladder;
    if (!p->config.reorders || size_id < 0 || size_id >= l->size_count)
        return 0;
    const struct size_spec *size = &l->sizes[size_id];
    int frames = size->layers > 1 ? size->layers - 1 : held_reorder(p);
    return (usec_t)(frames * 1e6 / fps_value(size->fps));
}

int64_t playout_awaited(const struct playout *p)
{
    return play_order_awaited(&p->order);
}

uint64_t playout_expected(const struct playout *p, int64_t from, int64_t to)
{
    return to - from < LONGEST_SKIP ? level_schedule_count(&p->levels, from, to) : 0;
}

// Returns true if a packet is requested that left before the frame.
static bool lacks_before(const struct playout *p, const struct received_frame *f)
{
    return p->config.waits && !p->stream_ended && p->missing_seq < f->first_seq;
}

// A frame of another size is of use if that size's key frame may still come.
static const struct received_frame *front(struct playout *p)
{
    int64_t missing = p->config.waits && !p->stream_ended ? p->missing_seq : INT64_MAX;
    bool newer = p->config.live && !p->stream_ended;
    return followed_size_front(&p->follows, p->held, p->order.next, missing, newer);
}

// Returns true if frame `number`, which is not held, may still come.
static bool may_come(const struct playout *p, int64_t number)
{
    if (!p->config.waits || p->stream_ended)
        return false;
    if (p->last_slot <= number + p->most_reorder)
        return true;
    // Its packets left before those of the frames that are decoded after it.
    int count = held_frames_count(p->held);
    for (int i = 0; i < count && i < HELD_FRAMES_REORDER; i++)
        if (received_frame_slot(held_at(p, i)) > number && lacks_before(p, held_at(p, i)))
            return true;
    return false;
}

// The media from frame `i` to the newest held, one interval included. A frame that is decoded
// before others which are shown before it counts as one of them.
static usec_t media_from(const struct playout *p, int i)
{
    if (i >= held_frames_count(p->held))
        return 0;
    int64_t last = received_frame_slot(held_at(p, held_frames_count(p->held) - 1));
    return usec_max(0, playout_pts(p, level_schedule_next(&p->levels, last + 1)) -
                           playout_pts(p, received_frame_slot(held_at(p, i))));
}

usec_t playout_goal(const struct playout *p)
{
    int size = held_frames_count(p->held) > 0 ? held_at(p, 0)->size_id : p->follows.size;
    usec_t delay = reorder_delay(p, size);
    usec_t goal =
        p->mode == PLAYOUT_REBUFFERING ? p->config.resume_threshold : p->config.start_threshold;
    return delay ? delay + usec_max(goal, 1) : goal; // with the frame that the last of them is
}

usec_t playout_held(const struct playout *p)
{
    bool begins = p->mode == PLAYOUT_BUFFERING && !p->previewed;
    return media_from(p, begins ? held_frames_first_key(p->held) : 0);
}

size_t playout_held_bytes(const struct playout *p)
{
    return held_frames_bytes(p->held) + held_layers_bytes(&p->layers);
}

int playout_held_frames(const struct playout *p)
{
    return held_frames_count(p->held);
}

// ---- Input

static bool is_possible(const struct playout *p, const struct received_frame *f)
{
    if (f->number >= PLAYOUT_MAX_NUMBER ||
        (p->config.ladder->level_count > 0 && f->size_id >= p->config.ladder->size_count))
        return false;
    bool layer = p->config.ladder->cumulative && f->size_id > 0;
    return f->on_lower == layer && received_frame_is_possible(f);
}

static bool is_far(const struct playout *p, int64_t number, int64_t from)
{
    usec_t distance = playout_pts(p, number) - playout_pts(p, from);
    return distance > PLAYOUT_MAX_AHEAD || distance < -PLAYOUT_MAX_AHEAD;
}

// A number too far away is not believed at once: one wrong number must not move the clock. Returns
// true when it is believed; playout then starts again at that number.
static bool resync(struct playout *p, const struct received_frame *f, usec_t now)
{
    bool near = p->far_count > 0 && !is_far(p, f->number, p->far_number);
    p->far_count = near ? p->far_count + 1 : 1;
    p->far_number = f->number;
    if (p->far_count < PLAYOUT_RESYNC || !f->key)
        return false;
    held_frames_drop_all(p->held);
    held_layers_drop_all(&p->layers);
    p->far_count = 0;
    p->skip_to = -1;
    missed_frames_settle_all(&p->missed);
    followed_size_forget(&p->follows);
    p->newest = f->number;
    if (p->mode == PLAYOUT_BUFFERING) {
        p->previewed = false;
        play_order_start(&p->order, -1);
        return true;
    }
    play_order_start(&p->order, f->number);
    p->astray = true;
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
    enum missed_arrival late = missed_frames_arrived(&p->missed, f->number);
    bool is_news = late == MISSED_LATE;
    int err = ERR_RANGE;
    bool may = is_news || f->size_id != p->follows.size || late == MISSED_UNKNOWN;
    if (may && followed_size_needs(&p->follows, f))
        err = held_frames_add(p->held, f, &p->full, now);
    if (err)
        received_frame_free(f);
    return is_news ? ERR_OK : err;
}

// A layer of a picture waits for it, or for the picture's smaller layers.
static int push_layer(struct playout *p, struct received_frame *f)
{
    const struct held_frames *held = p->held;
    int64_t here =
        p->order.next < 0 && held_frames_count(held) > 0 ? held_at(p, 0)->number : p->order.next;
    bool passed = f->number < p->order.next || play_order_is_ahead(&p->order, f->number);
    if (passed || (here >= 0 && is_far(p, f->number, here)))
        return ERR_RANGE;
    return held_layers_add(&p->layers, f);
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
    if (f->on_lower) {
        err = push_layer(p, f);
        if (err)
            goto refuse;
        return ERR_OK;
    }
    frame_times_see(p->times, f);
    f->pts = playout_pts(p, f->number);
    int64_t here =
        p->order.next < 0 && held_frames_count(p->held) > 0 ? held_at(p, 0)->number : p->order.next;
    if (here < 0 || !is_far(p, f->number, here)) {
        p->far_count = 0;
    } else if (held_frames_count(p->held) > 0 && !is_far(p, f->number, p->newest)) {
        p->full = true; // the media continues after the held frames, but too far ahead
        err = ERR_FULL;
        goto refuse;
    } else if (!resync(p, f, now)) {
        goto refuse;
    }
    level_schedule_see(&p->levels, received_frame_slot(f), f->level, f->size_id, f->temporal_id,
                       f->key);
    if (f->number < p->order.next)
        return push_passed(p, f, now);
    err = ERR_RANGE;
    if (play_order_is_ahead(&p->order, f->number))
        goto refuse;
    int64_t number = f->number, slot = received_frame_slot(f);
    int reorder = f->reorder < HELD_FRAMES_REORDER ? f->reorder : HELD_FRAMES_REORDER;
    err = held_frames_add(p->held, f, &p->full, now);
    if (err)
        goto refuse;
    if (number > p->newest)
        p->newest = number;
    p->last_slot = slot > p->last_slot ? slot : p->last_slot;
    p->most_reorder = reorder > p->most_reorder ? reorder : p->most_reorder;
    return ERR_OK;
refuse:
    received_frame_free(f);
    return err;
}

void playout_set_missing(struct playout *p, int64_t seq)
{
    p->missing_seq = seq;
    p->wake = 0;
}

void playout_end(struct playout *p, usec_t now)
{
    p->stream_ended = true;
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
    p->clock.at += pause;
    p->stall_at += pause;
    p->left_at += pause;
    held_frames_paused(p->held, pause);
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
    while (held_frames_count(p->held) > 0 && held_at(p, 0)->number < first)
        held_frames_drop(p->held, 0);
    held_layers_drop_below(&p->layers, first);
    if (p->pending.kind == PLAYOUT_STALL_BEGIN)
        p->pending.kind = PLAYOUT_NONE; // the caller has not polled it yet
    else if (p->mode == PLAYOUT_REBUFFERING)
        p->pending = (struct playout_action){.kind = PLAYOUT_STALL_END,
                                             .number = -1,
                                             .level = -1,
                                             .at = now,
                                             .stalled = stalled_until(p, now)};
    p->mode = PLAYOUT_BUFFERING;
    missed_frames_settle_all(&p->missed);
    p->stream_ended = false;
    p->end_told = false;
    p->full = false;
    p->floor = first;
    p->skip_to = -1;
    p->astray = false;
    play_order_start(&p->order, -1);
    p->show = show;
    p->hurried = -1;
    p->previewed = false;
    p->at_once = at_once;
    p->newest =
        held_frames_count(p->held) > 0 ? held_at(p, held_frames_count(p->held) - 1)->number : -1;
    p->last_slot = p->newest;
    followed_size_forget(&p->follows);
    p->far_count = 0;
    p->last_now = usec_max(p->last_now, now);
    p->wake = 0;
}

void playout_flush(struct playout *p, int64_t from, usec_t now)
{
    held_frames_drop_all(p->held);
    held_layers_drop_all(&p->layers);
    playout_seek(p, from, -1, false, now);
}

void playout_set_thresholds(struct playout *p, usec_t start, usec_t resume)
{
    // More than may be held would never be reached.
    p->config.start_threshold = usec_min(start, PLAYOUT_MAX_AHEAD / 2);
    p->config.resume_threshold = usec_min(resume, PLAYOUT_MAX_AHEAD / 2);
    p->wake = 0;
}

void playout_set_scale(struct playout *p, double pace, usec_t now)
{
    p->scaled = pace != 1;
    media_clock_set_speed(&p->clock, (int32_t)lround(pace * MEDIA_CLOCK_UNIT), now);
}

// ---- The media clock

void playout_set_speed(struct playout *p, int32_t speed_ppm, usec_t now)
{
    media_clock_set_speed(&p->clock, speed_ppm, p->paused ? p->paused_at : now);
    p->wake = 0;
}

usec_t playout_position(const struct playout *p, usec_t now)
{
    return media_clock_position(&p->clock, p->paused ? p->paused_at : now);
}

void playout_postpone(struct playout *p, usec_t by)
{
    p->clock.at += by;
    p->wake = 0;
}

const struct media_clock *playout_clock(const struct playout *p)
{
    bool keeps = p->config.live && !p->astray; // through a stall
    bool runs = p->mode == PLAYOUT_PLAYING || (p->mode == PLAYOUT_REBUFFERING && keeps);
    return runs && !p->paused && !p->config.low_latency ? &p->clock : NULL;
}

// Live: the last frame, at most `most` of media after frame `first`, up to which nothing is
// missing; otherwise the last key frame. -1: there is none.
static int64_t skip_target(const struct playout *p, int64_t first, usec_t most)
{
    int64_t expected = first, to = -1;
    for (int i = 0; i < held_frames_count(p->held); i++) {
        const struct received_frame *f = held_at(p, i);
        bool other = f->size_id != p->follows.size;
        if (f->number < first || (other && !f->key))
            continue;
        if (other || (p->config.live && f->number > expected && !f->key) ||
            f->pts - playout_pts(p, first) > most)
            break;
        to = p->config.live || f->key ? f->number : to;
        expected = level_schedule_next(&p->levels, f->number + 1);
    }
    return to;
}

usec_t playout_skip(struct playout *p, usec_t most)
{
    if (p->mode != PLAYOUT_PLAYING || p->paused || p->config.low_latency)
        return 0;
    int64_t first = level_schedule_next(&p->levels, p->order.next);
    int64_t to = skip_target(p, first, most);
    if (to <= first)
        return 0;
    // It takes the place of the frame that was next: the pictures go on without a gap.
    usec_t due = playout_due(p, first);
    media_clock_set(&p->clock, playout_pts(p, to), due);
    p->skip_to = to;
    p->wake = 0;
    return playout_pts(p, to) - playout_pts(p, first);
}

// ---- Output

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

// Gives out the next frame that was passed over and is decided by now.
static bool poll_missed(struct playout *p, struct playout_action *out, usec_t now)
{
    int64_t number;
    bool late;
    if (!missed_frames_poll(&p->missed, &number, &late, now))
        return wait_until(p, missed_frames_next_timeout(&p->missed));
    act(out, late ? PLAYOUT_LATE : PLAYOUT_LOST, now);
    out->number = number;
    out->level = playout_level_at(p, number);
    return true;
}

// Passes over `number`. Returns false if poll_missed must decide another frame before.
static bool miss(struct playout *p, int64_t number, usec_t now)
{
    if (!missed_frames_add(&p->missed, number, now))
        return false;
    play_order_handed(&p->order, number);
    return true;
}

static bool hand_out(struct playout *p, enum playout_kind kind, usec_t show_at,
                     struct playout_action *out, usec_t now)
{
    struct received_frame *f = held_frames_take(p->held, 0);
    held_layers_join(&p->layers, f);
    act(out, kind, now);
    out->frame = f;
    out->number = f->number;
    out->level = playout_level_at(p, f->number);
    out->show_at = usec_max(show_at, now);
    followed_size_handed(&p->follows, f);
    if (kind == PLAYOUT_DECODE_AND_SHOW) {
        p->left = f->number;
        p->left_at = now;
    }
    bool in_turn = f->number <= playout_awaited(p);
    play_order_handed(&p->order, f->number);
    p->full = false;
    if (p->holds && kind == PLAYOUT_DECODE_AND_SHOW && in_turn)
        playout_pause(p, usec_max(show_at, now));
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

static bool has_enough(const struct playout *p, int first)
{
    if (p->stream_ended || p->full || p->config.low_latency)
        return true;
    return p->at_once ? held_frames_reach(p->held, p->show)
                      : media_from(p, first) >= playout_goal(p);
}

// Hands out key frame `first`, before the frame of a seek, to be shown until that is there: what is
// between them may take seconds to arrive. Returns false if it is not that.
static bool preview(struct playout *p, int first, struct playout_action *out, usec_t now)
{
    if (!p->at_once || p->previewed || held_at(p, first)->number >= p->show)
        return false;
    while (first-- > 0)
        held_frames_drop(p->held, 0);
    struct received_frame *f = held_frames_take(p->held, 0);
    held_layers_join(&p->layers, f);
    act(out, PLAYOUT_DECODE_AND_SHOW, now);
    out->frame = f;
    out->number = f->number;
    out->level = playout_level_at(p, f->number);
    out->show_at = now;
    followed_size_handed(&p->follows, f);
    p->previewed = true;
    return true;
}

static bool poll_buffering(struct playout *p, struct playout_action *out, usec_t now)
{
    int first = p->previewed ? 0 : held_frames_first_key(p->held);
    if (first == held_frames_count(p->held)) {
        if (p->full) // of frames that nothing can be made of
            held_frames_drop_all(p->held);
        p->full = false;
        if (p->stream_ended)
            p->mode = PLAYOUT_ENDED;
        return false;
    }
    // The frame that the sender began with, or one before this one, is on its way.
    if (!p->previewed && held_at(p, first)->number > p->floor && !p->full &&
        lacks_before(p, held_at(p, first)))
        return false;
    if (!has_enough(p, first))
        return preview(p, first, out, now);
    while (first-- > 0)
        held_frames_drop(p->held, 0);
    p->mode = PLAYOUT_PLAYING;
    int64_t begin = held_at(p, 0)->number;
    // After the key frame was shown, the first one in decoding order may come after frame `show`.
    play_order_start(&p->order, p->previewed || p->show > begin ? p->show : begin);
    usec_t later =
        p->scaled ? p->config.decode_lead : AFTER_SEEK + reorder_delay(p, held_at(p, 0)->size_id);
    media_clock_set(&p->clock, playout_pts(p, p->order.next), now + (p->at_once ? later : 0));
    p->hurried = p->at_once ? p->order.next : -1;
    p->left = p->order.next;
    p->left_at = now;
    act(out, PLAYOUT_START, now);
    out->number = p->order.next;
    out->level = playout_level_at(p, p->order.next);
    return true;
}

// Returns true if a frame up to the one that playout_skip goes to may depend on `f`.
static bool is_needed(const struct playout *p, const struct received_frame *f)
{
    const struct ladder *l = p->config.ladder;
    int top = f->size_id < l->size_count ? l->sizes[f->size_id].layers - 1 : 0;
    if (!followed_size_takes(&p->follows, f))
        return false;
    if (top > 0 && f->temporal_id == top && !f->key)
        return false;
    for (int i = 0; i < held_frames_count(p->held); i++) {
        const struct received_frame *k = held_at(p, i);
        if (k->key && k->size_id == f->size_id && k->number > f->number && k->number <= p->skip_to)
            return false;
    }
    return true;
}

// Leaves out what playout_skip passed over, frame by frame. False: nothing more of it.
static bool poll_skip(struct playout *p, struct playout_action *out, usec_t now)
{
    while (p->order.next < p->skip_to) {
        const struct received_frame *f = front(p);
        int64_t expected = level_schedule_next(&p->levels, p->order.next);
        int64_t held = f ? f->number : INT64_MAX;
        if (held < p->order.next)
            return hand_out(p, PLAYOUT_DECODE_ONLY, now, out, now);
        if (held <= expected && held < p->skip_to) {
            if (is_needed(p, f)) {
                (void)hand_out(p, PLAYOUT_DECODE_ONLY, now, out, now);
                out->skipped = true;
                return true;
            }
            held_frames_drop(p->held, 0);
            play_order_pass_to(&p->order, held + 1);
            act(out, PLAYOUT_SKIPPED, now);
            out->number = held;
            out->level = playout_level_at(p, held);
            return true;
        }
        if (expected >= p->skip_to)
            play_order_pass_to(&p->order, p->skip_to);
        else if (!miss(p, expected, now))
            return poll_missed(p, out, now);
    }
    p->skip_to = -1;
    return false;
}

// Returns true if frame `number` is held behind frames that are decoded before it.
static bool has_behind(const struct playout *p, int64_t number)
{
    return p->config.reorders && held_frames_has_behind(p->held, number);
}

// When the frame at the front is to be decoded: `decode_lead` before the first of the frames that
// wait for it is due. The frame that it depends on may arrive until then.
static usec_t wanted_at(const struct playout *p)
{
    if (held_at(p, 0)->number == p->hurried || has_behind(p, p->hurried))
        return INT64_MIN;
    bool reorders = frame_times_stamped(p->times) || p->config.reorders;
    usec_t wanted = due_of(p, held_at(p, 0));
    int count = held_frames_count(p->held);
    for (int i = 1; reorders && i < count && i < HELD_FRAMES_REORDER; i++)
        wanted = usec_min(wanted, due_of(p, held_at(p, i)));
    bool waits = p->config.reorders && !followed_size_decodes(&p->follows, held_at(p, 0));
    return wanted - (waits ? 0 : p->config.decode_lead);
}

// Returns true if `f`, the frame at the front, leaves before any other.
static bool is_next(const struct playout *p, const struct received_frame *f, int64_t expected)
{
    return f && (f->number <= expected || has_behind(p, expected));
}

// Returns true if the frame cannot be decoded, and may be once a packet that is requested has come.
static bool lacks_reference(const struct playout *p, const struct received_frame *f)
{
    return lacks_before(p, f) && !followed_size_decodes(&p->follows, f);
}

// Returns true if playing waits for the frame that is next, or for one that it depends on.
static bool is_awaited(const struct playout *p, const struct received_frame *f, int64_t expected)
{
    return is_next(p, f, expected) ? lacks_reference(p, f) : may_come(p, expected);
}

static bool poll_clocked(struct playout *p, struct playout_action *out, usec_t now)
{
    if (poll_skip(p, out, now))
        return true;
    for (;;) {
        const struct received_frame *f = front(p);
        if (f && f->number < p->order.next && !lacks_reference(p, f))
            return hand_out(p, PLAYOUT_DECODE_ONLY, now, out, now);
        int64_t expected = playout_awaited(p);
        if (is_next(p, f, expected) && !lacks_reference(p, f)) {
            usec_t due = f->number == p->hurried ? now : due_of(p, f);
            usec_t wanted = wanted_at(p);
            if (now < wanted)
                return wait_until(p, wanted);
            return hand_out(p, PLAYOUT_DECODE_AND_SHOW, due, out, now);
        }
        usec_t due = playout_due(p, expected);
        if (now < due)
            return wait_until(p, due);
        if ((f || p->order.ahead_count > 0) && !is_awaited(p, f, expected)) {
            if (!miss(p, expected, now))
                return poll_missed(p, out, now);
            continue;
        }
        if (p->stream_ended) {
            p->mode = PLAYOUT_ENDED;
            return false;
        }
        usec_t interval = playout_due(p, level_schedule_next(&p->levels, expected + 1)) - due;
        usec_t limit = due + usec_min(interval, PLAYOUT_MAX_GRACE);
        return now < limit ? wait_until(p, limit) : stall_begin(p, due, out);
    }
}

// The next frame is the next one held. If it comes after its time, all later ones are due as much
// later.
static bool poll_scaled(struct playout *p, struct playout_action *out, usec_t now)
{
    const struct received_frame *f = front(p);
    if (!f) {
        if (p->stream_ended)
            p->mode = PLAYOUT_ENDED;
        return false;
    }
    if (f->number < p->order.next)
        return hand_out(p, PLAYOUT_DECODE_ONLY, now, out, now);
    usec_t due = f->number == p->hurried ? now : due_of(p, f);
    usec_t wanted = due - p->config.decode_lead;
    if (f->number != p->hurried && now < wanted)
        return wait_until(p, wanted);
    if (lacks_before(p, f))
        return false;
    if (due < now)
        media_clock_set(&p->clock, f->pts, now);
    play_order_pass_to(&p->order, f->number);
    return hand_out(p, PLAYOUT_DECODE_AND_SHOW, due, out, now);
}

static bool poll_rebuffering(struct playout *p, struct playout_action *out, usec_t now)
{
    const struct received_frame *f = front(p);
    if (f && f->number < p->order.next && !lacks_reference(p, f))
        return hand_out(p, PLAYOUT_DECODE_ONLY, now, out, now);
    if (!f && !p->stream_ended)
        return false;
    if (f && is_awaited(p, f, playout_awaited(p)))
        return false;
    if (f && media_from(p, 0) < playout_goal(p) && !p->stream_ended && !p->full)
        return false;
    int64_t next = f ? held_frames_lowest(p->held, p->order.next) : playout_awaited(p);
    media_clock_set(&p->clock, playout_pts(p, next), now);
    return stall_end(p, out, now);
}

// Live: returns true if the first frame may leave although an older frame, the frame it depends on,
// or its size's key frame is missing.
static bool may_pass(struct playout *p, int64_t expected, usec_t now)
{
    const struct received_frame *f = held_at(p, 0);
    if (p->stream_ended)
        return true;
    usec_t due = p->config.low_latency
                     ? INT64_MIN
                     : usec_max(playout_due(p, expected), due_of(p, f) - PASS_LEAD);
    if (now < due)
        return wait_until(p, due);
    for (int i = 0; i < held_frames_count(p->held); i++) {
        // A repaired or key frame is held: the missing frames before it are not needed any more.
        if (followed_size_decodes(&p->follows, held_at(p, i)))
            return true;
    }
    usec_t limit = held_frames_since(p->held, 0) + PLAYOUT_REPAIR;
    return now >= limit || wait_until(p, limit);
}

// Live, and no frame is held.
static bool poll_empty(struct playout *p, struct playout_action *out, usec_t now)
{
    int64_t next = level_schedule_next(&p->levels, p->left + 1);
    usec_t interval = playout_pts(p, next) - playout_pts(p, p->left);
    usec_t expected_at = p->left_at + interval;
    if (!p->config.low_latency && !p->astray)
        expected_at = usec_max(expected_at, playout_due(p, playout_awaited(p)));
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

// Live: a picture waits for its layers until all that the level has are there, or a later picture
// is. Its own wait ends when it is due, but not before a frame interval has passed: where the
// latency is short, the picture is due when its first layer arrives.
static usec_t layers_awaited(const struct playout *p)
{
    const struct received_frame *f = held_at(p, 0);
    int level = playout_level_at(p, f->number);
    if (!p->config.ladder->cumulative || level < 0 || held_frames_count(p->held) > 1 ||
        held_layers_has(&p->layers, f->number, p->config.ladder->levels[level].size_id))
        return INT64_MIN;
    int64_t next = level_schedule_next(&p->levels, f->number + 1);
    usec_t limit = held_frames_since(p->held, 0) + playout_pts(p, next) - f->pts;
    return p->config.low_latency ? limit : usec_max(limit, due_of(p, f) - PASS_LEAD);
}

static bool poll_live(struct playout *p, struct playout_action *out, usec_t now)
{
    if (poll_skip(p, out, now))
        return true;
    for (;;) {
        const struct received_frame *f = front(p);
        if (!f)
            return poll_empty(p, out, now);
        if (f->number < p->order.next)
            return hand_out(p, PLAYOUT_DECODE_ONLY, now, out, now);
        if (p->astray && !p->config.low_latency)
            media_clock_set(&p->clock, f->pts, now);
        p->astray = false;
        int64_t expected = level_schedule_next(&p->levels, p->order.next);
        bool gap = f->number > expected;
        if ((gap || !followed_size_takes(&p->follows, f)) && !may_pass(p, expected, now))
            return false;
        if (gap) {
            if (!miss(p, expected, now))
                return poll_missed(p, out, now);
            continue;
        }
        usec_t wanted = layers_awaited(p);
        if (!p->config.low_latency)
            wanted = usec_max(wanted, wanted_at(p));
        if (now < wanted)
            return wait_until(p, wanted);
        if (p->mode == PLAYOUT_REBUFFERING)
            return stall_end(p, out, now);
        usec_t due = p->config.low_latency ? now : due_of(p, f);
        return hand_out(p, PLAYOUT_DECODE_AND_SHOW, due, out, now);
    }
}

static bool poll_mode(struct playout *p, struct playout_action *out, usec_t now)
{
    if (p->mode == PLAYOUT_BUFFERING)
        return poll_buffering(p, out, now);
    if (p->mode == PLAYOUT_ENDED)
        return false;
    if (p->scaled)
        return poll_scaled(p, out, now);
    if (p->config.live)
        return poll_live(p, out, now);
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
        missed_frames_settle_all(&p->missed);
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
    p->config = *config;
    p->config.live = (config->live || config->low_latency) && !config->reorders;
    p->config.low_latency &= p->config.live;
    p->config.waits &= !p->config.live;
    p->missing_seq = INT64_MAX;
    p->held = held_frames_new();
    p->times = frame_times_new(ladder, config->stamped);
    if (!p->held || !p->times) {
        playout_free(p);
        return NULL;
    }
    followed_size_init(&p->follows, config->tracker);
    play_order_init(&p->order, &p->levels);
    media_clock_init(&p->clock);
    playout_flush(p, 0, 0);
    playout_set_thresholds(p, config->start_threshold, config->resume_threshold);
    p->at_once = config->at_once;
    p->last_now = INT64_MIN;
    level_schedule_init(&p->levels, ladder, config->level);
    return p;
}

void playout_free(struct playout *p)
{
    if (!p)
        return;
    held_frames_free(p->held);
    held_layers_drop_all(&p->layers);
    frame_times_free(p->times);
    free(p);
}

enum playout_mode playout_mode(const struct playout *p)
{
    return p->mode;
}

usec_t playout_early(const struct playout *p, int64_t number, usec_t at)
{
    bool hurried = p->mode == PLAYOUT_PLAYING && number >= 0 && number == p->hurried;
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
