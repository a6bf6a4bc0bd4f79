// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/playout_buffer.h"

#include <stdlib.h>

#include "common/base/err.h"
#include "stream/playout/followed_size.h"
#include "stream/playout/frame_times.h"
#include "stream/playout/held_group.h"
#include "stream/playout/held_layers.h"
#include "stream/playout/level_schedule.h"
#include "stream/playout/missed_frames.h"
#include "stream/playout/play_order.h"

// Numbers: hours of a pause. A source that restarted at another number skipped nothing.
#define LONGEST_SKIP ((int64_t)1 << 18)

struct playout_buffer {
    struct playout_buffer_config config;
    struct held_frames *held;  // owned
    struct held_layers layers; // cumulative ladder: larger sizes of pictures
    struct frame_times *times; // owned
    struct level_schedule levels;
    struct play_order order;
    struct missed_frames missed;
    struct followed_size follows;
    bool ended;
    bool full;
    int64_t floor;       // refused below
    int64_t newest;      // highest number taken; -1 none
    int64_t last_slot;   // the highest taken; -1 none
    int most_reorder;    // by how many frames one was decoded after its turn to be shown
    int64_t missing_seq; // of playout_set_missing
    int64_t far_number;  // of the last frame refused for being too far away
    int far_count;       // in a row
};

static const struct received_frame *held_at(const struct playout_buffer *b, int i)
{
    return held_frames_at(b->held, i);
}

// ---- Numbers

usec_t playout_buffer_pts(const struct playout_buffer *b, int64_t number)
{
    return frame_times_of(b->times, number);
}

usec_t playout_buffer_interval(const struct playout_buffer *b)
{
    return frame_times_interval(b->times);
}

int playout_buffer_level_at(const struct playout_buffer *b, int64_t number)
{
    return level_schedule_at(&b->levels, number);
}

int64_t playout_buffer_next(const struct playout_buffer *b)
{
    return b->order.next;
}

int64_t playout_buffer_awaited(const struct playout_buffer *b)
{
    return play_order_awaited(&b->order);
}

int64_t playout_buffer_expected(const struct playout_buffer *b, int64_t from)
{
    return level_schedule_next(&b->levels, from);
}

uint64_t playout_buffer_count(const struct playout_buffer *b, int64_t from, int64_t to)
{
    return to - from < LONGEST_SKIP ? level_schedule_count(&b->levels, from, to) : 0;
}

bool playout_buffer_has_behind(const struct playout_buffer *b, int64_t number)
{
    return b->config.reorders && held_frames_has_behind(b->held, number);
}

bool playout_buffer_went_ahead(const struct playout_buffer *b)
{
    return b->order.ahead_count > 0;
}

// ---- What can be decoded

// Packets are missing from this number on; INT64_MAX: none is waited for.
static int64_t missing(const struct playout_buffer *b)
{
    return b->ended ? INT64_MAX : b->missing_seq;
}

bool playout_buffer_decodes(const struct playout_buffer *b, const struct received_frame *f)
{
    return followed_size_decodes(&b->follows, f);
}

bool playout_buffer_takes(const struct playout_buffer *b, const struct received_frame *f)
{
    return followed_size_takes(&b->follows, f);
}

bool playout_buffer_is_followed(const struct playout_buffer *b, int size_id)
{
    return size_id == b->follows.size;
}

bool playout_buffer_lacks_before(const struct playout_buffer *b, const struct received_frame *f)
{
    return missing(b) < f->first_seq;
}

bool playout_buffer_lacks_begin(const struct playout_buffer *b, int i)
{
    return held_at(b, i)->number > b->floor && !b->full &&
           playout_buffer_lacks_before(b, held_at(b, i));
}

bool playout_buffer_may_come(const struct playout_buffer *b, int64_t number)
{
    if (!b->config.waits || b->ended)
        return false;
    if (b->last_slot <= number + b->most_reorder)
        return true;
    // Its packets left before those of the frames that are decoded after it.
    int count = held_frames_count(b->held);
    for (int i = 0; i < count && i < HELD_FRAMES_REORDER; i++)
        if (received_frame_slot(held_at(b, i)) > number &&
            playout_buffer_lacks_before(b, held_at(b, i)))
            return true;
    return false;
}

// ---- What is held

const struct held_frames *playout_buffer_held(const struct playout_buffer *b)
{
    return b->held;
}

size_t playout_buffer_bytes(const struct playout_buffer *b)
{
    return held_frames_bytes(b->held) + held_layers_bytes(&b->layers);
}

