// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/feed/viewer_end.h"

#define CLOCK_WAIT (300 * USEC_PER_MSEC) // the origin's clock follows its response to PLAY

// ---- The viewer's request for a place

bool viewer_end_waits(const struct viewer_end *e)
{
    return e->requested && !e->answered;
}

void viewer_end_answer(struct viewer_end *e, enum media_placed placed, usec_t now)
{
    if (!viewer_end_waits(e))
        return;
    e->answered = true;
    e->placed = placed;
    e->clock_limit = USEC_NEVER;
    e->sink->ops->on_placed(e->sink, now);
}

void viewer_end_refuse(struct viewer_end *e, const struct media_refusal *why, usec_t now)
{
    e->place.refusal = *why;
    viewer_end_answer(e, MEDIA_REFUSED, now);
}

void viewer_end_await_clock(struct viewer_end *e, bool is_to_come, usec_t now)
{
    if (viewer_end_waits(e))
        e->clock_limit = is_to_come ? now + CLOCK_WAIT : now;
}

void viewer_end_on_clock(struct viewer_end *e, usec_t now)
{
    if (e->clock_limit != USEC_NEVER)
        e->ops->answer(e, now);
}

void viewer_end_on_lost(struct viewer_end *e)
{
    e->clock_limit = USEC_NEVER;
}

enum media_placed viewer_end_place(struct media_feed *feed, const struct media_seek *to,
                                   struct media_place *out, usec_t now)
{
    struct viewer_end *e = (struct viewer_end *)feed;
    if (!e->requested) {
        e->requested = true;
        e->answered = false;
        e->request_limit = now + MEDIA_PLACE_LIMIT;
        e->clock_limit = USEC_NEVER;
        e->ops->begin(e, to, now);
    }
    if (viewer_end_waits(e) && now >= e->clock_limit)
        e->ops->answer(e, now);
    bool done = e->answered;
    if (done) {
        *out = e->place;
        e->requested = e->answered = false;
        e->released = true;
    }
    e->ops->arm(e);
    return done ? e->placed : MEDIA_WAITS;
}

// ---- Frames

bool viewer_end_takes(const struct viewer_end *e)
{
    return e->plays && !e->requested;
}

static void give(struct viewer_end *e, usec_t now)
{
    struct coded_frame *frame;
    while (viewer_end_takes(e) && (frame = frame_store_next(e->store)))
        e->sink->ops->on_frame(e->sink, frame, now);
}

void viewer_end_play(struct viewer_end *e, bool plays)
{
    e->plays = e->released = plays;
}

void viewer_end_forward(struct viewer_end *e, struct coded_frame *frame, usec_t now)
{
    frame_store_add(e->store, frame);
    give(e, now);
}

void viewer_end_lost(void *end, int packets, usec_t now)
{
    const struct viewer_end *e = end;
    e->sink->ops->on_lost(e->sink, packets, now);
}

// ---- Time

usec_t viewer_end_next_timeout(const struct viewer_end *e)
{
    usec_t when = e->released ? 0 : e->clock_limit;
    return viewer_end_waits(e) ? usec_min(when, e->request_limit) : when;
}

void viewer_end_on_timeout(struct viewer_end *e, usec_t now)
{
    e->released = false;
    give(e, now);
    if (viewer_end_waits(e) && now >= e->clock_limit)
        e->ops->answer(e, now);
    if (!viewer_end_waits(e) || now < e->request_limit)
        return;
    struct media_refusal why = {.status = 504, .text = "origin: no answer in time"};
    e->ops->give_up(e, now);
    viewer_end_refuse(e, &why, now);
}

// ---- Life

bool viewer_end_open(struct viewer_end *e, const struct viewer_end_ops *ops,
                     const struct viewer_end_config *config, usec_t now)
{
    struct access_leg_config leg = {.sink = config->sink,
                                    .media = config->origin->media,
                                    .choices = config->origin->choices,
                                    .ops = config->bridge,
                                    .ctx = e};
    e->ops = ops;
    e->sink = config->sink;
    e->clock_limit = USEC_NEVER;
    e->leg = access_leg_new(&leg, now);
    e->store = frame_store_new(config->keeps);
    e->timer = timer_new(config->origin->loop, config->on_timer, e);
    return e->leg && e->store && e->timer;
}

void viewer_end_close(struct viewer_end *e)
{
    access_leg_free(e->leg);
    frame_store_free(e->store);
    timer_free(e->timer);
}
