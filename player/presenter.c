// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/presenter.h"

#include <assert.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/seq.h"
#include "common/net/clock.h"
#include "common/net/timer.h"
#include "player/frame_ledger.h"
#include "player/level_schedule.h"
#include "player/live_control.h"
#include "player/stall_watch.h"

enum {
    NOTES = 1024
}; // frames whose arrival is remembered until their fate is known; a power of two
#define RESUME_THRESHOLD (500 * USEC_PER_MSEC)

struct note {
    int64_t number; // -1: empty
    int64_t bytes;
    usec_t arrived;
    int level;
};

struct presenter {
    struct presenter_config config;
    struct frame_tracker *tracker; // owned, as are these
    struct playout *playout;
    struct frame_ledger *ledger;
    struct decode_thread *decoder; // NULL: there are no pictures
    struct timer *timer;
    struct picture *last_shown;
    int last_level; // of the last frame shown; -1 none yet
    int arriving_level;
    int64_t arrived; // the newest frame; -1 none yet
    struct stall_watch watch;
    int64_t awaited; // when the stall began
    int64_t passed;  // everything below was handed out or passed over
    int in_flight;   // frames handed over and not reported yet
    uint64_t decoded;
    struct live_control live;
    usec_t rtt;
    bool last_frames; // presenter_end was called
    bool ending;      // PLAYOUT_ENDED_ACTION came; waiting for the last reports
    bool ended;       // on_ended was called
    bool stopped;
    struct note notes[NOTES];
};

// ---- What is told ----

static struct note *note_of(struct presenter *p, int64_t number)
{
    return &p->notes[(uint64_t)number % NOTES];
}

// Adds what is known of its arrival.
static void tell_fate(struct presenter *p, struct event_frame e, usec_t now)
{
    const struct note *n = note_of(p, e.number);
    bool noted = n->number == e.number;
    e.level = noted ? n->level : playout_level_at(p->playout, e.number);
    e.bytes = noted ? n->bytes : -1;
    e.arrived = noted ? n->arrived : QOE_UNKNOWN;
    events_frame(p->config.events, &e, now);
}

static void not_shown(struct presenter *p, int64_t number, enum frame_end end, usec_t now)
{
    struct not_shown why = frame_ledger_ended(p->ledger, number, end);
    if (end == FRAME_END_LOST)
        qoe_on_lost(p->config.qoe, number);
    else if (end == FRAME_END_UNDECODABLE || end == FRAME_END_FAILED)
        qoe_on_undecodable(p->config.qoe, number);
    else
        qoe_on_late(p->config.qoe, number);
    tell_fate(p, (struct event_frame){.number = number, .dropped = &why}, now);
}

// Playout is through with the frames below `next`; what it has not told of was left out.
static void tell_passed(struct presenter *p, const struct playout_action *a, usec_t now)
{
    if (a->kind == PLAYOUT_START && p->passed >= 0 && a->number > p->passed) {
        uint64_t frames = playout_expected(p->playout, p->passed, a->number);
        frame_ledger_skipped(p->ledger, frames);
        if (frames)
            events_skipped(p->config.events, p->passed, a->number, frames, now);
    }
    if (a->kind == PLAYOUT_START)
        p->passed = a->number;
    else if (p->passed >= 0 && (a->kind == PLAYOUT_DECODE_AND_SHOW || a->kind == PLAYOUT_LOST ||
                                a->kind == PLAYOUT_LATE || a->kind == PLAYOUT_SKIPPED))
        p->passed = a->number >= p->passed ? a->number + 1 : p->passed;
}

// To catch up with live media.
static void left_out(struct presenter *p, int64_t number, usec_t now)
{
    struct not_shown why = {
        .number = number, .cause = CAUSE_SKIPPED, .root = CAUSE_SKIPPED, .needs = -1};
    frame_ledger_skipped(p->ledger, 1);
    qoe_on_skipped(p->config.qoe, number);
    tell_fate(p, (struct event_frame){.number = number, .dropped = &why}, now);
}

