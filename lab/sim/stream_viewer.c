// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/stream_viewer.h"

#include <math.h>

#include "common/base/err.h"
#include "common/base/seq.h"
#include "common/wire/rtp.h"
#include "lab/sim/stream_source.h"

// As weir-play's.
#define UNPACED_SPEED 1.5

enum { VIEWER_SSRC = 1 };

static void tell(struct stream_viewer *v, enum stream_event_kind kind, double value, int64_t number,
                 usec_t now)
{
    struct stream_event e = {.kind = kind, .value = value, .number = number};
    v->config.event(v->config.ctx, &e, now);
}

static const struct playout *playout_of(const struct stream_viewer *v)
{
    return video_pipeline_playout(v->pipeline);
}

void stream_viewer_destroy(struct stream_viewer *v)
{
    video_pipeline_free(v->pipeline);
    frame_receiver_free(v->receiver);
    repair_receiver_free(v->repair);
    qoe_free(v->qoe);
    abr_viewer_free(v->film);
    *v = (struct stream_viewer){0};
}

static void tell_level(struct stream_viewer *v, int from, int level, const char *why, usec_t now)
{
    struct qoe_switch s = {from, level, why};
    qoe_on_switch(v->qoe, &s, now);
    struct stream_event e = {
        .kind = STREAM_EVENT_LEVEL, .value = level, .number = from, .text = s.why};
    v->config.event(v->config.ctx, &e, now);
}

// ---- What is played

static void on_event(void *ctx, const struct viewing_event *e)
{
    struct stream_viewer *v = ctx;
    switch (e->kind) {
    case VIEWING_START:
        tell(v, STREAM_EVENT_START, 0, 0, e->at);
        return;
    case VIEWING_NOT_SHOWN:
        if (e->lost.end == FRAME_END_LOST)
            tell(v, STREAM_EVENT_LOST, 0, e->lost.why.number, e->at);
        return;
    case VIEWING_STALL_BEGIN:
        tell(v, STREAM_EVENT_STALL, 0, 0, e->at);
        goddard_on_empty(&v->feed.policy, e->stall.found);
        return;
    case VIEWING_STALL_END:
        tell(v, STREAM_EVENT_RESUME, usec_to_sec(e->stall.stalled), 0, e->at);
        return;
    default:
        return;
    }
}

// Playing requires a level: the pipeline is created with the first.
static void open_pipeline(struct stream_viewer *v, int level)
{
    usec_t threshold = (usec_t)(v->feed.policy.params.play_buf_thresh * 1e6);
    bool film = v->film != NULL;
    struct video_pipeline_config config = {.ladder = v->config.ladder,
                                           .clock = &v->clock,
                                           .sink = {.qoe = v->qoe, .on_event = on_event, .ctx = v},
                                           .level = level,
                                           .start_threshold = film ? ABR_VIEWER_START : threshold,
                                           .resume_threshold =
                                               film ? ABR_VIEWER_RESUME : threshold};
    v->pipeline = video_pipeline_new(&config);
    v->whole = -1;
}

// There are no pictures: a frame that can be decoded is shown when it is due.
static void show(struct stream_viewer *v, const struct video_output *out, usec_t now)
{
    const struct received_frame *f = out->frame;
    struct video_shown s = {.number = f->number,
                            .level = out->level,
                            .bytes = received_frame_bytes(f),
                            .capture_wall = f->capture_wall,
                            .last_arrived = f->last_arrived,
                            .handed_over = now,
                            .decoded_at = out->show_at,
                            .show_at = out->show_at,
                            .shown_at = out->show_at};
    if (out->show)
        video_pipeline_shown(v->pipeline, &s, STREAM_WALL, now);
    received_frame_free(out->frame);
}

