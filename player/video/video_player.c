// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/video/video_player.h"

#include <stdlib.h>

#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/timer.h"
#include "common/protocol/server_dialect.h"
#include "player/report/viewing_trace.h"
#include "player/video/decode_feed.h"
#include "stream/abr/abr_viewer.h"
#include "stream/video/video_pipeline.h"

#define RESUME_THRESHOLD (500 * USEC_PER_MSEC)

struct video_player {
    struct video_player_config config;
    struct video_pipeline *pipeline; // owned, as are these
    struct timer *timer;
    struct picture *last_shown; // NULL: none yet
    struct decode_feed feed;    // the decoder in it is owned
    int last_level;             // of the last frame shown; -1 none yet
    bool ended;                 // on_ended was called
    bool stepped;               // in this pause: the queue holds pictures
};

// Our wall clock minus the loop's.
static usec_t wall_ahead(void)
{
    return clock_wall() - clock_now();
}

static bool is_paused(const struct video_player *p)
{
    return playout_paused(video_pipeline_playout(p->pipeline));
}

// ---- Events of the pipeline

static void log_event(const struct viewing_event *e)
{
    const struct viewing_latency *l = &e->latency;
    if (e->kind == VIEWING_SPEED && e->speed.told)
        log_debug("playing at speed %.3f", e->speed.speed);
    else if (e->kind == VIEWING_SKIP)
        log_info("skipping %.2f s: the latency exceeded its target", usec_to_sec(e->media));
    else if (e->kind == VIEWING_SHORT)
        log_warn(
            "a latency of %.0f ms cannot be kept: encoder and network take %.0f ms, decoder and "
            "display %.0f ms",
            usec_to_msec(l->target), usec_to_msec(l->encoder + l->transport),
            usec_to_msec(l->buffer));
}

static void on_event(void *ctx, const struct viewing_event *e)
{
    struct video_player *p = ctx;
    if (e->kind == VIEWING_LEVEL)
        p->config.on_level(p->config.ctx, e->level, e->at);
    else if (e->kind == VIEWING_START)
        p->config.on_started(p->config.ctx, e->at);
    viewing_trace(p->config.events, e);
    log_event(e);
    if (e->kind == VIEWING_STALL_BEGIN)
        p->config.on_empty(p->config.ctx, e->stall.found);
}

// ---- Frames to the decoder and back

static void shown(struct video_player *p, const struct play_frame *f, usec_t now)
{
    struct video_shown s = {.number = f->number,
                            .level = f->level,
                            .bytes = f->bytes,
                            .capture_wall = f->capture_wall,
                            .last_arrived = f->last_arrived,
                            .handed_over = f->handed_over,
                            .decode_time = f->decode_time,
                            .decoded_at = f->decoded_at,
                            .show_at = f->show_at,
                            .shown_at = f->shown_at};
    video_pipeline_shown(p->pipeline, &s, wall_ahead(), now);
    p->config.on_picture(p->config.ctx, f,
                         playout_pts(video_pipeline_playout(p->pipeline), f->number));
    picture_unref(p->last_shown);
    p->last_shown = f->picture ? picture_ref(f->picture) : NULL;
    p->last_level = f->level;
}

// Takes a frame that decoder and display have finished with, and reports its fate to the pipeline.
static void back(struct video_player *p, struct play_frame *f, usec_t now)
{
    decode_feed_back(&p->feed, f);
    switch (f->fate) {
    case FATE_SHOWN:
        shown(p, f, now);
        break;
    case FATE_SKIPPED:
        video_pipeline_not_shown(p->pipeline, f->number,
                                 decode_feed_unseen(f, p->config.options->low_latency), now);
        break;
    case FATE_FAILED:
        log_debug("frame %lld cannot be decoded", (long long)f->number);
        video_pipeline_undecoded(p->pipeline, f->size_id, f->number, f->show, FRAME_END_FAILED,
                                 now);
        break;
    case FATE_DECODED_ONLY:
    case FATE_DISCARDED:
        break;
    }
    play_frame_free(f);
}

static void hand_over(struct video_player *p, const struct video_output *out, usec_t now)
{
    int64_t number = out->frame->number;
    int size_id = out->frame->size_id;
    struct play_frame *done = NULL;
    switch (decode_feed_push(&p->feed, out, &done, now)) {
    case FEED_TAKEN:
        break;
    case FEED_DONE:
        back(p, done, now);
        break;
    case FEED_SLOW:
        video_pipeline_undecoded(p->pipeline, size_id, number, out->show, FRAME_END_SLOW, now);
        break;
    }
}

static void report_clock(const struct video_player *p)
{
    const struct playout *playout = video_pipeline_playout(p->pipeline);
    const struct media_clock *clock = playout_clock(playout); // live media's runs through a stall
    bool playing = !video_pipeline_is_stopped(p->pipeline) && !playout_paused(playout) &&
                   !playout_is_scaled(playout) &&
                   (playout_mode(playout) == PLAYOUT_PLAYING || clock);
    p->config.on_clock(p->config.ctx, playing, playing ? clock : NULL);
}