static void stall_begin(struct presenter *p, usec_t at, usec_t now)
{
    p->awaited = playout_awaited(p->playout);
    struct event_stall e = {
        .cause = stall_watch_begin(&p->watch, frame_ledger_packets(p->ledger, p->awaited), now),
        .number = p->awaited,
        .silence = stall_watch_silence(&p->watch, now)};
    qoe_on_stall_begin(p->config.qoe, e.cause, at);
    events_rebuffer_start(p->config.events, &e, at);
    events_mode(p->config.events, "buffering", at);
    p->config.on_empty(p->config.ctx, now);
}

static enum stall_cause stall_end(struct presenter *p, usec_t at)
{
    enum packets_say say = frame_ledger_packets(p->ledger, p->awaited);
    enum stall_cause cause = stall_watch_end(&p->watch, say, at);
    qoe_on_stall_end(p->config.qoe, cause, at);
    return cause;
}

// Our wall clock at `when` as the sender's would show it; a latency is the difference to the
// sender's stamp.
static usec_t sender_wall(const struct presenter *p, usec_t when)
{
    return clock_wall() - clock_now() + when + p->config.clock->offset;
}

static usec_t latency_to(const struct presenter *p, usec_t when, usec_t stamp)
{
    return p->config.clock->known && stamp ? sender_wall(p, when) - stamp : QOE_UNKNOWN;
}

static struct live_arrival tell_arrival(struct presenter *p, const struct received_frame *f,
                                        usec_t now)
{
    const struct ladder *ladder = &p->config.sdp->ladder;
    bool believed = level_schedule_is_of(ladder, f->level, f->size_id, f->temporal_id);
    int level = believed ? f->level : playout_level_at(p->playout, f->number);
    if (f->number > p->arrived && level != p->arriving_level) {
        p->arriving_level = level;
        p->config.on_level(p->config.ctx, level, now);
    }
    p->arrived = f->number > p->arrived ? f->number : p->arrived;
    struct qoe_frame e = {.number = f->number,
                          .level = level,
                          .bytes = f->bytes,
                          .latency = latency_to(p, f->last_arrived, f->capture_wall),
                          .encoder = QOE_UNKNOWN,
                          .transport = QOE_UNKNOWN};
    usec_t arrived_wall = sender_wall(p, f->last_arrived);
    usec_t written = seq32_extend(arrived_wall, f->first_written_us);
    if (f->capture_wall) // both stamps are the sender's: no clock needs to be known
        e.encoder = written - f->capture_wall;
    if (p->config.clock->known)
        e.transport = arrived_wall - written;
    qoe_on_frame(p->config.qoe, &e, now);
    *note_of(p, f->number) = (struct note){.number = f->number,
                                           .bytes = (int64_t)f->bytes,
                                           .arrived = f->last_arrived,
                                           .level = level};
    return (struct live_arrival){.media = playout_pts(p->playout, f->number),
                                 .encoder = e.encoder,
                                 .transport = e.transport};
}

// ---- What is done ----

static void check_end(struct presenter *p, usec_t now)
{
    if (!p->ending || p->in_flight || p->ended)
        return;
    p->ended = true;
    p->config.on_ended(p->config.ctx, now);
}

static void shown(struct presenter *p, const struct play_frame *f, usec_t now)
{
    struct qoe_shown e = {.number = f->number,
                          .level = f->level,
                          .bytes = f->bytes,
                          .latency = latency_to(p, f->shown_at, f->capture_wall),
                          .buffer = f->handed_over - f->last_arrived,
                          .decoder = f->decode_time,
                          .display = f->shown_at - f->decoded_at};
    qoe_on_shown(p->config.qoe, &e, f->shown_at);
    live_pace_shown(&p->live.pace, f->decode_time, f->shown_at - f->show_at);
    frame_ledger_shown(p->ledger, f->number);
    p->config.on_picture(p->config.ctx, f, playout_pts(p->playout, f->number));
    struct event_frame told = {.number = f->number,
                               .captured =
                                   e.latency == QOE_UNKNOWN ? QOE_UNKNOWN : f->shown_at - e.latency,
                               .shown = f->shown_at};
    tell_fate(p, told, now);
    picture_unref(p->last_shown);
    p->last_shown = f->picture ? picture_ref(f->picture) : NULL;
    p->last_level = f->level;
}