static void run_pipeline(struct stream_viewer *v, usec_t now)
{
    struct video_output out;
    while (v->pipeline && video_pipeline_poll(v->pipeline, &out, now))
        show(v, &out, now); // it requests no key frames
    if (v->ended || !v->pipeline || !video_pipeline_is_ending(v->pipeline))
        return;
    v->ended = true;
    video_pipeline_stop(v->pipeline, now);
    repair_receiver_report(v->repair, v->qoe);
    (void)qoe_on_ended(v->qoe, QOE_END_OF_MEDIA, NULL, now);
    tell(v, STREAM_EVENT_END, 0, 0, now);
}

// ---- What is asked for

static void tell_capacity(struct stream_viewer *v, usec_t now)
{
    double bps = goddard_capacity_bps(&v->feed.policy);
    qoe_on_capacity(v->qoe, bps);
    tell(v, STREAM_EVENT_CAPACITY, bps, goddard_inputs_span(&v->feed), now);
}

static void request(struct stream_viewer *v, const struct stream_wish *wish, usec_t now)
{
    bool same = wish->level == v->wish.level && wish->pairs == v->wish.pairs &&
                wish->speed == v->wish.speed;
    v->wish = *wish;
    if (!same)
        v->config.ask(v->config.ctx, wish, now);
}

static void act(struct stream_viewer *v, const struct goddard_action *a, usec_t now)
{
    struct stream_wish wish = {
        .level = a->level, .pairs = v->wish.pairs + a->ask_pair, .speed = a->speed};
    if (a->ask_pair)
        (void)goddard_inputs_ask(&v->feed);
    if (a->reason == GODDARD_WHY_CAPACITY)
        tell_capacity(v, now);
    if (a->level >= 0 && !v->pipeline)
        open_pipeline(v, a->level);
    if (a->level != a->from && a->level >= 0)
        tell_level(v, a->from, a->level, goddard_reason_name(a->reason), now);
    request(v, &wish, now);
}

static bool has_policy(const struct stream_viewer *v)
{
    return v->config.level < 0 && !v->film;
}

static void ask_film(struct stream_viewer *v, usec_t now)
{
    const struct playout *p = v->pipeline ? playout_of(v) : NULL;
    struct abr_buffer b = {.number = -1};
    if (p)
        b = (struct abr_buffer){.number = playout_awaited(p),
                                .media = playout_held(p),
                                .bytes = playout_held_bytes(p),
                                .frames = playout_held_frames(p),
                                .playing = playout_mode(p) == PLAYOUT_PLAYING};
    struct abr_action a;
    if (abr_viewer_run(v->film, &b, &a, now)) {
        const char *why = abr_reason_name(a.decision.reason);
        struct stream_event e = {.kind = STREAM_EVENT_CAPACITY,
                                 .value = a.decision.estimate_bps,
                                 .number = a.decision.group,
                                 .text = why};
        if (a.decided)
            v->config.event(v->config.ctx, &e, now);
        if (!v->pipeline)
            open_pipeline(v, a.level);
        if (a.level != v->wish.level)
            tell_level(v, v->wish.level, a.level, why, now);
        request(v, &(struct stream_wish){.level = a.level, .speed = a.speed}, now);
    }
    bool stalled = p && playout_mode(p) == PLAYOUT_REBUFFERING;
    usec_t resume = abr_viewer_resume(v->film, &b, stalled, now);
    if (v->pipeline)
        video_pipeline_set_thresholds(v->pipeline, ABR_VIEWER_START, resume);
}

static void ask(struct stream_viewer *v, usec_t now)
{
    if (!has_policy(v))
        return;
    struct goddard_action a;
    while (goddard_poll(&v->feed.policy, &a))
        act(v, &a, now);
}

// ---- What is lost

static void request_missing(struct stream_viewer *v, usec_t now)
{
    if (!v->repair || v->ended)
        return;
    struct rtp_receiver *rtp = frame_receiver_rtp(v->receiver);
    while (rtcp_exchange_requests(&v->rtcp, v->repair, now)) {
        uint8_t out[RTCP_MAX_PACKET];
        size_t len = rtcp_feedback_compound(&v->rtcp.feedback, rtp, out, sizeof(out), now);
        v->config.send_rtcp(v->config.ctx, out, len, now);
    }
}

