// SPDX-License-Identifier: GPL-2.0-or-later
// The frames that the playout buffer holds, and what of them is of use.
#include <string.h>

#include "common/base/err.h"
#include "common/base/seq.h"
#include "stream/playout/playout_state.h"

#define LONGEST_PTS ((usec_t)1 << 60)
// Numbers: hours of a pause. A source that began anew at another number skipped nothing.
#define LONGEST_SKIP ((int64_t)1 << 18)

// usec_of_frames for rates from outside: never overflows.
static usec_t nominal_pts(const struct playout *p, int64_t number)
{
    struct fps fps = p->config.ladder->source_fps;
    __int128 pts = (__int128)number * USEC_PER_SEC * fps.den / fps.num;
    return pts < LONGEST_PTS ? (usec_t)pts : LONGEST_PTS;
}

void playout_stamp(struct playout *p, const struct received_frame *f)
{
    if (!p->stamps)
        return;
    p->last_ticks = p->has_ticks ? seq32_extend(p->last_ticks, f->rtp_timestamp) : f->rtp_timestamp;
    p->has_ticks = true;
    p->stamps[f->number % PLAYOUT_STAMPS] =
        (struct stamp){f->number, rtp_usec(p->last_ticks, RTP_CLOCK_RATE)};
}

// Where a frame is missing, the one before it tells, and the nominal rate.
usec_t playout_pts(const struct playout *p, int64_t number)
{
    for (int64_t n = number; p->stamps && n >= 0 && n > number - PLAYOUT_MAX_FRAMES; n--) {
        const struct stamp *s = &p->stamps[n % PLAYOUT_STAMPS];
        if (s->number == n)
            return s->pts + nominal_pts(p, number - n);
    }
    return nominal_pts(p, number);
}

usec_t playout_wanted(const struct playout *p)
{
    bool reorders = p->stamps || p->config.reorders;
    usec_t wanted = playout_due(p, p->held[0].frame->number);
    for (int i = 1; reorders && i < p->held_count && i < PLAYOUT_REORDER; i++)
        wanted = usec_min(wanted, playout_due(p, p->held[i].frame->number));
    return wanted;
}

usec_t playout_reorder_delay(const struct playout *p, int size_id)
{
    const struct ladder *l = p->config.ladder;
    if (!p->config.reorders || size_id < 0 || size_id >= l->size_count)
        return 0;
    const struct size_spec *size = &l->sizes[size_id];
    return (usec_t)((size->layers - 1) * 1e6 / fps_value(size->fps));
}

usec_t playout_due(const struct playout *p, int64_t number)
{
    return media_clock_due(&p->clock, playout_pts(p, number));
}

int playout_level_at(const struct playout *p, int64_t number)
{
    return level_schedule_at(&p->levels, number);
}

int64_t playout_next_expected(const struct playout *p, int64_t from)
{
    return level_schedule_next(&p->levels, from);
}

bool playout_is_ahead(const struct playout *p, int64_t number)
{
    for (int i = 0; i < p->ahead_count; i++)
        if (p->ahead[i] == number)
            return true;
    return false;
}

int64_t playout_awaited(const struct playout *p)
{
    if (p->next < 0)
        return -1;
    int64_t n = playout_next_expected(p, p->next);
    while (playout_is_ahead(p, n))
        n = playout_next_expected(p, n + 1);
    return n;
}

// Nothing is awaited any more below the first of those that went ahead.
static void pass_first_ahead(struct playout *p)
{
    p->next = p->ahead[0] + 1 > p->next ? p->ahead[0] + 1 : p->next;
    p->ahead_count--;
    memmove(&p->ahead[0], &p->ahead[1], (size_t)p->ahead_count * sizeof(p->ahead[0]));
}

void playout_handed(struct playout *p, int64_t number)
{
    if (number > playout_awaited(p)) {
        if (p->ahead_count == PLAYOUT_MAX_AHEADS)
            pass_first_ahead(p);
        int i = p->ahead_count++;
        for (; i > 0 && p->ahead[i - 1] > number; i--)
            p->ahead[i] = p->ahead[i - 1];
        p->ahead[i] = number;
    } else if (number >= p->next) {
        p->next = number + 1;
    }
    while (p->ahead_count > 0 && p->ahead[0] <= playout_next_expected(p, p->next))
        pass_first_ahead(p);
}

uint64_t playout_expected(const struct playout *p, int64_t from, int64_t to)
{
    return to - from < LONGEST_SKIP ? level_schedule_count(&p->levels, from, to) : 0;
}