// Executes all that the pipeline requests at `now`, then sets the timer to its next timeout.
static void run(struct video_player *p, usec_t now)
{
    if (video_pipeline_is_stopped(p->pipeline))
        return;
    bool was_paused = is_paused(p);
    usec_t hold_at = now;
    struct video_output out;
    while (video_pipeline_poll(p->pipeline, &out, now)) {
        if (out.kind == VIDEO_DECODE) {
            hand_over(p, &out, now);
            hold_at = out.show_at;
        } else {
            p->config.request_key(p->config.ctx, now);
        }
    }
    // A seek within a pause shows one frame. Pictures decoded ahead of it stay in the queue.
    if (p->config.sdp->reorders && !was_paused && is_paused(p))
        render_queue_hold(p->config.show, hold_at);
    report_clock(p);
    timer_set(p->timer, video_pipeline_next_timeout(p->pipeline));
    if (!video_pipeline_is_ending(p->pipeline) || p->feed.in_flight || p->ended)
        return;
    p->ended = true;
    p->config.on_ended(p->config.ctx, now);
}

static void on_timer(void *ctx, usec_t now)
{
    run(ctx, now);
}

// ---- Input

void video_player_packet(struct video_player *p, const struct rtp_packet *packet, int64_t ext_seq,
                         usec_t arrived)
{
    video_pipeline_packet(p->pipeline, packet, ext_seq, arrived);
}

void video_player_push(struct video_player *p, struct received_frame *f, usec_t now)
{
    (void)video_pipeline_push(p->pipeline, f, wall_ahead(), now); // logged
    run(p, now);
}

void video_player_done(struct video_player *p, struct play_frame *f, usec_t now)
{
    back(p, f, now);
    run(p, now);
}

void video_player_end(struct video_player *p, usec_t now)
{
    video_pipeline_end(p->pipeline, now);
    run(p, now);
}

void video_player_nacked(struct video_player *p, usec_t now)
{
    video_pipeline_nacked(p->pipeline, now);
}

void video_player_set_missing(struct video_player *p, int64_t seq)
{
    video_pipeline_set_missing(p->pipeline, seq);
}

void video_player_look(struct video_player *p, usec_t now)
{
    run(p, now);
}

void video_player_resume_at(struct video_player *p, usec_t media, usec_t now)
{
    video_pipeline_set_thresholds(p->pipeline, ABR_VIEWER_START, media);
    run(p, now);
}

void video_player_set_rtt(struct video_player *p, usec_t rtt)
{
    video_pipeline_set_rtt(p->pipeline, rtt);
}

void video_player_set_repair(struct video_player *p, usec_t round)
{
    video_pipeline_set_repair(p->pipeline, round);
}

void video_player_set_stream(struct video_player *p, bool is_stream)
{
    video_pipeline_set_stream(p->pipeline, is_stream);
}

void video_player_set_audio(struct video_player *p, usec_t line)
{
    video_pipeline_set_audio(p->pipeline, line);
}

void video_player_stop(struct video_player *p, usec_t now)
{
    if (video_pipeline_is_stopped(p->pipeline))
        return;
    timer_set(p->timer, USEC_NEVER);
    if ((p->config.sdp->reorders || p->stepped) && is_paused(p))
        render_queue_drop(p->config.show);
    video_pipeline_stop(p->pipeline, now);
    report_clock(p);
}

void video_player_pause(struct video_player *p, usec_t now)
{
    if (p->config.sdp->reorders) // otherwise pictures that were decoded ahead would still be shown
        render_queue_hold(p->config.show, now);
    video_pipeline_pause(p->pipeline, now);
    run(p, now);
}

void video_player_resume(struct video_player *p, usec_t now)
{
    p->stepped = false;
    render_queue_go_on(p->config.show, now);
    video_pipeline_resume(p->pipeline, now);
    run(p, now);
}

void video_player_step(struct video_player *p, usec_t now)
{
    p->stepped = true;
    render_queue_step(p->config.show, now);
    video_pipeline_resume(p->pipeline, now);
    run(p, now);
}

void video_player_step_end(struct video_player *p, usec_t now)
{
    render_queue_hold(p->config.show, now);
    video_pipeline_pause(p->pipeline, now);
    run(p, now);
}

void video_player_set_scale(struct video_player *p, double pace, usec_t now)
{
    video_pipeline_set_scale(p->pipeline, pace, now);
}

void video_player_set_speed(struct video_player *p, double speed, usec_t now)
{
    video_pipeline_set_speed(p->pipeline, speed, now);
    run(p, now);
}

void video_player_seek(struct video_player *p, int64_t first, int64_t show, bool at_once,
                       usec_t now)
{
    p->feed.place++;
    p->ended = false;
    if (p->config.sdp->reorders || p->stepped)
        render_queue_drop(p->config.show);
    p->stepped = false;
    video_pipeline_seek(p->pipeline, first, show, at_once, now);
    run(p, now);
}