// ---- What comes

// Jitter of consecutive complete frames, in ms: their distance / (number of missing frames between
// them + 1) (Chung, Claypool, Kinicki 2005, section IV). NaN: the first frame, or a frame after a
// later one.
static double jitter_of(struct stream_viewer *v, int64_t number, usec_t now)
{
    if (number <= v->whole)
        return (double)NAN;
    uint64_t missing = v->whole < 0 ? 0 : playout_expected(playout_of(v), v->whole + 1, number);
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
    bool is_layer = f->on_lower;
    (void)video_pipeline_push(v->pipeline, f, STREAM_WALL, now);
    if (is_layer) { // the picture counts with its smallest layer
        run_pipeline(v, now);
        return;
    }
    // Runs before playing takes frames from the buffer.
    goddard_inputs_whole(&v->feed, number, playout_held(playout_of(v)), now);
    tell(v, STREAM_EVENT_FRAME, jitter_of(v, number, now), level, now);
    run_pipeline(v, now);
    if (v->repair)
        repair_receiver_set_keep(v->repair, video_pipeline_repair_time(v->pipeline));
}

static void on_packet(void *ctx, const struct rtp_packet *p, int64_t ext_seq, usec_t arrived,
                      usec_t now)
{
    struct stream_viewer *v = ctx;
    struct goddard_media media = {
        .number = p->adu.frame, .level = p->adu.level, .bytes = p->payload_len, .arrived = now};
    int64_t number = seq32_extend(v->whole < 0 ? 0 : v->whole, p->adu.frame);
    struct received_frame *f;
    request_missing(v, now);
    video_pipeline_packet(v->pipeline, p, ext_seq, arrived);
    if (v->config.in_part && (f = stream_parts_before(&v->parts, number)))
        on_frame(v, f, now);
    const struct abr_packet packet = {.number = number,
                                      .slot = number,
                                      .sequence = ext_seq,
                                      .level = p->adu.level,
                                      .bytes = p->payload_len};
    if (v->film && abr_viewer_packet(v->film, &packet, now))
        ask_film(v, now);
    goddard_inputs_media(&v->feed, &media, now);
    if (v->config.in_part && (f = stream_parts_packet(&v->parts, p, number, now)))
        on_frame(v, f, now);
}

static void on_whole_frame(void *ctx, struct received_frame *f, usec_t now)
{
    struct stream_viewer *v = ctx;
    if (v->config.in_part)
        received_frame_free(f); // it counted before
    else
        on_frame(v, f, now);
}

void stream_viewer_rtp(struct stream_viewer *v, const uint8_t *data, size_t len, usec_t now)
{
    if (!v->pipeline || v->ended)
        return;
    v->bytes += len;
    (void)frame_receiver_packet(v->receiver, data, len, 0, STREAM_WALL, now, now);
    ask(v, now);
}

void stream_viewer_answered(struct stream_viewer *v, usec_t rtt, usec_t now)
{
    goddard_inputs_rtt(&v->feed, rtt);
    if (v->film)
        abr_viewer_set_rtt(v->film, rtt);
    if (v->repair)
        repair_receiver_set_rtt(v->repair, rtt, now);
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
    if (!v->pipeline || v->ended)
        return;
    video_pipeline_end(v->pipeline, now);
    run_pipeline(v, now);
    ask(v, now);
}

// ---- Time

static int open_film(struct stream_viewer *v)
{
    double fps = fps_value(v->config.ladder->source_fps);
    struct abr_viewer_config config = {
        .policy = "auto",
        .ladder = v->config.ladder,
        .frames = llround(usec_to_sec(v->config.length) * fps),
        .group_frames = (int)llround(usec_to_sec(STREAM_FILM_GROUP) * fps),
        .target = v->config.film,
        .max_speed = v->config.measures ? ABR_VIEWER_FAST : UNPACED_SPEED};
    config.frames = config.frames > 0 ? config.frames : 1;
    return abr_viewer_new(&config, &v->film);
}

