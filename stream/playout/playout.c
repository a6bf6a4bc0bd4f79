// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/playout.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "stream/playout/playout_state.h"

// ---- input

static bool is_possible(const struct playout *p, const struct received_frame *f)
{
    if (f->number >= PLAYOUT_MAX_NUMBER ||
        (p->config.ladder->level_count > 0 && f->size_id >= p->config.ladder->size_count))
        return false;
    return received_frame_is_possible(f);
}

static bool is_far(const struct playout *p, int64_t number, int64_t from)
{
    usec_t distance = playout_pts(p, number) - playout_pts(p, from);
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
    playout_drop_all(p);
    p->far_count = 0;
    p->skip_to = -1;
    p->settle_all = p->missed_count > 0;
    p->size = -1;
    p->decoded = -1;
    p->newest = f->number;
    if (p->mode == PLAYOUT_BUFFERING) {
        p->next = -1;
        return true;
    }
    p->next = f->number;
    p->ahead_count = 0;
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
    if ((is_news || f->size_id != p->size || i < 0) && playout_is_useful(p, f))
        err = playout_hold(p, f, now);
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
    playout_stamp(p, f);
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
    level_schedule_see(&p->levels, received_frame_slot(f), f->level, f->size_id, f->temporal_id,
                       f->key);
    if (f->number < p->next)
        return push_passed(p, f, now);
    err = ERR_RANGE;
    if (playout_is_ahead(p, f->number))
        goto refuse;
    int64_t number = f->number;
    err = playout_hold(p, f, now);
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
    p->holds = false;
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
    p->clock.at += pause;
    p->stall_at += pause;
    p->left_at += pause;
    for (int i = 0; i < p->held_count; i++)
        p->held[i].since += pause;
    p->wake = 0;
}

usec_t playout_stalled_until(const struct playout *p, usec_t now)
{
    return usec_max(0, (p->paused ? p->paused_at : now) - p->stall_at);
}

void playout_seek(struct playout *p, int64_t first, int64_t show, bool at_once, usec_t now)
{
    bool holds = p->paused && show >= 0;
    if (holds)
        playout_resume(p, now);
    p->holds = holds;
    while (p->held_count > 0 && p->held[0].frame->number < first)
        playout_drop(p, 0);
    if (p->pending.kind == PLAYOUT_STALL_BEGIN)
        p->pending.kind = PLAYOUT_NONE; // nobody heard of it
    else if (p->mode == PLAYOUT_REBUFFERING)
        p->pending = (struct playout_action){.kind = PLAYOUT_STALL_END,
                                             .number = -1,
                                             .level = -1,
                                             .at = now,
                                             .stalled = playout_stalled_until(p, now)};
    p->mode = PLAYOUT_BUFFERING;
    p->settle_all = p->missed_count > 0;
    p->stream_ended = false;
    p->end_told = false;
    p->full = false;
    p->floor = first;
    p->skip_to = -1;
    p->next = -1;
    p->ahead_count = 0;
    p->show = show;
    p->hurried = -1;
    p->at_once = at_once;
    p->newest = p->held_count > 0 ? p->held[p->held_count - 1].frame->number : -1;
    p->decoded = -1;
    p->size = -1;
    p->far_count = 0;
    p->last_now = usec_max(p->last_now, now);
    p->wake = 0;
}

void playout_flush(struct playout *p, int64_t from, usec_t now)
{
    playout_drop_all(p);
    playout_seek(p, from, -1, false, now);
}

void playout_set_thresholds(struct playout *p, usec_t start, usec_t resume)
{
    // More than may be held would never be reached.
    p->config.start_threshold = usec_min(start, PLAYOUT_MAX_AHEAD / 2);
    p->config.resume_threshold = usec_min(resume, PLAYOUT_MAX_AHEAD / 2);
    p->wake = 0;
}

// ---- the media clock

void playout_set_speed(struct playout *p, int32_t speed_ppm, usec_t now)
{
    media_clock_set_speed(&p->clock, speed_ppm, p->paused ? p->paused_at : now);
    p->wake = 0;
}

usec_t playout_position(const struct playout *p, usec_t now)
{
    return media_clock_position(&p->clock, p->paused ? p->paused_at : now);
}

const struct media_clock *playout_clock(const struct playout *p)
{
    bool runs = p->mode == PLAYOUT_PLAYING && !p->paused && !p->config.low_latency;
    return runs ? &p->clock : NULL;
}

// The newest key frame, of the size followed, behind which `keep` of media is held; -1: none.
static int64_t skip_target(const struct playout *p, usec_t keep)
{
    for (int i = p->held_count - 1; i > 0; i--) {
        const struct received_frame *f = p->held[i].frame;
        if (f->key && f->size_id == p->size && playout_media_from(p, i) >= keep)
            return f->number;
    }
    return -1;
}

usec_t playout_skip(struct playout *p, usec_t keep)
{
    if (p->mode != PLAYOUT_PLAYING || p->paused || p->config.low_latency)
        return 0;
    int64_t first = playout_next_expected(p, p->next);
    int64_t key = skip_target(p, keep);
    if (key <= first)
        return 0;
    // It takes the place of the frame that was next: the pictures go on without a gap.
    usec_t due = playout_due(p, first);
    media_clock_set(&p->clock, playout_pts(p, key), due);
    p->skip_to = key;
    p->wake = 0;
    return playout_pts(p, key) - playout_pts(p, first);
}

// ---- life

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
    p->stamps = config->stamped ? malloc(PLAYOUT_STAMPS * sizeof(*p->stamps)) : NULL;
    for (int i = 0; p->stamps && i < PLAYOUT_STAMPS; i++)
        p->stamps[i].number = -1;
    media_clock_init(&p->clock);
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
    playout_drop_all(p);
    free(p->stamps);
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