bool playout_buffer_is_full(const struct playout_buffer *b)
{
    return b->full;
}

bool playout_buffer_has_ended(const struct playout_buffer *b)
{
    return b->ended;
}

// A frame that is decoded before others which are shown before it counts as one of them.
usec_t playout_buffer_media(const struct playout_buffer *b, int i)
{
    int count = held_frames_count(b->held);
    if (i >= count)
        return 0;
    int64_t end = playout_buffer_expected(b, received_frame_slot(held_at(b, count - 1)) + 1);
    return usec_max(0, playout_buffer_pts(b, end) -
                           playout_buffer_pts(b, received_frame_slot(held_at(b, i))));
}

// Returns by how many frames one that is held is decoded after its turn to be shown.
static int held_reorder(const struct playout_buffer *b)
{
    int most = 0, count = held_frames_count(b->held);
    for (int i = 0; i < count && i < HELD_FRAMES_REORDER; i++)
        most = held_at(b, i)->reorder > most ? held_at(b, i)->reorder : most;
    return most < HELD_FRAMES_REORDER ? most : HELD_FRAMES_REORDER;
}

// Of a film whose own frames are passed on (one layer), the frames tell.
usec_t playout_buffer_reorder(const struct playout_buffer *b)
{
    const struct ladder *l = b->config.ladder;
    int size_id = held_frames_count(b->held) > 0 ? held_at(b, 0)->size_id : b->follows.size;
    if (!b->config.reorders || size_id < 0 || size_id >= l->size_count)
        return 0;
    const struct size_spec *size = &l->sizes[size_id];
    int frames = size->layers > 1 ? size->layers - 1 : held_reorder(b);
    return (usec_t)(frames * 1e6 / fps_value(size->fps));
}

static bool lacks_layer(const struct playout_buffer *b, const struct received_frame *f)
{
    if (!b->config.ladder->cumulative || held_frames_count(b->held) > 1)
        return false;
    int level = playout_buffer_level_at(b, f->number);
    return level >= 0 &&
           !held_layers_has(&b->layers, f->number, b->config.ladder->levels[level].size_id);
}

// A frame of another size is of use if that size's key frame may still come.
struct playout_front playout_buffer_front(struct playout_buffer *b)
{
    const struct received_frame *f = followed_size_front(
        &b->follows, b->held, b->order.next, missing(b), b->config.keeps_newer && !b->ended);
    struct playout_front out = {
        .frame = f, .next = b->order.next, .expected = playout_buffer_awaited(b)};
    if (!f)
        return out;
    out.in_turn = f->number <= out.expected || playout_buffer_has_behind(b, out.expected);
    out.follows = followed_size_takes(&b->follows, f);
    out.lacks_layer = lacks_layer(b, f);
    out.first_pts = f->pts;
    bool lacks = playout_buffer_lacks_before(b, f);
    bool sound = !(lacks || b->config.reorders) || playout_buffer_decodes(b, f);
    out.lacks_reference = lacks && !sound;
    out.waits = b->config.reorders && !sound;
    int reach = b->config.stamped || b->config.reorders ? held_frames_count(b->held) : 1;
    for (int i = 1; i < reach && i < HELD_FRAMES_REORDER; i++)
        out.first_pts = usec_min(out.first_pts, held_at(b, i)->pts);
    return out;
}

// ---- In

static bool is_far(const struct playout_buffer *b, usec_t pts, int64_t from)
{
    usec_t distance = pts - playout_buffer_pts(b, from);
    return distance > PLAYOUT_MAX_AHEAD || distance < -PLAYOUT_MAX_AHEAD;
}

// A number too far away is not believed at once: one wrong number must not move the clock. Returns
// true when it is believed; the buffer then begins again at that number.
static bool resync(struct playout_buffer *b, const struct received_frame *f)
{
    bool near = b->far_count > 0 && !is_far(b, f->pts, b->far_number);
    b->far_count = near ? b->far_count + 1 : 1;
    b->far_number = f->number;
    if (b->far_count < PLAYOUT_RESYNC || !f->key)
        return false;
    playout_buffer_drop_all(b);
    b->far_count = 0;
    missed_frames_settle_all(&b->missed);
    followed_size_forget(&b->follows);
    b->newest = f->number;
    play_order_start(&b->order, b->order.next < 0 ? -1 : f->number);
    return true;
}