// ---- State

const struct video_pipeline *video_player_pipeline(const struct video_player *p)
{
    return p->pipeline;
}

uint64_t video_player_decoded(const struct video_player *p)
{
    return p->feed.decoded;
}

struct picture *video_player_last_shown(const struct video_player *p)
{
    return p->last_shown;
}

int video_player_level_shown(const struct video_player *p)
{
    return p->last_level;
}

// ---- Life

// Latency control steers live video only. Stored media has no latency, synthetic media follows its
// experiment, and Goddard controls the buffer itself.
static struct video_pipeline *new_pipeline(struct video_player *p)
{
    const struct play_options *o = p->config.options;
    const struct sdp *sdp = p->config.sdp;
    bool live = sdp->duration < 0 && sdp_has_pictures(sdp);
    bool steers = live && o->adapt != ADAPT_GODDARD;
    bool third_party = server_dialect_of(sdp)->numbers_from_stamps;
    // Numbers are in decoding order: the time stamps tell when pictures are shown.
    bool stamped = third_party || sdp->source == SDP_SOURCE_RELAYED;
    enum latency_mode mode = o->low_latency                 ? LATENCY_LOW
                             : o->latency                   ? LATENCY_FIXED
                             : o->has_buffer || third_party ? LATENCY_START
                                                            : LATENCY_AUTO;
    bool at_once = steers && mode == LATENCY_AUTO;
    bool fills = play_options_policy(o, sdp) && o->adapt != ADAPT_GODDARD;
    bool hurries = p->config.at_once && sdp->duration >= 0 && (fills || !o->has_buffer) &&
                   o->adapt != ADAPT_GODDARD;
    // --adapt goddard has one threshold for starting and resuming.
    usec_t start = fills ? ABR_VIEWER_START : o->buffer;
    usec_t resume = fills                       ? ABR_VIEWER_RESUME
                    : o->adapt == ADAPT_GODDARD ? o->buffer
                                                : usec_max(o->buffer, RESUME_THRESHOLD);
    struct video_pipeline_config config = {
        .ladder = &sdp->ladder,
        .clock = p->config.clock,
        .sink = {.qoe = p->config.qoe, .on_event = on_event, .ctx = p},
        .level = p->config.level,
        .at_once = hurries,
        .start_threshold = at_once ? 0 : start,
        .resume_threshold = resume,
        .decode_lead = sdp_has_pictures(sdp) ? PLAYOUT_DECODE_LEAD : 0,
        .stamped = stamped,
        .follows = third_party,
        .reorders = sdp->reorders,
        .waits = sdp->duration >= 0 && sdp_has_pictures(sdp) && o->adapt != ADAPT_GODDARD,
        .live = sdp->duration < 0,
        .relayed = sdp->via[0],
        .asks_keys = true,
        .steers = steers,
        .latency = mode,
        .target = steers ? o->latency : 0,
        .start = mode == LATENCY_START || o->has_buffer ? o->buffer : 0,
        .sender_share = play_options_latency_ms(o, live) * USEC_PER_MSEC};
    if (o->latency && !live)
        log_warn("--latency is ignored: the media is not live");
    return video_pipeline_new(&config);
}

struct video_player *video_player_new(const struct video_player_config *config)
{
    struct video_player *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->config = *config;
    p->last_level = -1;
    p->pipeline = new_pipeline(p);
    p->timer = timer_new(config->loop, on_timer, p);
    if (!p->pipeline || !p->timer)
        goto failed;
    p->feed.session = config->session;
    if (!sdp_has_pictures(config->sdp))
        return p;
    bool of_any_encoder = !server_dialect_of(config->sdp)->describes_order ||
                          config->sdp->source == SDP_SOURCE_RELAYED;
    // Without a clock the decoder's order is the only one that is known in time.
    enum decoder_order order = of_any_encoder && config->options->low_latency ? DECODER_AS_SHOWN
                               : of_any_encoder || config->sdp->reorders      ? DECODER_AS_COMES
                                                                              : DECODER_PLAIN;
    struct decoder *decoder = config->sdp->codec == SDP_VP9    ? decoder_new_vp9()
                              : config->sdp->codec == SDP_HEVC ? decoder_new_hevc(order)
                                                               : decoder_new(order);
    p->feed.decoder =
        decode_thread_new(config->show, decoder, order, config->on_done, config->done_ctx);
    if (p->feed.decoder)
        return p;

failed:
    log_error("cannot set up the video: out of memory or threads");
    video_player_free(p);
    return NULL;
}

void video_player_free(struct video_player *p)
{
    if (!p)
        return;
    decode_thread_free(p->feed.decoder);
    timer_free(p->timer);
    video_pipeline_free(p->pipeline);
    picture_unref(p->last_shown);
    free(p);
}
