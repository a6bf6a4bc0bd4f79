// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "common/base/log.h"
#include "player/video/presenter_state.h"

#define RESUME_THRESHOLD (500 * USEC_PER_MSEC)

void presenter_end(struct presenter *p, usec_t now)
{
    p->last_frames = true;
    playout_end(p->playout, now);
    presenter_run(p, now);
}

void presenter_nacked(struct presenter *p, usec_t now)
{
    reference_tracker_nacked(p->tracker, now);
}

void presenter_stop(struct presenter *p, usec_t now)
{
    if (p->stopped)
        return;
    p->stopped = true;
    timer_set(p->timer, USEC_NEVER);
    if (p->config.sdp->reorders && playout_paused(p->playout))
        render_queue_drop(p->config.show);
    playout_flush(p->playout, 0, now);
    struct playout_action a;
    while (playout_poll(p->playout, &a, now)) {
        if (a.kind == PLAYOUT_LOST || a.kind == PLAYOUT_LATE)
            presenter_act(p, &a, now);
        else if (a.kind == PLAYOUT_STALL_END)
            stall_reporter_stop(&p->stalls, a.at);
    }
    qoe_on_frames(p->config.qoe, frame_outcomes_totals(p->ledger));
    frame_reporter_stop(&p->frames);
    presenter_tell_clock(p);
}

void presenter_pause(struct presenter *p, usec_t now)
{
    playout_pause(p->playout, now);
    if (p->config.sdp->reorders) // or what was decoded ahead would be shown ahead
        render_queue_hold(p->config.show, now);
    latency_control_paused(&p->live.pace, now);
    qoe_on_pause(p->config.qoe, true, now);
    presenter_run(p, now);
}

void presenter_resume(struct presenter *p, usec_t now)
{
    playout_resume(p->playout, now);
    render_queue_go_on(p->config.show, now);
    qoe_on_pause(p->config.qoe, false, now);
    if (!p->last_frames && p->config.sdp->duration < 0) {
        playout_flush(p->playout, 0, now);
        stall_classifier_forget(&p->stalls.watch);
        trace_freeze(p->config.events, qoe_on_rebuffer(p->config.qoe, now), now);
        trace_mode(p->config.events, "buffering", now);
    }
    presenter_run(p, now);
}

void presenter_seek(struct presenter *p, int64_t first, int64_t show, bool at_once, usec_t now)
{
    playout_seek(p->playout, first, show, at_once, now);
    p->feed.place++;
    if (p->config.sdp->reorders)
        render_queue_drop(p->config.show);
    p->last_frames = p->ending = false;
    frame_reporter_moved(&p->frames);
    stall_classifier_forget(&p->stalls.watch);
    trace_mode(p->config.events, "buffering", now);
    presenter_run(p, now);
}

void presenter_set_rtt(struct presenter *p, usec_t rtt)
{
    p->rtt = rtt;
    latency_control_set_rtt(&p->live.pace, rtt);
}

enum playout_mode presenter_mode(const struct presenter *p)
{
    return playout_mode(p->playout);
}

bool presenter_paused(const struct presenter *p)
{
    return playout_paused(p->playout);
}

double presenter_speed(const struct presenter *p)
{
    return live_control_speed(&p->live);
}

usec_t presenter_sender_share(const struct presenter *p)
{
    return live_control_sender(&p->live);
}

usec_t presenter_held(const struct presenter *p)
{
    return playout_held(p->playout);
}

struct presenter_wait presenter_waiting(const struct presenter *p, usec_t now)
{
    return (struct presenter_wait){.goal = playout_goal(p->playout),
                                   .silence = stall_classifier_silence(&p->stalls.watch, now),
                                   .cause = p->stalls.watch.cause};
}

uint64_t presenter_decoded(const struct presenter *p)
{
    return p->feed.decoded;
}

struct picture *presenter_last_shown(const struct presenter *p)
{
    return p->last_shown;
}

usec_t presenter_media_time(const struct presenter *p, int64_t number)
{
    return playout_pts(p->playout, number);
}

int64_t presenter_arrived(const struct presenter *p)
{
    return p->arrived;
}

int presenter_level_shown(const struct presenter *p)
{
    return p->last_level;
}

static void on_timer(void *ctx, usec_t now)
{
    presenter_run(ctx, now);
}

static struct playout *new_playout(const struct presenter *p)
{
    const struct play_options *o = p->config.options;
    const struct sdp *sdp = p->config.sdp;
    // Goddard has one threshold for both.
    usec_t resume = o->adapt == ADAPT_GODDARD ? o->buffer : usec_max(o->buffer, RESUME_THRESHOLD);
    struct playout_config config = {.ladder = &sdp->ladder,
                                    .tracker = p->tracker,
                                    .level = p->config.level > 0 ? p->config.level : 0,
                                    .start_threshold =
                                        usec_max(o->buffer, p->live.pace.config.target),
                                    .resume_threshold = resume,
                                    .decode_lead = sdp->h264 ? PLAYOUT_DECODE_LEAD : 0,
                                    .low_latency = o->low_latency && !sdp->reorders,
                                    .stamped = sdp_is_foreign(sdp),
                                    .reorders = sdp->reorders};
    return playout_new(&config);
}

static void open_tellers(struct presenter *p)
{
    const struct presenter_config *c = &p->config;
    const struct ladder *ladder = &c->sdp->ladder;
    struct frame_reporter_config frames = {.ladder = ladder,
                                           .clock = c->clock,
                                           .playout = p->playout,
                                           .ledger = p->ledger,
                                           .qoe = c->qoe,
                                           .events = c->events,
                                           .live = c->sdp->duration < 0};
    frame_reporter_init(&p->frames, &frames);
    double slowest =
        ladder->level_count > 0 ? level_frame_rate(ladder, 0) : fps_value(ladder->source_fps);
    stall_reporter_init(&p->stalls, p->ledger, c->qoe, c->events, (usec_t)(1e6 / slowest));
}

struct presenter *presenter_new(const struct presenter_config *config)
{
    struct presenter *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->config = *config;
    p->last_level = -1;
    p->arriving_level = config->level;
    p->arrived = -1;
    live_control_init(&p->live, config->options, config->sdp, config->qoe, config->events);
    p->tracker = reference_tracker_new(&config->sdp->ladder);
    p->ledger = frame_outcomes_new();
    if (!p->tracker || !p->ledger)
        goto failed;
    p->playout = new_playout(p);
    p->timer = timer_new(config->loop, on_timer, p);
    if (!p->playout || !p->timer)
        goto failed;
    open_tellers(p);
    p->feed = (struct decode_feed){.tracker = p->tracker, .session = config->session};
    enum decoder_order order = sdp_is_foreign(config->sdp) ? DECODER_AS_SHOWN
                               : config->sdp->reorders     ? DECODER_AS_COMES
                                                           : DECODER_PLAIN;
    if (config->sdp->h264 && !(p->feed.decoder = decode_thread_new(
                                   config->show, order, config->on_done, config->done_ctx)))
        goto failed;
    return p;

failed:
    log_error("cannot set up playing: out of memory or threads");
    presenter_free(p);
    return NULL;
}

void presenter_free(struct presenter *p)
{
    if (!p)
        return;
    decode_thread_free(p->feed.decoder);
    timer_free(p->timer);
    playout_free(p->playout);
    reference_tracker_free(p->tracker);
    frame_outcomes_free(p->ledger);
    picture_unref(p->last_shown);
    free(p);
}