// `f` has a number that was passed already. 0 when it is of some use or its lateness is news.
static int push_passed(struct playout_buffer *b, struct received_frame *f, usec_t now)
{
    enum missed_arrival late = missed_frames_arrived(&b->missed, f->number);
    bool is_news = late == MISSED_LATE;
    int err = ERR_RANGE;
    bool may = is_news || f->size_id != b->follows.size || late == MISSED_UNKNOWN;
    if (may && followed_size_needs(&b->follows, f))
        err = held_frames_add(b->held, f, &b->full, now);
    if (err)
        received_frame_free(f);
    return is_news ? ERR_OK : err;
}

// Returns the frame from which another may be PLAYOUT_MAX_AHEAD away; -1: none is held.
static int64_t position(const struct playout_buffer *b)
{
    return b->order.next < 0 && held_frames_count(b->held) > 0 ? held_at(b, 0)->number
                                                               : b->order.next;
}

// A layer of a picture waits for it, or for the picture's smaller layers.
static int push_layer(struct playout_buffer *b, struct received_frame *f)
{
    int64_t here = position(b);
    bool passed = f->number < b->order.next || play_order_is_ahead(&b->order, f->number);
    if (passed || (here >= 0 && is_far(b, playout_buffer_pts(b, f->number), here)))
        return ERR_RANGE;
    return held_layers_add(&b->layers, f);
}

// Of another size than was expected, a key frame of a film is of a copy of that group alone.
static void see_level(struct playout_buffer *b, const struct received_frame *f,
                      const struct held_group *group)
{
    int at = playout_buffer_level_at(b, f->number);
    bool other = at >= 0 && b->config.ladder->levels[at].size_id != f->size_id;
    int level = group ? group->level : f->level;
    if (!group || !other || group->end < 0)
        level_schedule_see(&b->levels, received_frame_slot(f), level, f->size_id, f->temporal_id,
                           f->key);
    else if (level_schedule_is_of(b->config.ladder, level, f->size_id, f->temporal_id))
        level_schedule_choose(&b->levels, f->number, group->end, level);
}

int playout_buffer_push(struct playout_buffer *b, struct received_frame *f, bool *moved, usec_t now)
{
    int err = ERR_RANGE;
    *moved = false;
    if (f->number >= PLAYOUT_MAX_NUMBER || !reference_tracker_can_be(b->config.ladder, f)) {
        err = ERR_MALFORMED;
        goto refuse;
    }
    if (b->config.tracker)
        reference_tracker_arrived(b->config.tracker, f);
    if (f->number < b->floor)
        goto refuse;
    if (f->on_lower) {
        err = push_layer(b, f);
        if (err)
            goto refuse;
        return ERR_OK;
    }
    f->pts = frame_times_see(b->times, f);
    int64_t here = position(b);
    if (here < 0 || !is_far(b, f->pts, here)) {
        b->far_count = 0;
    } else if (held_frames_count(b->held) > 0 && !is_far(b, f->pts, b->newest)) {
        b->full = true; // the media continues after the held frames, but too far ahead
        err = ERR_FULL;
        goto refuse;
    } else {
        *moved = resync(b, f);
        if (!*moved)
            goto refuse;
    }
    int64_t number = f->number, slot = received_frame_slot(f);
    bool refused = followed_size_refuses(&b->follows, f);
    struct held_group group = {0};
    bool begins = f->key && b->follows.film;
    if (begins)
        group = held_group_of(b->held, b->config.ladder, f);
    if (!refused)
        see_level(b, f, begins ? &group : NULL);
    if (number < b->order.next)
        return push_passed(b, f, now);
    if (refused || (playout_buffer_went_ahead(b) && play_order_is_ahead(&b->order, number)))
        goto refuse;
    int reorder = f->reorder < HELD_FRAMES_REORDER ? f->reorder : HELD_FRAMES_REORDER;
    err = held_frames_add(b->held, f, &b->full, now);
    if (err)
        goto refuse;
    b->newest = number > b->newest ? number : b->newest;
    b->last_slot = slot > b->last_slot ? slot : b->last_slot;
    b->most_reorder = reorder > b->most_reorder ? reorder : b->most_reorder;
    return ERR_OK;
refuse:
    received_frame_free(f);
    return err;
}

void playout_buffer_set_missing(struct playout_buffer *b, int64_t seq)
{
    b->missing_seq = b->config.waits ? seq : INT64_MAX;
}

void playout_buffer_end(struct playout_buffer *b)
{
    b->ended = true;
}

