// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/stream_viewer.h"

#include <math.h>

#include "common/base/err.h"
#include "common/base/seq.h"
#include "common/wire/rtp.h"

static void tell(struct stream_viewer *v, enum stream_event_kind kind, double value, int64_t number,
                 usec_t now)
{
    struct stream_event e = {.kind = kind, .value = value, .number = number};
    v->config.event(v->config.ctx, &e, now);
}

static usec_t slowest_interval(const struct ladder *ladder)
{
    return (usec_t)((double)USEC_PER_SEC / level_frame_rate(ladder, 0));
}

int stream_viewer_init(struct stream_viewer *v, const struct stream_viewer_config *config,
                       usec_t now)
{
    *v = (struct stream_viewer){
        .config = *config, .wish = {.level = -1, .speed = 1}, .second_at = USEC_NEVER};
    rtp_receiver_init(&v->rtp);
    v->depacketiser = depacketiser_new();
    v->tracker = reference_tracker_new(config->ladder);
    v->ledger = frame_outcomes_new();
    v->qoe = qoe_new("sim:", STREAM_WALL + now, now);
    stall_classifier_init(&v->stalls, slowest_interval(config->ladder));
    if (v->depacketiser && v->tracker && v->ledger && v->qoe)
        return 0;
    stream_viewer_destroy(v);
    return ERR_NO_MEMORY;
}

void stream_viewer_destroy(struct stream_viewer *v)
{
    playout_free(v->playout);
    frame_outcomes_free(v->ledger);
    reference_tracker_free(v->tracker);
    depacketiser_free(v->depacketiser);
    qoe_free(v->qoe);
    *v = (struct stream_viewer){0};
}

// ---- What is asked for

static void tell_level(struct stream_viewer *v, const struct goddard_action *a, usec_t now)
{
    struct qoe_switch s = {a->from, a->level, goddard_reason_name(a->reason)};
    qoe_on_switch(v->qoe, &s, now);
    struct stream_event e = {
        .kind = STREAM_EVENT_LEVEL, .value = a->level, .number = a->from, .text = s.why};
    v->config.event(v->config.ctx, &e, now);
}

// Playing needs a level: it is set up with the first.
static void open_playout(struct stream_viewer *v, int level)
{
    usec_t threshold = (usec_t)(v->feed.policy.params.play_buf_thresh * 1e6);
    struct playout_config config = {.ladder = v->config.ladder,
                                    .tracker = v->tracker,
                                    .level = level,
                                    .start_threshold = threshold,
                                    .resume_threshold = threshold};
    v->playout = playout_new(&config);
    freeze_watch_init(&v->freezes, v->config.ladder, v->ledger, v->playout);
    v->whole = -1;
}

static void tell_capacity(struct stream_viewer *v, usec_t now)
{
    double bps = goddard_capacity_bps(&v->feed.policy);
    qoe_on_capacity(v->qoe, bps);
    tell(v, STREAM_EVENT_CAPACITY, bps, goddard_inputs_span(&v->feed), now);
}

static void act(struct stream_viewer *v, const struct goddard_action *a, usec_t now)
{
    struct stream_wish wish = {
        .level = a->level, .pairs = v->wish.pairs + a->ask_pair, .speed = a->speed};
    if (a->ask_pair)
        (void)goddard_inputs_ask(&v->feed);
    if (a->reason == GODDARD_WHY_CAPACITY)
        tell_capacity(v, now);
    if (a->level >= 0 && !v->playout)
        open_playout(v, a->level);
    if (a->level != a->from && a->level >= 0)
        tell_level(v, a, now);
    bool same =
        wish.level == v->wish.level && wish.pairs == v->wish.pairs && wish.speed == v->wish.speed;
    v->wish = wish;
    if (!same)
        v->config.ask(v->config.ctx, &wish, now);
}

static void ask(struct stream_viewer *v, usec_t now)
{
    struct goddard_action a;
    while (goddard_poll(&v->feed.policy, &a))
        act(v, &a, now);
}

// ---- What is played

static usec_t since_capture(const struct received_frame *f, usec_t at)
{
    return f->capture_wall ? STREAM_WALL + at - f->capture_wall : QOE_UNKNOWN;
}

static void show(struct stream_viewer *v, const struct playout_action *a, usec_t now)
{
    struct received_frame *f = a->frame;
    bool shown = a->kind == PLAYOUT_DECODE_AND_SHOW;
    if (shown)
        frame_outcomes_handed(v->ledger, f->number);
    if (reference_tracker_decoding(v->tracker, f) != FRAME_DECODABLE) {
        qoe_on_undecodable(v->qoe);
        if (shown)
            (void)frame_outcomes_ended(v->ledger, f->number, FRAME_END_UNDECODABLE);
    } else if (shown) {
        frame_outcomes_shown(v->ledger, f->number);
        usec_t at = usec_max(a->show_at, now);
        struct qoe_shown e = {.number = f->number,
                              .level = a->level,
                              .bytes = f->bytes,
                              .latency = since_capture(f, at),
                              .buffer = now - f->last_arrived};
        freeze_watch_shown(&v->freezes, &e);
        (void)qoe_on_shown(v->qoe, &e, at);
    }
    received_frame_free(f);
}

