// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/video/video_pipeline.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/lateness.h"
#include "common/base/log.h"
#include "common/base/seq.h"
#include "stream/latency/latency_control.h"
#include "stream/outcome/stall_classifier.h"
#include "stream/playout/film_clock.h"
#include "stream/playout/immediate_clock.h"
#include "stream/playout/level_schedule.h"
#include "stream/playout/live_clock.h"
#include "stream/qoe/freeze_watch.h"
#include "stream/video/latency_reporter.h"
#include "stream/video/live_edges.h"

// While live media plays, or a stall lasts, at least so often it is noticed whether this machine
// comes late to its work: the next frame may be due much later.
#define OWN_WATCH (50 * USEC_PER_MSEC)

struct video_pipeline {
    struct video_pipeline_config config;
    struct frame_history *history; // owned, as are these
    struct frame_outcomes *outcomes;
    struct reference_tracker *tracker;
    struct playout *playout;
    struct stall_classifier stalls;
    struct freeze_watch freezes;
    struct latency_control latency;
    usec_t rtt;

    int64_t arrived;     // the newest frame; -1: none yet
    int arriving_level;  // of it
    bool newest_is_slow; // its sender's machine does not keep up
    bool sender_is_slow; // so of it or of the frame before it
    int64_t passed;      // everything below was handed out or passed over; -1: not known
    usec_t polled;       // the last time at which all was done
    struct lateness own; // its due time: when this machine has to work, if nothing arrives
    bool is_stalled;
    int64_t awaited;    // when the stall began; -1: none did
    bool lacks_packets; // that are requested, and waited for
    bool is_repaired;   // such a packet was what the stall waited for

    struct live_edges edges; // of live media
    struct latency_reporter reporter;
    bool pushed;      // a frame, since the latency was steered last
    bool last_frames; // video_pipeline_end was called
    bool ending;      // and everything was handed out
    bool stopped;
    bool resumed;       // live media continues after a pause, and has not started yet
    double pace;        // the scale of the play without its sign
    double speed;       // of stored media, chosen by the viewer
    int64_t last_shown; // at another scale or speed than 1: the last frame shown; -1: none
};

static void emit(const struct video_pipeline *v, struct viewing_event e)
{
    viewing_emit(&v->config.sink, &e);
}

static void emit_totals(const struct video_pipeline *v, usec_t now)
{
    emit(v, (struct viewing_event){
                .kind = VIEWING_TOTALS, .at = now, .totals = frame_outcomes_totals(v->outcomes)});
}

// ---- What arrives

void video_pipeline_packet(struct video_pipeline *v, const struct rtp_packet *p, int64_t ext_seq,
                           usec_t arrived)
{
    frame_outcomes_packet(v->outcomes, &p->adu, ext_seq);
    // 32 bits of microseconds: where they wrap, a queue is seen for some seconds that is none.
    usec_t way = p->has_adu ? (int32_t)((uint32_t)arrived - p->adu.written_us) : QOE_UNKNOWN;
    latency_control_packet(&v->latency, ext_seq, way, arrived);
    stall_classifier_packet(&v->stalls, p, ext_seq, arrived);
}

// The level that a frame says it is of, if that can be; else the one that playout is at there.
static int level_of(const struct video_pipeline *v, const struct received_frame *f)
{
    bool believed = level_schedule_is_of(v->config.ladder, f->level, f->size_id, f->temporal_id);
    return believed ? f->level : playout_level_at(v->playout, f->number);
}

static void note_level(struct video_pipeline *v, const struct received_frame *f, int level,
                       usec_t now)
{
    if (f->number <= v->arrived)
        return;
    v->arrived = f->number;
    v->sender_is_slow = f->is_slow || v->newest_is_slow;
    v->newest_is_slow = f->is_slow;
    if (level == v->arriving_level)
        return;
    v->arriving_level = level;
    emit(v, (struct viewing_event){.kind = VIEWING_LEVEL, .at = now, .level = level});
}

// Our wall clock at `when` as the sender's would show it; a latency is the difference to the
// sender's stamp.
static usec_t sender_wall(const struct video_pipeline *v, usec_t wall_ahead, usec_t when)
{
    return wall_ahead + when + v->config.clock->offset;
}