void playout_buffer_seek(struct playout_buffer *b, int64_t first)
{
    while (held_frames_count(b->held) > 0 && held_at(b, 0)->number < first)
        held_frames_drop(b->held, 0);
    held_layers_drop_below(&b->layers, first);
    missed_frames_settle_all(&b->missed);
    b->ended = false;
    b->full = false;
    b->floor = first;
    play_order_start(&b->order, -1);
    int count = held_frames_count(b->held);
    b->newest = count > 0 ? held_at(b, count - 1)->number : -1;
    b->last_slot = b->newest;
    followed_size_forget(&b->follows);
    b->far_count = 0;
}

void playout_buffer_drop(struct playout_buffer *b, int count)
{
    while (count-- > 0)
        held_frames_drop(b->held, 0);
}

void playout_buffer_drop_all(struct playout_buffer *b)
{
    held_frames_drop_all(b->held);
    held_layers_drop_all(&b->layers);
}

void playout_buffer_give_up(struct playout_buffer *b)
{
    if (b->full)
        held_frames_drop_all(b->held);
    b->full = false;
}

void playout_buffer_close(struct playout_buffer *b)
{
    missed_frames_settle_all(&b->missed);
    b->floor = INT64_MAX;
}

void playout_buffer_paused(struct playout_buffer *b, usec_t pause)
{
    held_frames_paused(b->held, pause);
}

// ---- Out

void playout_buffer_start(struct playout_buffer *b, int64_t number)
{
    play_order_start(&b->order, number);
}

void playout_buffer_pass_to(struct playout_buffer *b, int64_t number)
{
    play_order_pass_to(&b->order, number);
}

// A copy of a film's group begins with `f`, maybe of another level than the one that came last.
// Returns where it ends, if it is whole: then the other copies are of no use. Else -1.
static int64_t begin_group(struct playout_buffer *b, const struct received_frame *f)
{
    struct held_group group = held_group_of(b->held, b->config.ladder, f);
    see_level(b, f, &group);
    if (!group.whole)
        return -1;
    held_group_drop_others(b->held, f->size_id, f->number, group.end);
    return group.end;
}

struct playout_taken playout_buffer_take(struct playout_buffer *b)
{
    bool begins = held_at(b, 0)->key && b->follows.film;
    int64_t end = begins ? begin_group(b, held_at(b, 0)) : -1;
    struct received_frame *f = held_frames_take(b->held, 0);
    struct playout_taken out = {.frame = f, .level = playout_buffer_level_at(b, f->number)};
    if (b->config.ladder->cumulative)
        held_layers_join(&b->layers, f);
    out.sound =
        !b->config.tracker || reference_tracker_decoding(b->config.tracker, f) == FRAME_DECODABLE;
    if (out.sound)
        followed_size_handed(&b->follows, f, end);
    out.in_turn = b->order.next >= 0 && play_order_handed(&b->order, f->number);
    b->full = false;
    return out;
}

bool playout_buffer_pass(struct playout_buffer *b, int64_t number, usec_t now)
{
    if (!missed_frames_add(&b->missed, number, now))
        return false;
    play_order_handed(&b->order, number);
    return true;
}

bool playout_buffer_decided(struct playout_buffer *b, int64_t *number, bool *late, usec_t *wake,
                            usec_t now)
{
    if (missed_frames_poll(&b->missed, number, late, now))
        return true;
    *wake = b->missed.count > 0 ? missed_frames_next_timeout(&b->missed) : USEC_NEVER;
    return false;
}

// ---- Life

struct playout_buffer *playout_buffer_new(const struct playout_buffer_config *config)
{
    struct playout_buffer *b = calloc(1, sizeof(*b));
    if (!b)
        return NULL;
    b->config = *config;
    b->missing_seq = INT64_MAX;
    b->held = held_frames_new();
    b->times = frame_times_new(config->ladder, config->stamped);
    if (!b->held || !b->times) {
        playout_buffer_free(b);
        return NULL;
    }
    followed_size_init(&b->follows, config->tracker, config->waits ? config->ladder : NULL);
    play_order_init(&b->order, &b->levels);
    level_schedule_init(&b->levels, config->ladder, config->level);
    playout_buffer_seek(b, 0);
    return b;
}

void playout_buffer_free(struct playout_buffer *b)
{
    if (!b)
        return;
    held_frames_free(b->held);
    held_layers_drop_all(&b->layers);
    frame_times_free(b->times);
    free(b);
}

const struct playout_buffer_config *playout_buffer_setup(const struct playout_buffer *b)
{
    return &b->config;
}
