// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "player/video/presenter_state.h"

// Our wall clock minus the loop's.
static usec_t wall_ahead(void)
{
    return clock_wall() - clock_now();
}

static void check_end(struct presenter *p, usec_t now)
{
    if (!p->ending || p->feed.in_flight || p->ended)
        return;
    p->ended = true;
    p->config.on_ended(p->config.ctx, now);
}

static void shown(struct presenter *p, const struct play_frame *f, usec_t now)
{
    latency_control_shown(&p->live.pace, f->decode_time, f->shown_at - f->show_at);
    frame_reporter_shown(&p->frames, f, wall_ahead(), now);
    p->config.on_picture(p->config.ctx, f, playout_pts(p->playout, f->number));
    picture_unref(p->last_shown);
    p->last_shown = f->picture ? picture_ref(f->picture) : NULL;
    p->last_level = f->level;
}

// The decoder and the display are through with `f`, which is taken.
static void back(struct presenter *p, struct play_frame *f, usec_t now)
{
    decode_feed_back(&p->feed, f);
    switch (f->fate) {
    case FATE_SHOWN:
        shown(p, f, now);
        break;
    case FATE_SKIPPED:
        frame_reporter_not_shown(&p->frames, f->number,
                                 decode_feed_unseen(f, p->config.options->low_latency), now);
        break;
    case FATE_FAILED:
        if (f->show)
            frame_reporter_not_shown(&p->frames, f->number, FRAME_END_FAILED, now);
        break;
    case FATE_DECODED_ONLY:
    case FATE_DISCARDED:
        break;
    }
    play_frame_free(f);
}

static void hand_over(struct presenter *p, const struct playout_action *a, usec_t now)
{
    bool show = a->kind == PLAYOUT_DECODE_AND_SHOW;
    if (show)
        frame_outcomes_handed(p->ledger, a->number);
    struct play_frame *done = NULL;
    switch (decode_feed_push(&p->feed, a, &done, now)) {
    case FEED_TAKEN:
        break;
    case FEED_DONE:
        back(p, done, now);
        break;
    case FEED_UNDECODABLE:
        if (show)
            frame_reporter_not_shown(&p->frames, a->number, FRAME_END_UNDECODABLE, now);
        break;
    case FEED_SLOW:
        if (show)
            frame_reporter_not_shown(&p->frames, a->number, FRAME_END_SLOW, now);
        break;
    }
}

void presenter_act(struct presenter *p, const struct playout_action *a, usec_t now)
{
    frame_reporter_action(&p->frames, a, now);
    switch (a->kind) {
    case PLAYOUT_START:
        qoe_on_start(p->config.qoe, a->at);
        latency_control_started(&p->live.pace, now);
        p->config.on_started(p->config.ctx, a->at);
        trace_mode(p->config.events, "streaming", a->at);
        return;
    case PLAYOUT_DECODE_AND_SHOW:
    case PLAYOUT_DECODE_ONLY:
        hand_over(p, a, now);
        if (p->config.sdp->reorders && playout_paused(p->playout)) // it was the one to show
            render_queue_hold(p->config.show, a->show_at);
        return;
    case PLAYOUT_LOST:
        frame_reporter_not_shown(&p->frames, a->number, FRAME_END_LOST, now);
        return;
    case PLAYOUT_LATE:
        latency_control_late(&p->live.pace, now);
        frame_reporter_not_shown(&p->frames, a->number, FRAME_END_LATE, now);
        return;
    case PLAYOUT_SKIPPED:
        frame_reporter_skipped(&p->frames, a->number, now);
        return;
    case PLAYOUT_STALL_BEGIN:
        latency_control_stalled(&p->live.pace, p->playout, a->at, now);
        stall_reporter_begin(&p->stalls, playout_awaited(p->playout), a->at, now);
        p->config.on_empty(p->config.ctx, now);
        return;
    case PLAYOUT_STALL_END:
        latency_control_resumed(&p->live.pace, now);
        stall_reporter_end(&p->stalls, a->stalled, a->at);
        return;
    case PLAYOUT_ENDED_ACTION:
        p->ending = true;
        return;
    case PLAYOUT_NONE:
        return;
    }
}

void presenter_tell_clock(struct presenter *p)
{
    bool playing =
        !p->stopped && !playout_paused(p->playout) && playout_mode(p->playout) == PLAYOUT_PLAYING;
    p->config.on_clock(p->config.ctx, playing, playing ? playout_clock(p->playout) : NULL);
}

void presenter_run(struct presenter *p, usec_t now)
{
    if (p->stopped)
        return;
    struct playout_action a;
    while (playout_poll(p->playout, &a, now))
        presenter_act(p, &a, now);
    qoe_on_frames(p->config.qoe, frame_outcomes_totals(p->ledger));
    presenter_tell_clock(p);
    usec_t wake = playout_next_timeout(p->playout);
    if (!p->ending && !playout_paused(p->playout)) {
        if (reference_tracker_pli(p->tracker, p->rtt, now))
            p->config.ask_key(p->config.ctx, now);
        wake = usec_min(wake, reference_tracker_next_timeout(p->tracker, p->rtt));
    }
    timer_set(p->timer, wake);
    check_end(p, now);
}

void presenter_packet(struct presenter *p, const struct rtp_packet *packet, int64_t ext_seq,
                      usec_t arrived)
{
    frame_outcomes_packet(p->ledger, &packet->adu, ext_seq);
    stall_classifier_packet(&p->stalls.watch, packet, ext_seq, arrived);
}

static void tell_level(struct presenter *p, const struct received_frame *f, usec_t now)
{
    if (f->number <= p->arrived)
        return;
    p->arrived = f->number;
    int level = frame_reporter_level(&p->frames, f);
    if (level == p->arriving_level)
        return;
    p->arriving_level = level;
    p->config.on_level(p->config.ctx, level, now);
}

void presenter_push(struct presenter *p, struct received_frame *f, usec_t now)
{
    int64_t number = f->number;
    struct live_arrival arrival = {0};
    // A number that no frame can have is refused below, before anything is made of it.
    if (number >= 0 && number < PLAYOUT_MAX_NUMBER) {
        tell_level(p, f, now);
        arrival = frame_reporter_arrived(&p->frames, f, wall_ahead(), now);
        reference_tracker_arrived(p->tracker, f);
        frame_outcomes_arrived(p->ledger, f);
    }
    int err = playout_push(p->playout, f, now);
    if (!err)
        latency_control_arrived(&p->live.pace, &arrival, now);
    if (err == ERR_FULL)
        frame_outcomes_refused(p->ledger, number);
    else if (err)
        log_debug("frame %lld refused: %s", (long long)number, err_text(err));
    presenter_run(p, now);
    if (!p->last_frames && !p->stopped && live_control_steer(&p->live, p->playout, now))
        p->config.ask_key(p->config.ctx, now);
    presenter_run(p, now);
}

void presenter_done(struct presenter *p, struct play_frame *f, usec_t now)
{
    back(p, f, now);
    qoe_on_frames(p->config.qoe, frame_outcomes_totals(p->ledger));
    presenter_run(p, now);
}