static usec_t latency_to(const struct video_pipeline *v, usec_t wall_ahead, usec_t when,
                         usec_t stamp)
{
    bool known = v->config.clock->known && stamp;
    return known ? sender_wall(v, wall_ahead, when) - stamp : QOE_UNKNOWN;
}

static struct live_arrival note_arrival(struct video_pipeline *v, const struct received_frame *f,
                                        int level, usec_t wall_ahead, usec_t now)
{
    bool in_turn = f->number >= v->arrived;
    struct qoe_frame e = {.number = f->number,
                          .level = level,
                          .bytes = f->bytes,
                          .latency = latency_to(v, wall_ahead, f->last_arrived, f->capture_wall),
                          .encoder = QOE_UNKNOWN,
                          .transport = QOE_UNKNOWN};
    usec_t arrived_wall = sender_wall(v, wall_ahead, f->last_arrived);
    usec_t written = seq32_extend(arrived_wall, f->first_written_us);
    if (f->capture_wall) // both stamps are the sender's: no clock needs to be known
        e.encoder = usec_max(0, written - f->capture_wall); // B frames: it may be ahead of its time
    if (v->config.clock->known)
        e.transport = arrived_wall - written;
    emit(v, (struct viewing_event){.kind = VIEWING_FRAME, .at = now, .frame = e});
    struct frame_record *record = frame_history_make(v->history, f->number);
    record->arrival = (struct frame_arrival){.known = true,
                                             .level = e.level,
                                             .bytes = f->bytes,
                                             .at = f->last_arrived,
                                             .encoder = e.encoder,
                                             .transport = e.transport};
    frame_outcomes_arrived(record, f);
    return (struct live_arrival){
        .in_turn = in_turn, .encoder = e.encoder, .transport = e.transport};
}

// Of a picture with several sizes, the frames above size 0 are not frames of their own.
static int push_layer(struct video_pipeline *v, struct received_frame *f, usec_t now)
{
    int64_t number = f->number;
    int size_id = f->size_id;
    // The buffer is to have room for the jitter of all layers.
    struct live_arrival arrival = {
        .in_turn = number >= v->arrived, .encoder = QOE_UNKNOWN, .transport = QOE_UNKNOWN};
    int err = playout_push(v->playout, f, now);
    if (!err) {
        arrival.media = playout_pts(v->playout, number);
        latency_control_arrived(&v->latency, &arrival, now);
    } else {
        log_debug("size %d of frame %lld refused: %s", size_id, (long long)number, err_text(err));
    }
    v->pushed = true;
    return err;
}

static void note_layer(const struct video_pipeline *v, const struct received_frame *f, usec_t now)
{
    struct viewing_layer layer = {.number = f->number, .size_id = f->size_id, .bytes = f->bytes};
    if (v->config.ladder->cumulative)
        emit(v, (struct viewing_event){.kind = VIEWING_LAYER, .at = now, .layer = layer});
}

int video_pipeline_push(struct video_pipeline *v, struct received_frame *f, usec_t wall_ahead,
                        usec_t now)
{
    int64_t number = f->number;
    struct live_arrival arrival = {0};
    note_layer(v, f, now);
    if (f->on_lower)
        return push_layer(v, f, now);
    // A number that no frame can have is refused below, before anything is made of it.
    if (number >= 0 && number < PLAYOUT_MAX_NUMBER) {
        int level = level_of(v, f);
        note_level(v, f, level, now);
        arrival = note_arrival(v, f, level, wall_ahead, now);
    }
    int err = playout_push(v->playout, f, now);
    if (!err) {
        arrival.media = playout_pts(v->playout, number);
        latency_control_arrived(&v->latency, &arrival, now);
    } else if (err == ERR_FULL) {
        frame_outcomes_refused(v->outcomes, number);
    } else {
        log_debug("frame %lld refused: %s", (long long)number, err_text(err));
    }
    v->pushed = true;
    return err;
}

void video_pipeline_nacked(struct video_pipeline *v, usec_t now)
{
    reference_tracker_nacked(v->tracker, now);
}