static void stall(struct stream_viewer *v, usec_t at, usec_t now)
{
    v->awaited = playout_awaited(v->playout);
    enum packets_say say = frame_outcomes_packets(v->ledger, v->awaited);
    qoe_on_stall_begin(v->qoe, stall_classifier_begin(&v->stalls, say, now), at);
    tell(v, STREAM_EVENT_STALL, 0, 0, at);
    goddard_on_empty(&v->feed.policy, now);
}

static void resume(struct stream_viewer *v, const struct playout_action *a)
{
    enum packets_say say = frame_outcomes_packets(v->ledger, v->awaited);
    qoe_on_stall_end(v->qoe, stall_classifier_end(&v->stalls, say, a->at), a->at);
    tell(v, STREAM_EVENT_RESUME, usec_to_sec(a->stalled), 0, a->at);
}

static void play(struct stream_viewer *v, const struct playout_action *a, usec_t now)
{
    switch (a->kind) {
    case PLAYOUT_START:
        qoe_on_start(v->qoe, a->at);
        tell(v, STREAM_EVENT_START, 0, 0, a->at);
        return;
    case PLAYOUT_DECODE_AND_SHOW:
    case PLAYOUT_DECODE_ONLY:
        show(v, a, now);
        return;
    case PLAYOUT_LOST:
        (void)frame_outcomes_ended(v->ledger, a->number, FRAME_END_LOST);
        qoe_on_lost(v->qoe);
        tell(v, STREAM_EVENT_LOST, 0, a->number, now);
        return;
    case PLAYOUT_LATE:
        (void)frame_outcomes_ended(v->ledger, a->number, FRAME_END_LATE);
        qoe_on_late(v->qoe);
        return;
    case PLAYOUT_STALL_BEGIN:
        stall(v, a->at, now);
        return;
    case PLAYOUT_STALL_END:
        resume(v, a);
        return;
    case PLAYOUT_ENDED_ACTION:
        v->ended = true;
        enum freeze_cause why;
        if (freeze_watch_missing(&v->freezes, playout_awaited(v->playout), &why))
            qoe_on_missing(v->qoe, why);
        (void)qoe_on_ended(v->qoe, QOE_END_OF_MEDIA, NULL, now);
        tell(v, STREAM_EVENT_END, 0, 0, now);
        return;
    case PLAYOUT_SKIPPED: // nobody asks for it
    case PLAYOUT_NONE:
        return;
    }
}

static void run_playout(struct stream_viewer *v, usec_t now)
{
    struct playout_action a;
    while (v->playout && playout_poll(v->playout, &a, now))
        play(v, &a, now);
    qoe_on_frames(v->qoe, frame_outcomes_totals(v->ledger));
}

// ---- What comes

static void tell_frame(struct stream_viewer *v, const struct received_frame *f)
{
    usec_t wall = STREAM_WALL + f->last_arrived;
    usec_t written = seq32_extend(wall, f->first_written_us);
    struct qoe_frame e = {.number = f->number,
                          .level = playout_level_at(v->playout, f->number),
                          .bytes = f->bytes,
                          .latency = since_capture(f, f->last_arrived),
                          .encoder = QOE_UNKNOWN,
                          .transport = wall - written};
    qoe_on_frame(v->qoe, &e, f->last_arrived);
}

// Of consecutive whole frames, in ms: their distance / (frames missing between + 1) (Chung,
// Claypool, Kinicki 2005, section IV). NaN: there was none before, or it comes after a later one.
static double jitter_of(struct stream_viewer *v, int64_t number, usec_t now)
{
    if (number <= v->whole)
        return (double)NAN;
    uint64_t missing = v->whole < 0 ? 0 : playout_expected(v->playout, v->whole + 1, number);
    double jitter =
        v->whole < 0 ? (double)NAN : usec_to_msec(now - v->whole_at) / (double)(missing + 1);
    v->whole = number;
    v->whole_at = now;
    return jitter;
}

static void on_frame(struct stream_viewer *v, struct received_frame *f, usec_t now)
{
    int64_t number = f->number;
    int level = f->level;
    tell_frame(v, f);
    reference_tracker_arrived(v->tracker, f);
    frame_outcomes_arrived(v->ledger, f);
    int err = playout_push(v->playout, f, now);
    if (err == ERR_FULL)
        frame_outcomes_refused(v->ledger, number);
    // Before playing takes of the buffer.
    goddard_inputs_whole(&v->feed, number, playout_held(v->playout), now);
    tell(v, STREAM_EVENT_FRAME, jitter_of(v, number, now), level, now);
    run_playout(v, now);
}