int stream_viewer_init(struct stream_viewer *v, const struct stream_viewer_config *config,
                       usec_t now)
{
    *v = (struct stream_viewer){
        .config = *config, .wish = {.level = -1, .speed = 1}, .second_at = USEC_NEVER};
    clock_sync_shared(&v->clock);
    v->qoe = qoe_new("sim:", STREAM_WALL + now, now);
    struct frame_receiver_config receiver = {
        .ext = {RTP_EXT_CAPTURE_ID, RTP_EXT_ADU_ID, RTP_EXT_FEEDBACK_ID, RTP_EXT_MADE_ID},
        .payload_type = RTP_PT_SYNTHETIC,
        .frames = true,
        .clock = &v->clock,
        .sink = {.qoe = v->qoe},
        .on_packet = on_packet,
        .on_frame = on_whole_frame,
        .ctx = v};
    v->receiver = frame_receiver_new(&receiver);
    struct repair_receiver_config repair = {
        .ext = receiver.ext, .requests = true, .repeats = true, .takes_parity = true};
    v->repair = config->repairs ? repair_receiver_new(&repair) : NULL;
    rtcp_exchange_init(&v->rtcp, VIEWER_SSRC, true, false, false);
    bool has_all = v->receiver && v->qoe && (v->repair || !config->repairs);
    if (has_all && (!config->film || open_film(v) == 0)) {
        frame_receiver_set_repair(v->receiver, v->repair);
        return 0;
    }
    stream_viewer_destroy(v);
    return ERR_NO_MEMORY;
}

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
    if (v->film) {
        abr_viewer_place(v->film, 0, 0, false, now);
        v->film_at = now;
    } else if (!has_policy(v)) {
        open_pipeline(v, v->config.level);
        v->wish.level = v->config.level;
        v->config.ask(v->config.ctx, &v->wish, now);
    }
    ask(v, now);
}

static void tell_second(struct stream_viewer *v, usec_t now)
{
    int64_t marked = v->config.ecn_marked ? v->config.ecn_marked(v->config.ctx) : -1;
    const struct rtp_receiver *rtp = frame_receiver_rtp(v->receiver);
    struct qoe_receiver counts = {.expected = rtp_receiver_expected(rtp),
                                  .lost = rtp_receiver_lost(rtp),
                                  .reordered = rtp->reordered,
                                  .loss_events = rtp->loss_events,
                                  .ecn_marked = marked,
                                  .second_bytes = -1};
    qoe_on_receiver(v->qoe, &counts);
    repair_receiver_report(v->repair, v->qoe);
    double held = v->pipeline ? usec_to_sec(playout_held(playout_of(v))) : 0;
    tell(v, STREAM_EVENT_SECOND, held, (int64_t)v->bytes, now);
    v->second_at += USEC_PER_SEC;
}

void stream_viewer_run(struct stream_viewer *v, usec_t now)
{
    if (v->ended || v->second_at == USEC_NEVER)
        return;
    if (now >= v->second_at)
        tell_second(v, now);
    if (has_policy(v))
        goddard_on_timeout(&v->feed.policy, now);
    if (v->film && now >= v->film_at) {
        ask_film(v, now);
        v->film_at = now + ABR_VIEWER_SAMPLE;
    }
    request_missing(v, now);
    run_pipeline(v, now);
    ask(v, now);
}

usec_t stream_viewer_next(const struct stream_viewer *v)
{
    if (v->ended || v->second_at == USEC_NEVER)
        return USEC_NEVER;
    usec_t next = v->film ? usec_min(v->second_at, v->film_at) : v->second_at;
    if (has_policy(v))
        next = usec_min(next, goddard_next_timeout(&v->feed.policy));
    if (v->repair)
        next = usec_min(next, repair_receiver_next_timeout(v->repair));
    return v->pipeline ? usec_min(next, video_pipeline_next_timeout(v->pipeline)) : next;
}