void video_pipeline_set_missing(struct video_pipeline *v, int64_t seq)
{
    v->lacks_packets = v->config.waits && seq != INT64_MAX;
    playout_set_missing(v->playout, seq);
}

void video_pipeline_end(struct video_pipeline *v, usec_t now)
{
    v->last_frames = true;
    playout_end(v->playout, now);
}

void video_pipeline_set_thresholds(struct video_pipeline *v, usec_t start, usec_t resume)
{
    playout_set_thresholds(v->playout, start, resume);
}

void video_pipeline_set_rtt(struct video_pipeline *v, usec_t rtt)
{
    v->rtt = rtt;
    latency_control_set_rtt(&v->latency, rtt);
}

void video_pipeline_set_repair(struct video_pipeline *v, usec_t round)
{
    latency_control_set_repair(&v->latency, round);
}

void video_pipeline_set_stream(struct video_pipeline *v, bool is_stream)
{
    latency_control_set_stream(&v->latency, is_stream);
}

void video_pipeline_set_audio(struct video_pipeline *v, usec_t line)
{
    latency_control_set_audio(&v->latency, line);
}

// ---- What becomes of frames

static struct frame_arrival arrival_of(const struct video_pipeline *v, int64_t number)
{
    const struct frame_record *r = frame_history_find(v->history, number);
    return r ? r->arrival : (struct frame_arrival){0};
}

static void emit_lost(const struct video_pipeline *v, enum viewing_kind kind,
                      const struct not_shown *why, enum frame_end end, usec_t now)
{
    struct viewing_lost lost = {.why = *why,
                                .end = end,
                                .level = playout_level_at(v->playout, why->number),
                                .arrival = arrival_of(v, why->number)};
    emit(v, (struct viewing_event){.kind = kind, .at = now, .lost = lost});
}

static void emit_layers(const struct video_pipeline *v, int64_t number, int valid, size_t bytes,
                        usec_t now)
{
    struct qoe_picture_layers layers = {.number = number, .valid = valid, .bytes = bytes};
    if (v->config.ladder->cumulative)
        emit(v, (struct viewing_event){.kind = VIEWING_LAYERS, .at = now, .layers = layers});
}

void video_pipeline_not_shown(struct video_pipeline *v, int64_t number, enum frame_end end,
                              usec_t now)
{
    bool was_late = playout_was_late(v->playout, &v->own, number);
    struct not_shown why = frame_outcomes_ended(v->outcomes, number, end, was_late);
    emit_lost(v, VIEWING_NOT_SHOWN, &why, end, now);
    if (v->stopped) // else poll follows
        emit_totals(v, now);
}

void video_pipeline_undecoded(struct video_pipeline *v, int size_id, int64_t number, bool show,
                              enum frame_end end, usec_t now)
{
    reference_tracker_failed(v->tracker, size_id, number);
    if (show)
        video_pipeline_not_shown(v, number, end, now);
}

// At another scale than 1 pictures are as far apart as the sender chose them.
static void note_scaled(struct video_pipeline *v, struct qoe_shown *e)
{
    double pace = v->pace == 1 ? v->speed : v->pace;
    if (pace == 1)
        return;
    usec_t media = playout_pts(v->playout, e->number) - playout_pts(v->playout, v->last_shown);
    e->interval = v->last_shown < 0 ? 0 : (usec_t)((double)media / pace);
    e->gap_known = false;
    v->last_shown = e->number;
}

void video_pipeline_shown(struct video_pipeline *v, const struct video_shown *s, usec_t wall_ahead,
                          usec_t now)
{
    latency_control_shown(&v->latency, s->decode_time, s->shown_at - s->show_at);
    struct frame_arrival arrival = arrival_of(v, s->number);
    struct qoe_shown e = {.number = s->number,
                          .level = s->level,
                          .bytes = s->bytes,
                          .latency = latency_to(v, wall_ahead, s->shown_at, s->capture_wall),
                          .buffer = s->handed_over - s->last_arrived,
                          .decoder = s->decode_time,
                          .display = s->shown_at - s->decoded_at,
                          .early = playout_early(v->playout, s->number, s->shown_at),
                          .encoder = arrival.known ? arrival.encoder : QOE_UNKNOWN,
                          .transport = arrival.known ? arrival.transport : QOE_UNKNOWN};
    freeze_watch_shown(&v->freezes, &e);
    note_scaled(v, &e);
    if (v->config.live) {
        struct qoe_media_edge live = {.captured = s->capture_wall ? s->capture_wall : QOE_UNKNOWN,
                                      .shown = s->shown_at,
                                      .level = s->level};
        live_edges_shown(&v->edges, v->playout, &v->config.sink, &live, s->number,
                         s->shown_at - s->last_arrived);
    }
    frame_outcomes_shown(v->outcomes, s->number);
    struct viewing_shown shown = {.figures = e, .at = s->shown_at, .arrival = arrival};
    emit(v, (struct viewing_event){.kind = VIEWING_SHOWN, .at = now, .shown = shown});
    if (v->stopped)
        emit_totals(v, now);
}