// Without decoding there is no lead: the frame is due now.
static void show_without_picture(struct presenter *p, struct play_frame *f, usec_t now)
{
    f->shown_at = f->decoded_at = usec_max(f->show_at, now);
    p->decoded++;
    if (f->show)
        shown(p, f, now);
    play_frame_free(f);
}

static void hand_over(struct presenter *p, const struct playout_action *a, usec_t now)
{
    struct received_frame *coded = a->frame;
    bool show = a->kind == PLAYOUT_DECODE_AND_SHOW;
    if (show)
        frame_ledger_handed(p->ledger, coded->number);
    if (frame_tracker_decoding(p->tracker, coded) != FRAME_DECODABLE) {
        if (show)
            not_shown(p, coded->number, FRAME_END_UNDECODABLE, now);
        received_frame_free(coded);
        return;
    }
    struct play_frame *f = malloc(sizeof(*f));
    if (f)
        *f = (struct play_frame){.coded = coded,
                                 .session = p->config.session,
                                 .number = coded->number,
                                 .depends_on = coded->key ? -1 : coded->depends_on,
                                 .size_id = coded->size_id,
                                 .level = a->level,
                                 .bytes = coded->bytes,
                                 .show = show,
                                 .capture_wall = coded->capture_wall,
                                 .last_arrived = coded->last_arrived,
                                 .show_at = a->show_at,
                                 .handed_over = now};
    if (f && !p->decoder) {
        show_without_picture(p, f, now);
        return;
    }
    if (f && p->in_flight < PRESENTER_MAX_FRAMES && decode_thread_push(p->decoder, f)) {
        p->in_flight++;
        return;
    }
    // The decoder does not keep up: what rests on this frame cannot be decoded either.
    frame_tracker_failed(p->tracker, coded->size_id, coded->number);
    if (show)
        not_shown(p, coded->number, FRAME_END_SLOW, now);
    if (f)
        play_frame_free(f);
    else
        received_frame_free(coded);
}

static void act(struct presenter *p, const struct playout_action *a, usec_t now)
{
    tell_passed(p, a, now);
    switch (a->kind) {
    case PLAYOUT_START:
        qoe_on_start(p->config.qoe, a->at);
        live_pace_started(&p->live.pace, now);
        p->config.on_started(p->config.ctx, a->at);
        events_mode(p->config.events, "streaming", a->at);
        return;
    case PLAYOUT_DECODE_AND_SHOW:
    case PLAYOUT_DECODE_ONLY:
        hand_over(p, a, now);
        return;
    case PLAYOUT_LOST:
        not_shown(p, a->number, FRAME_END_LOST, now);
        return;
    case PLAYOUT_LATE:
        live_pace_late(&p->live.pace, now);
        not_shown(p, a->number, FRAME_END_LATE, now);
        return;
    case PLAYOUT_SKIPPED:
        left_out(p, a->number, now);
        return;
    case PLAYOUT_STALL_BEGIN:
        live_pace_stalled(&p->live.pace, p->playout, a->at, now);
        stall_begin(p, a->at, now);
        return;
    case PLAYOUT_STALL_END:
        live_pace_resumed(&p->live.pace, now);
        events_rebuffer_end(p->config.events, stall_end(p, a->at), a->stalled, a->at);
        events_mode(p->config.events, "streaming", a->at);
        return;
    case PLAYOUT_ENDED_ACTION:
        p->ending = true;
        return;
    case PLAYOUT_NONE:
        return;
    }
}

static void tell_clock(struct presenter *p)
{
    bool playing =
        !p->stopped && !playout_paused(p->playout) && playout_mode(p->playout) == PLAYOUT_PLAYING;
    p->config.on_clock(p->config.ctx, playing, playing ? playout_clock(p->playout) : NULL);
}