static void take_packet(struct stream_viewer *v, const struct rtp_packet *p, int64_t ext_seq,
                        size_t len, usec_t now)
{
    usec_t wall = STREAM_WALL + now;
    struct qoe_packet measured = {.bytes = len,
                                  .latency = wall - seq32_extend(wall, p->adu.written_us)};
    struct goddard_media media = {
        .number = p->adu.frame, .level = p->adu.level, .bytes = p->payload_len, .arrived = now};
    int64_t number = seq32_extend(v->whole < 0 ? 0 : v->whole, p->adu.frame);
    struct received_frame *f;
    qoe_on_packet(v->qoe, &measured, now);
    stall_classifier_packet(&v->stalls, p, ext_seq, now);
    frame_outcomes_packet(v->ledger, &p->adu, ext_seq);
    if (v->config.in_part && (f = stream_parts_before(&v->parts, number)))
        on_frame(v, f, now);
    goddard_inputs_media(&v->feed, &media, now);
    if (v->config.in_part) {
        if ((f = stream_parts_packet(&v->parts, p, number, now)))
            on_frame(v, f, now);
        return;
    }
    (void)depacketiser_push(v->depacketiser, p, ext_seq, now); // too old: its frame is lost
    while ((f = depacketiser_pull(v->depacketiser)))
        on_frame(v, f, now);
}

void stream_viewer_rtp(struct stream_viewer *v, const uint8_t *data, size_t len, usec_t now)
{
    static const struct rtp_ext_ids ids = {RTP_EXT_CAPTURE_ID, RTP_EXT_ADU_ID, RTP_EXT_FEEDBACK_ID};
    struct rtp_packet p;
    int64_t ext_seq;
    if (!v->playout || v->ended || rtp_decode(data, len, ids, &p) != 0 || !p.has_adu)
        return;
    v->bytes += len;
    enum rtp_verdict verdict = rtp_receiver_packet(&v->rtp, &p, 0, &ext_seq, now);
    if (verdict == RTP_NEW || verdict == RTP_LATE)
        take_packet(v, &p, ext_seq, len, now);
    ask(v, now);
}

void stream_viewer_answered(struct stream_viewer *v, usec_t rtt)
{
    goddard_inputs_rtt(&v->feed, rtt);
}

void stream_viewer_pair(struct stream_viewer *v, uint32_t number, bool second, size_t bytes,
                        usec_t now)
{
    struct capacity_packet p = {.pair = number, .which = second};
    goddard_inputs_pair(&v->feed, &p, bytes, now, now);
    ask(v, now);
}

void stream_viewer_media_end(struct stream_viewer *v, usec_t now)
{
    if (!v->playout || v->ended)
        return;
    playout_end(v->playout, now);
    run_playout(v, now);
    ask(v, now);
}

// ---- Time

void stream_viewer_start(struct stream_viewer *v, usec_t now)
{
    struct goddard_config policy = {.ladder = v->config.ladder,
                                    .params = &v->config.params,
                                    .probe =
                                        v->config.by_media ? GODDARD_BY_MEDIA : GODDARD_BY_PAIR,
                                    .start_level = v->config.ladder->level_count - 1,
                                    .loses_frames = v->config.loses_frames};
    struct qoe_setup setup = {.transport = v->config.transport,
                              .why = "",
                              .source = v->config.source,
                              .ladder = v->config.ladder,
                              .frames = true};
    struct qoe_clock clock = {.shared = true};
    goddard_inputs_init(&v->feed, &policy, 0, now);
    qoe_on_connected(v->qoe, now);
    qoe_on_setup(v->qoe, &setup, now);
    qoe_on_clock(v->qoe, &clock);
    v->second_at = now;
    ask(v, now);
}

static void tell_second(struct stream_viewer *v, usec_t now)
{
    int64_t marked = v->config.ecn_marked ? v->config.ecn_marked(v->config.ctx) : -1;
    struct qoe_receiver counts = {.expected = rtp_receiver_expected(&v->rtp),
                                  .lost = rtp_receiver_lost(&v->rtp),
                                  .reordered = v->rtp.reordered,
                                  .loss_events = v->rtp.loss_events,
                                  .ecn_marked = marked};
    qoe_on_receiver(v->qoe, &counts);
    double held = v->playout ? usec_to_sec(playout_held(v->playout)) : 0;
    tell(v, STREAM_EVENT_SECOND, held, (int64_t)v->bytes, now);
    v->second_at += USEC_PER_SEC;
}

void stream_viewer_run(struct stream_viewer *v, usec_t now)
{
    if (v->ended || v->second_at == USEC_NEVER)
        return;
    if (now >= v->second_at)
        tell_second(v, now);
    goddard_on_timeout(&v->feed.policy, now);
    run_playout(v, now);
    ask(v, now);
}

usec_t stream_viewer_next(const struct stream_viewer *v)
{
    if (v->ended || v->second_at == USEC_NEVER)
        return USEC_NEVER;
    usec_t next = usec_min(v->second_at, goddard_next_timeout(&v->feed.policy));
    return v->playout ? usec_min(next, playout_next_timeout(v->playout)) : next;
}