// ---- Playing

static void stall_begin(struct video_pipeline *v, usec_t at, usec_t now)
{
    v->awaited = playout_awaited(v->playout);
    enum packets_say say = frame_outcomes_packets(v->outcomes, v->awaited);
    // The frame may be whole, and depend on one that is not.
    v->is_repaired = v->lacks_packets && say != PACKETS_AHEAD;
    if (v->is_repaired)
        say = PACKETS_GAP;
    v->is_stalled = true;
    struct viewing_stall s = {.cause = stall_classifier_begin(&v->stalls, say, at, now),
                              .number = v->awaited,
                              .found = now,
                              .silence = stall_classifier_silence(&v->stalls, now)};
    emit(v, (struct viewing_event){.kind = VIEWING_STALL_BEGIN, .at = at, .stall = s});
}

static void stall_end(struct video_pipeline *v, enum viewing_kind kind, usec_t stalled, usec_t at)
{
    v->is_stalled = false;
    enum packets_say say =
        v->is_repaired ? PACKETS_GAP : frame_outcomes_packets(v->outcomes, v->awaited);
    struct viewing_stall s = {.cause = stall_classifier_end(&v->stalls, say, at),
                              .number = v->awaited,
                              .silence = -1,
                              .stalled = stalled};
    emit(v, (struct viewing_event){.kind = kind, .at = at, .stall = s});
}

// The frames that an action goes past without a word were left out, but after a seek. After a pause
// of live media that is told even if they are none: a source without other viewers stood still.
static void note_passed(struct video_pipeline *v, const struct playout_action *a, usec_t now)
{
    switch (a->kind) {
    case PLAYOUT_START:
        if (v->passed >= 0 && a->number >= v->passed) {
            uint64_t frames = playout_expected(v->playout, v->passed, a->number);
            struct viewing_range range = {v->passed, a->number, frames};
            frame_outcomes_skipped(v->outcomes, frames);
            if (frames || v->resumed)
                emit(v,
                     (struct viewing_event){.kind = VIEWING_LEFT_OUT, .at = now, .range = range});
        }
        v->resumed = false;
        if (v->passed < 0)
            live_edges_begin(&v->edges, a->number);
        v->passed = a->number;
        return;
    case PLAYOUT_DECODE_ONLY:
        if (!a->skipped)
            return;
        // fall through
    case PLAYOUT_DECODE_AND_SHOW:
    case PLAYOUT_LOST:
    case PLAYOUT_LATE:
    case PLAYOUT_SKIPPED:
        if (v->passed >= 0 && a->number >= v->passed)
            v->passed = a->number + 1;
        return;
    default:
        return;
    }
}

static void left_out(struct video_pipeline *v, int64_t number, usec_t now)
{
    struct not_shown why = {
        .number = number, .cause = CAUSE_SKIPPED, .root = CAUSE_SKIPPED, .needs = -1};
    frame_outcomes_skipped(v->outcomes, 1);
    emit_lost(v, VIEWING_SKIPPED, &why, FRAME_END_LOST, now);
}

// Removes the layers of a picture that cannot be decoded. Returns how many are left.
static int keep_valid(struct video_pipeline *v, struct received_frame *f)
{
    int valid = 1;
    for (; f->upper; f = f->upper, valid++) {
        if (reference_tracker_decoding(v->tracker, f->upper) == FRAME_DECODABLE)
            continue;
        received_frame_free(f->upper);
        f->upper = NULL;
        return valid;
    }
    return valid;
}