static void run_playout(struct presenter *p, usec_t now)
{
    if (p->stopped)
        return;
    struct playout_action a;
    while (playout_poll(p->playout, &a, now))
        act(p, &a, now);
    qoe_on_frames(p->config.qoe, frame_ledger_totals(p->ledger));
    tell_clock(p);
    usec_t wake = playout_next_timeout(p->playout);
    if (!p->ending && !playout_paused(p->playout)) {
        if (frame_tracker_pli(p->tracker, p->rtt, now))
            p->config.ask_key(p->config.ctx, now);
        wake = usec_min(wake, frame_tracker_next_timeout(p->tracker, p->rtt));
    }
    timer_set(p->timer, wake);
    check_end(p, now);
}

static void on_timer(void *ctx, usec_t now)
{
    run_playout(ctx, now);
}

void presenter_packet(struct presenter *p, const struct rtp_packet *packet, int64_t ext_seq,
                      usec_t arrived)
{
    frame_ledger_packet(p->ledger, &packet->adu, ext_seq);
    stall_watch_packet(&p->watch, packet, ext_seq, arrived);
}

void presenter_push(struct presenter *p, struct received_frame *f, usec_t now)
{
    int64_t number = f->number;
    struct live_arrival arrival = {0};
    // A number that no frame can have is refused below, before anything is made of it.
    if (number >= 0 && number < PLAYOUT_MAX_NUMBER) {
        arrival = tell_arrival(p, f, now);
        frame_tracker_arrived(p->tracker, f);
        frame_ledger_arrived(p->ledger, f);
    }
    int err = playout_push(p->playout, f, now);
    if (!err)
        live_pace_arrived(&p->live.pace, &arrival, now);
    if (err == ERR_FULL)
        frame_ledger_refused(p->ledger, number);
    else if (err)
        log_debug("frame %lld refused: %s", (long long)number, err_text(err));
    run_playout(p, now);
    if (!p->last_frames && !p->stopped && live_control_steer(&p->live, p->playout, now))
        p->config.ask_key(p->config.ctx, now);
    run_playout(p, now);
}

// A newer picture was due as well when the display came to it.
static enum frame_end why_unseen(const struct presenter *p, const struct play_frame *f)
{
    usec_t time = usec_max(f->show_at - f->handed_over, PLAYOUT_DECODE_LEAD);
    if (f->decoded_at - f->handed_over > time)
        return FRAME_END_SLOW;
    bool was_due = !p->config.options->low_latency && f->show_at == f->handed_over;
    return was_due ? FRAME_END_LATE : FRAME_END_UNSEEN;
}

void presenter_done(struct presenter *p, struct play_frame *f, usec_t now)
{
    assert(p->in_flight > 0);
    p->in_flight--;
    p->decoded += f->fate != FATE_FAILED && f->fate != FATE_DISCARDED;
    switch (f->fate) {
    case FATE_SHOWN:
        shown(p, f, now);
        break;
    case FATE_SKIPPED:
        not_shown(p, f->number, why_unseen(p, f), now);
        break;
    case FATE_FAILED:
        log_debug("frame %lld cannot be decoded", (long long)f->number);
        frame_tracker_failed(p->tracker, f->size_id, f->number);
        if (f->show)
            not_shown(p, f->number, FRAME_END_FAILED, now);
        break;
    case FATE_DECODED_ONLY:
    case FATE_DISCARDED:
        break;
    }
    play_frame_free(f);
    qoe_on_frames(p->config.qoe, frame_ledger_totals(p->ledger));
    run_playout(p, now);
}

void presenter_end(struct presenter *p, usec_t now)
{
    p->last_frames = true;
    playout_end(p->playout, now);
    run_playout(p, now);
}

void presenter_nacked(struct presenter *p, usec_t now)
{
    frame_tracker_nacked(p->tracker, now);
}