struct received_frame *playout_take(struct playout *p, int i)
{
    struct received_frame *f = p->held[i].frame;
    p->held_bytes -= f->bytes;
    p->held_count--;
    memmove(&p->held[i], &p->held[i + 1], (size_t)(p->held_count - i) * sizeof(p->held[0]));
    return f;
}

void playout_drop(struct playout *p, int i)
{
    received_frame_free(playout_take(p, i));
}

void playout_drop_all(struct playout *p)
{
    while (p->held_count > 0)
        playout_drop(p, p->held_count - 1);
}

int playout_hold(struct playout *p, struct received_frame *f, usec_t now)
{
    int64_t slot = received_frame_slot(f);
    int i = p->held_count;
    while (i > 0 && received_frame_slot(p->held[i - 1].frame) >= slot) {
        i--;
        if (p->held[i].frame->number == f->number && p->held[i].frame->size_id == f->size_id)
            return ERR_RANGE;
    }
    while (p->held_count == PLAYOUT_MAX_FRAMES || p->held_bytes + f->bytes > PLAYOUT_MAX_BYTES) {
        p->full = true;
        if (i == p->held_count)
            return ERR_FULL;
        playout_drop(p, p->held_count - 1);
    }
    memmove(&p->held[i + 1], &p->held[i], (size_t)(p->held_count - i) * sizeof(p->held[0]));
    p->held[i] = (struct held){f, now};
    p->held_count++;
    p->held_bytes += f->bytes;
    return ERR_OK;
}

bool playout_is_decodable(const struct playout *p, const struct received_frame *f)
{
    return !p->config.tracker || reference_tracker_verdict(p->config.tracker, f) == FRAME_DECODABLE;
}

bool playout_is_useful(const struct playout *p, const struct received_frame *f)
{
    // A key frame that was late for the size before the present one does not bring that back.
    if (f->size_id != p->size)
        return f->key && (p->size < 0 || f->number > p->size_at);
    return received_frame_slot(f) > p->decoded && playout_is_decodable(p, f);
}

const struct received_frame *playout_front(struct playout *p)
{
    while (p->held_count > 0) {
        const struct received_frame *f = p->held[0].frame;
        if (f->number < p->next ? !playout_is_useful(p, f) : f->size_id != p->size && !f->key) {
            playout_drop(p, 0);
            continue;
        }
        const struct received_frame *twin = p->held_count > 1 ? p->held[1].frame : NULL;
        if (!twin || twin->number != f->number)
            return f;
        // One number in two sizes: a key frame of the other size is where the level changes.
        playout_drop(p, twin->size_id != p->size && twin->key ? 0 : 1);
    }
    return NULL;
}

int playout_first_key(const struct playout *p)
{
    int i = 0;
    while (i < p->held_count && !p->held[i].frame->key)
        i++;
    return i;
}

// A frame that comes before others which are shown before it counts as one of them.
usec_t playout_media_from(const struct playout *p, int i)
{
    if (i >= p->held_count)
        return 0;
    int64_t last = received_frame_slot(p->held[p->held_count - 1].frame);
    return usec_max(0, playout_pts(p, playout_next_expected(p, last + 1)) -
                           playout_pts(p, received_frame_slot(p->held[i].frame)));
}

int64_t playout_lowest_held(const struct playout *p)
{
    int64_t lowest = -1;
    for (int i = 0; i < p->held_count && i < PLAYOUT_REORDER; i++) {
        int64_t number = p->held[i].frame->number;
        if (number >= p->next && (lowest < 0 || number < lowest))
            lowest = number;
    }
    return lowest;
}

usec_t playout_goal(const struct playout *p)
{
    int size = p->held_count > 0 ? p->held[0].frame->size_id : p->size;
    usec_t delay = playout_reorder_delay(p, size);
    usec_t goal =
        p->mode == PLAYOUT_REBUFFERING ? p->config.resume_threshold : p->config.start_threshold;
    return delay ? delay + usec_max(goal, 1) : goal; // with the frame that the last of them is
}

usec_t playout_held(const struct playout *p)
{
    return playout_media_from(p, p->mode == PLAYOUT_BUFFERING ? playout_first_key(p) : 0);
}

size_t playout_held_bytes(const struct playout *p)
{
    return p->held_bytes;
}

int playout_held_frames(const struct playout *p)
{
    return p->held_count;
}