// Returns true if the frame is *out now; otherwise it cannot be decoded, and was freed.
static bool hand_out(struct video_pipeline *v, const struct playout_action *a,
                     struct video_output *out, usec_t now)
{
    bool show = a->kind == PLAYOUT_DECODE_AND_SHOW;
    if (show)
        frame_outcomes_handed(v->outcomes, a->number);
    if (a->skipped)
        left_out(v, a->number, now);
    if (a->sound) {
        int valid = keep_valid(v, a->frame);
        if (show && v->config.ladder->cumulative)
            emit_layers(v, a->number, valid, received_frame_bytes(a->frame), now);
        *out = (struct video_output){.kind = VIDEO_DECODE,
                                     .frame = a->frame,
                                     .level = a->level,
                                     .show = show,
                                     .show_at = a->show_at};
        return true;
    }
    received_frame_free(a->frame);
    if (show)
        emit_layers(v, a->number, 0, 0, now);
    if (show)
        video_pipeline_not_shown(v, a->number, FRAME_END_UNDECODABLE, now);
    return false;
}

// Returns true if *out is to be done.
static bool act(struct video_pipeline *v, const struct playout_action *a, struct video_output *out,
                usec_t now)
{
    note_passed(v, a, now);
    switch (a->kind) {
    case PLAYOUT_START:
        latency_control_started(&v->latency, now);
        emit(v, (struct viewing_event){.kind = VIEWING_START, .at = a->at});
        return false;
    case PLAYOUT_DECODE_AND_SHOW:
    case PLAYOUT_DECODE_ONLY:
        return hand_out(v, a, out, now);
    case PLAYOUT_LOST:
        emit_layers(v, a->number, 0, 0, now);
        video_pipeline_not_shown(v, a->number, FRAME_END_LOST, now);
        return false;
    case PLAYOUT_LATE:
        emit_layers(v, a->number, 0, 0, now);
        video_pipeline_not_shown(v, a->number, FRAME_END_LATE, now);
        return false;
    case PLAYOUT_SKIPPED:
        left_out(v, a->number, now);
        return false;
    case PLAYOUT_STALL_BEGIN:
        stall_begin(v, a->at, now);
        return false;
    case PLAYOUT_STALL_END:
        stall_end(v, VIEWING_STALL_END, a->stalled, a->at);
        return false;
    case PLAYOUT_ENDED_ACTION:
        v->ending = true;
        return false;
    case PLAYOUT_NONE:
        return false;
    }
    return false;
}

// ---- The latency of live media

// Returns true if a key frame is wanted, to skip to.
static bool steer(struct video_pipeline *v, usec_t now)
{
    struct live_steer s;
    if (!v->config.steers || v->last_frames || v->stopped ||
        !latency_control_steer(&v->latency, v->playout, &s, now))
        return false;
    latency_reporter_steered(&v->reporter, &v->config.sink, &v->latency, v->config.sender_share, &s,
                             now);
    return s.wants_key;
}

// ---- Output

// What is waited for repairs the frames that seem broken.
static bool asks_keys(const struct video_pipeline *v)
{
    return v->config.asks_keys && !v->lacks_packets && !v->ending && !playout_paused(v->playout);
}

static bool ask_key(struct video_output *out)
{
    *out = (struct video_output){.kind = VIDEO_ASK_KEY, .level = -1};
    return true;
}

// Returns false. Nothing is left to do now.
static bool rest(struct video_pipeline *v, usec_t now)
{
    v->polled = now;
    lateness_set_due(&v->own, usec_max(now, video_pipeline_next_timeout(v)));
    return false;
}

bool video_pipeline_poll(struct video_pipeline *v, struct video_output *out, usec_t now)
{
    if (lateness_works(&v->own, now))
        stall_classifier_late(&v->stalls, v->own.due, now);
    lateness_set_due(&v->own, USEC_NEVER);
    for (;;) {
        if (v->stopped)
            return false;
        struct playout_action a;
        while (playout_poll(v->playout, &a, now))
            if (act(v, &a, out, now))
                return true;
        emit_totals(v, now);
        if (asks_keys(v) && reference_tracker_pli(v->tracker, v->rtt, now))
            return ask_key(out);
        // A frame was pushed: the buffer may be steered, after which playout is asked again.
        if (!v->pushed)
            return rest(v, now);
        v->pushed = false;
        if (steer(v, now))
            return ask_key(out);
    }
}