void presenter_stop(struct presenter *p, usec_t now)
{
    if (p->stopped)
        return;
    p->stopped = true;
    timer_set(p->timer, USEC_NEVER);
    playout_flush(p->playout, 0, now);
    struct playout_action a;
    while (playout_poll(p->playout, &a, now)) {
        if (a.kind == PLAYOUT_LOST || a.kind == PLAYOUT_LATE)
            act(p, &a, now);
        else if (a.kind == PLAYOUT_STALL_END)
            (void)stall_end(p, a.at);
    }
    qoe_on_frames(p->config.qoe, frame_ledger_totals(p->ledger));
    tell_clock(p);
}

void presenter_pause(struct presenter *p, usec_t now)
{
    playout_pause(p->playout, now);
    live_pace_paused(&p->live.pace, now);
    qoe_on_pause(p->config.qoe, true, now);
    run_playout(p, now);
}

void presenter_resume(struct presenter *p, usec_t now)
{
    playout_resume(p->playout, now);
    qoe_on_pause(p->config.qoe, false, now);
    if (!p->last_frames && p->config.sdp->duration < 0) {
        playout_flush(p->playout, 0, now);
        stall_watch_forget(&p->watch);
        events_mode(p->config.events, "buffering", now);
    }
    run_playout(p, now);
}

void presenter_seek(struct presenter *p, int64_t first, int64_t show, bool at_once, usec_t now)
{
    playout_seek(p->playout, first, show, at_once, now);
    p->last_frames = p->ending = false;
    p->passed = -1;
    stall_watch_forget(&p->watch);
    events_mode(p->config.events, "buffering", now);
    run_playout(p, now);
}

void presenter_set_rtt(struct presenter *p, usec_t rtt)
{
    p->rtt = rtt;
    live_pace_set_rtt(&p->live.pace, rtt);
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
                                   .silence = stall_watch_silence(&p->watch, now),
                                   .cause = p->watch.cause};
}

uint64_t presenter_decoded(const struct presenter *p)
{
    return p->decoded;
}

struct picture *presenter_last_shown(const struct presenter *p)
{
    return p->last_shown;
}

int64_t presenter_arrived(const struct presenter *p)
{
    return p->arrived;
}

int presenter_level_shown(const struct presenter *p)
{
    return p->last_level;
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
    for (int i = 0; i < NOTES; i++)
        p->notes[i].number = -1;
    p->passed = p->awaited = -1;
    const struct play_options *o = config->options;
    bool pictures = config->sdp->h264;
    live_control_init(&p->live, o, config->sdp, config->qoe, config->events);
    const struct ladder *ladder = &config->sdp->ladder;
    double slowest =
        ladder->level_count > 0 ? level_frame_rate(ladder, 0) : fps_value(ladder->source_fps);
    stall_watch_init(&p->watch, (usec_t)(1e6 / slowest));
    p->tracker = frame_tracker_new(ladder);
    p->ledger = frame_ledger_new();
    if (!p->tracker || !p->ledger)
        goto failed;
    // Goddard has one threshold for both.
    usec_t resume = o->adapt == ADAPT_GODDARD ? o->buffer : usec_max(o->buffer, RESUME_THRESHOLD);
    struct playout_config playout = {.ladder = &config->sdp->ladder,
                                     .tracker = p->tracker,
                                     .level = config->level > 0 ? config->level : 0,
                                     .start_threshold =
                                         usec_max(o->buffer, p->live.pace.config.target),
                                     .resume_threshold = resume,
                                     .decode_lead = pictures ? PLAYOUT_DECODE_LEAD : 0,
                                     .low_latency = o->low_latency,
                                     .stamped = sdp_is_foreign(config->sdp)};
    p->playout = playout_new(&playout);
    p->timer = timer_new(config->loop, on_timer, p);
    if (!p->playout || !p->timer)
        goto failed;
    if (pictures && !(p->decoder = decode_thread_new(config->show, sdp_is_foreign(config->sdp),
                                                     config->on_done, config->done_ctx)))
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
    decode_thread_free(p->decoder);
    timer_free(p->timer);
    playout_free(p->playout);
    frame_tracker_free(p->tracker);
    frame_ledger_free(p->ledger);
    picture_unref(p->last_shown);
    free(p);
}