usec_t video_pipeline_next_timeout(const struct video_pipeline *v)
{
    if (v->stopped)
        return USEC_NEVER;
    usec_t wake = playout_next_timeout(v->playout);
    if (v->is_stalled || (v->config.live && wake != USEC_NEVER))
        wake = usec_min(wake, v->polled + OWN_WATCH);
    return asks_keys(v) ? usec_min(wake, reference_tracker_next_timeout(v->tracker, v->rtt)) : wake;
}

// ---- By the viewer

void video_pipeline_pause(struct video_pipeline *v, usec_t now)
{
    playout_pause(v->playout, now);
    latency_control_paused(&v->latency, now);
    emit(v, (struct viewing_event){.kind = VIEWING_PAUSE, .at = now});
}

void video_pipeline_resume(struct video_pipeline *v, usec_t now)
{
    playout_resume(v->playout, now);
    emit(v, (struct viewing_event){.kind = VIEWING_RESUME, .at = now});
    if (v->last_frames || !v->config.live)
        return;
    playout_flush(v->playout, 0, now);
    v->resumed = true;
    stall_classifier_forget(&v->stalls);
    emit(v, (struct viewing_event){.kind = VIEWING_REBUFFER, .at = now});
}

void video_pipeline_seek(struct video_pipeline *v, int64_t first, int64_t show, bool at_once,
                         usec_t now)
{
    playout_seek(v->playout, first, show, at_once, now);
    v->last_frames = v->ending = false;
    v->passed = -1;
    freeze_watch_moved(&v->freezes);
    stall_classifier_forget(&v->stalls);
    emit(v, (struct viewing_event){.kind = VIEWING_SEEK, .at = now});
}

void video_pipeline_set_scale(struct video_pipeline *v, double pace, usec_t now)
{
    v->pace = pace;
    v->last_shown = -1;
    playout_set_scale(v->playout, pace, now);
    if (pace == 1 && v->speed != 1)
        video_pipeline_set_speed(v, v->speed, now);
}

void video_pipeline_set_speed(struct video_pipeline *v, double speed, usec_t now)
{
    v->speed = speed;
    v->last_shown = -1;
    if (v->pace == 1)
        playout_set_speed(v->playout, (int32_t)lround(speed * MEDIA_CLOCK_UNIT), now);
}

void video_pipeline_stop(struct video_pipeline *v, usec_t now)
{
    if (v->stopped)
        return;
    v->stopped = true;
    playout_flush(v->playout, 0, now);
    struct playout_action a;
    while (playout_poll(v->playout, &a, now)) {
        struct video_output none;
        if (a.kind == PLAYOUT_LOST || a.kind == PLAYOUT_LATE)
            (void)act(v, &a, &none, now);
        else if (a.kind == PLAYOUT_STALL_END)
            stall_end(v, VIEWING_STALL_CUT, a.stalled, a.at);
    }
    emit_totals(v, now);
    enum freeze_cause why;
    if (freeze_watch_missing(&v->freezes, v->passed, &why))
        emit(v, (struct viewing_event){.kind = VIEWING_MISSING, .at = now, .gap = why});
    if (v->config.live && v->passed >= 0)
        live_edges_end(&v->edges, v->playout, &v->config.sink, v->passed, now);
}

// ---- State

bool video_pipeline_is_ending(const struct video_pipeline *v)
{
    return v->ending;
}

bool video_pipeline_is_stopped(const struct video_pipeline *v)
{
    return v->stopped;
}

const struct playout *video_pipeline_playout(const struct video_pipeline *v)
{
    return v->playout;
}

double video_pipeline_speed(const struct video_pipeline *v)
{
    return v->config.live ? (double)v->latency.speed.speed_ppm / MEDIA_CLOCK_UNIT : v->speed;
}

usec_t video_pipeline_sender_share(const struct video_pipeline *v)
{
    enum latency_mode mode = v->config.latency;
    bool divides = v->config.steers && (mode == LATENCY_AUTO || mode == LATENCY_FIXED);
    return divides ? latency_control_sender(&v->latency) : 0;
}

usec_t video_pipeline_target(const struct video_pipeline *v)
{
    return v->config.steers ? latency_control_target(&v->latency) : 0;
}

usec_t video_pipeline_repair_time(const struct video_pipeline *v)
{
    if (v->config.latency == LATENCY_LOW)
        return LIVE_CLOCK_REPAIR;
    usec_t held = playout_held(v->playout);
    if (playout_mode(v->playout) != PLAYOUT_PLAYING)
        return usec_max(held, playout_goal(v->playout));
    // Frames leave the buffer before they are due, and are not held.
    return v->config.steers ? usec_max(held, latency_control_wait(&v->latency)) : held;
}

usec_t video_pipeline_silence(const struct video_pipeline *v, usec_t now)
{
    return stall_classifier_silence(&v->stalls, now);
}

enum stall_cause video_pipeline_stall_cause(const struct video_pipeline *v)
{
    return v->stalls.cause;
}

const struct frame_totals *video_pipeline_totals(const struct video_pipeline *v)
{
    return frame_outcomes_totals(v->outcomes);
}

bool video_pipeline_sender_is_slow(const struct video_pipeline *v)
{
    return v->sender_is_slow;
}

int64_t video_pipeline_arrived(const struct video_pipeline *v)
{
    return v->arrived;
}

// ---- Life

static const struct play_clock_ops *clock_of(const struct video_pipeline_config *c)
{
    if (c->reorders || (c->follows && c->latency != LATENCY_LOW))
        return &film_clock;
    return c->latency == LATENCY_LOW ? &immediate_clock : c->steers ? &live_clock : &film_clock;
}

static bool open_playout(struct video_pipeline *v)
{
    const struct video_pipeline_config *c = &v->config;
    const struct play_clock_ops *clock = clock_of(c);
    struct playout_config config = {.ladder = c->ladder,
                                    .tracker = v->tracker,
                                    .level = c->level > 0 ? c->level : 0,
                                    .start_threshold = usec_max(c->start_threshold, c->target),
                                    .resume_threshold = c->resume_threshold,
                                    .decode_lead = c->decode_lead,
                                    .at_once = c->at_once,
                                    .clock = clock,
                                    .stamped = c->stamped,
                                    .reorders = c->reorders,
                                    .waits = c->waits && clock == &film_clock};
    v->playout = playout_new(&config);
    return v->playout;
}

struct video_pipeline *video_pipeline_new(const struct video_pipeline_config *config)
{
    struct video_pipeline *v = calloc(1, sizeof(*v));
    if (!v)
        return NULL;
    v->config = *config;
    v->history = frame_history_new();
    v->outcomes = frame_outcomes_new(v->history);
    v->tracker = reference_tracker_new(config->ladder);
    if (!v->history || !v->outcomes || !v->tracker || !open_playout(v)) {
        video_pipeline_free(v);
        return NULL;
    }
    if (config->relayed)
        frame_outcomes_set_relayed(v->outcomes);
    v->arriving_level = config->level;
    v->arrived = v->passed = v->awaited = v->last_shown = -1;
    v->pace = v->speed = 1;
    live_edges_init(&v->edges);
    latency_reporter_init(&v->reporter);
    const struct ladder *l = config->ladder;
    double slowest = l->level_count > 0 ? level_frame_rate(l, 0) : fps_value(l->source_fps);
    stall_classifier_init(&v->stalls, (usec_t)(1e6 / slowest));
    lateness_init(&v->own);
    freeze_watch_init(&v->freezes, l, v->outcomes, v->playout, &v->own);
    struct latency_control_config latency = {
        .mode = config->latency, .target = config->target, .start = config->start};
    latency_control_init(&v->latency, &latency, 0);
    return v;
}

void video_pipeline_free(struct video_pipeline *v)
{
    if (!v)
        return;
    playout_free(v->playout);
    reference_tracker_free(v->tracker);
    frame_outcomes_free(v->outcomes);
    frame_history_free(v->history);
    free(v);
}
