// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/feed/relay_feed.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/protocol/server_dialect.h"
#include "proxy/feed/relayed_audio.h"
#include "proxy/feed/upstream.h"
#include "proxy/feed/viewer_end.h"
#include "proxy/policy/origin_life.h"
#include "server/policy/number_shift.h"
#include "server/session/session.h"
#include "server/stored/stored_feed.h"

#define EARLY_SECONDS 1.0

struct relay_feed {
    struct viewer_end end; // first
    struct relay_feed_config config;
    struct upstream *upstream; // owned; NULL: none
    struct origin_life life;
    bool is_held;  // what the viewer's network does not take waits at the origin
    bool may_hold; // frames have begun to wait, or wait no more: the timer looks

    // The viewer's request for a place.
    double seconds; // NaN: where the media is, or no seek
    double wanted;  // scale of the play (RFC 2326, 12.34)
    bool seeks;

    // Where the media is: frame `show` is at `show_seconds`.
    double show_seconds; // NaN: not known
    int64_t show;
    double scale; // at which the media plays
    int64_t last; // the newest frame; -1: none yet
    int64_t period;
    int64_t shift;
    bool shifts; // the next frame sets the shift: it becomes `next` or later
    int64_t next;

    int level; // the viewer's choices
    bool follows;
    double speed;
    int latency_ms; // 0: of a prepared film, the viewer did not say; no frame is dropped
    int playout_ms; // 0: not known

    struct film_table *table; // owned; NULL: the origin has none, or has not said
    enum { TABLE_UNKNOWN, TABLE_ASKED, TABLE_KNOWN } table_is;
    double from;   // seconds; where the newest session was asked to begin
    bool rescales; // it was asked for another scale than 1, at which it begins
    struct rtsp_client_place begun;
};

static double fps_of(const struct relay_feed *f)
{
    return fps_value(f->config.origin->media->ladder.source_fps);
}

static void arm(struct viewer_end *end)
{
    struct relay_feed *f = (struct relay_feed *)end;
    usec_t when = f->may_hold ? 0 : viewer_end_next_timeout(end);
    when = usec_min(when, origin_life_next(&f->life));
    if (f->life.phase == ORIGIN_PLAYING)
        when = usec_min(when, access_leg_next_timeout(f->end.leg));
    timer_set(f->end.timer, when);
}

// The origin of a film drops no frame, so this proxy does not either: while frames wait for the
// viewer's network, the origin is not read, and holds back the next ones. What comes in datagrams
// would be lost then, and waits here. The viewer's request for a place is answered first.
static void hold_origin(struct relay_feed *f, usec_t now)
{
    const struct frame_sink *sink = f->end.sink;
    f->may_hold = false;
    bool holds = f->life.phase == ORIGIN_PLAYING && !f->latency_ms && !f->end.requested &&
                 f->config.origin->choices->reflect != REFLECT_BLOCKING && sink->ops->has_waiting &&
                 sink->ops->has_waiting(sink);
    if (!f->upstream || holds == f->is_held || upstream_is_datagram(f->upstream))
        return;
    f->is_held = holds;
    upstream_hold(f->upstream, holds, now);
}

// ---- The viewer's request for a place

static double position_of(const struct relay_feed *f, int64_t number)
{
    double since = (double)(number - f->show) / fps_of(f);
    double at = f->show_seconds + (f->scale < 0 ? -since : since);
    return fmin(fmax(at, 0), f->config.origin->media->duration);
}

static void fill_place(struct relay_feed *f)
{
    int64_t next = f->last + 1;
    if (isnan(f->show_seconds))
        return;
    f->end.place.seconds = position_of(f, next);
    f->end.place.frames = (struct rtsp_frames){.first = next, .show = next};
    f->end.place.scale = f->scale;
}

// The origin has answered, and its clock is known or overdue.
static void answer_place(struct viewer_end *end, usec_t now)
{
    struct relay_feed *f = (struct relay_feed *)end;
    usec_t ahead;
    bool knows = upstream_wall_ahead(f->upstream, &ahead);
    f->end.base.wall_ahead = knows ? ahead : 0;
    viewer_end_answer(&f->end,
                      isnan(f->show_seconds) ? MEDIA_NOWHERE
                      : !f->seeks            ? MEDIA_CONTINUES
                                             : MEDIA_SOUGHT,
                      now);
}

// ---- From the origin

static void note_place(struct relay_feed *f, const struct rtsp_client_place *place)
{
    if (isnan(place->seconds))
        return;
    int64_t first = f->last + 1, show = f->last + 1;
    if (place->first >= 0) {
        if (f->shifts)
            f->shift = number_shift_of(f->period, place->first, f->next);
        f->shifts = false;
        first = place->first + f->shift;
        show = place->show + f->shift;
    }
    f->show_seconds = place->seconds;
    f->show = show;
    f->end.place.scale = f->scale = place->scale;
    if (!f->config.exact && f->scale == 1) // the viewer shows all frames that come
        show = first;
    f->end.place.seconds = position_of(f, show);
    f->end.place.frames = (struct rtsp_frames){.first = first, .show = show, .ahead = place->ahead};
}

// `why`: it breaks off, and why; NULL: it has ended.
static void end_media(struct relay_feed *f, const char *why, usec_t now)
{
    f->life.phase = f->upstream && !f->life.is_over ? ORIGIN_ENDED : ORIGIN_IDLE;
    f->end.sink->ops->on_end(f->end.sink, why, now);
}

// The scale that the viewer's play has, or will have when its request is answered.
static double scale_of(const struct relay_feed *f)
{
    return viewer_end_waits(&f->end) ? f->wanted : f->scale;
}

// A session has begun, always at scale 1. Until the play's own one is granted, nothing of it passes
// on.
static bool begins(const struct relay_feed *f)
{
    return (f->life.phase == ORIGIN_STARTING || f->life.phase == ORIGIN_RETURNING) &&
           f->config.origin->media->duration >= 0;
}

// The origin is back, but not at the scale of the viewer's play.
static void end_scaled(struct relay_feed *f, usec_t now)
{
    struct media_refusal why = {.status = 502, .text = "origin: it lost the scale of the play"};
    log_warn("the origin %s is back, but does not play at scale %g: the media ends",
             f->config.origin->url->text, scale_of(f));
    viewer_end_refuse(&f->end, &why, now);
    f->life.is_over = true;
    end_media(f, why.text, now);
    arm(&f->end);
}

static void on_playing(void *ctx, const struct rtsp_client_place *place, usec_t now)
{
    struct relay_feed *f = ctx;
    if (f->life.is_over) // it said BYE before
        return;
    // Another request's, as for a speed: that of the viewer's place is still to come.
    if (viewer_end_waits(&f->end) && f->seeks && !begins(f) && !place->sought)
        return;
    bool returns = f->life.phase == ORIGIN_RETURNING;
    if (begins(f) && place->scale != scale_of(f) && !f->rescales) {
        f->rescales = true;
        f->begun = *place;
        upstream_scale(f->upstream, f->from, scale_of(f), now);
        return;
    }
    // An answer tells the viewer another scale, but here there is none.
    if (returns && begins(f) && place->scale != scale_of(f) && !(viewer_end_waits(&f->end))) {
        end_scaled(f, now);
        return;
    }
    origin_life_playing(&f->life, now);
    access_leg_begin(f->end.leg, now);
    frame_store_renew(f->end.store, now);
    note_place(f, place);
    upstream_set_follows(f->upstream, f->follows, now); // changed since the session began?
    if (returns && f->playout_ms)
        upstream_set_playout(f->upstream, f->playout_ms, now);
    if (viewer_end_waits(&f->end)) {
        usec_t ahead;
        viewer_end_await_clock(&f->end,
                               server_dialect_of(f->config.origin->sdp)->knows_weir_parameters &&
                                   !upstream_wall_ahead(f->upstream, &ahead),
                               now);
    } else if (!f->end.plays) {
        f->life.phase = ORIGIN_PAUSED; // first: it may end in this call
        upstream_pause(f->upstream, now);
    }
    arm(&f->end);
}

static void on_seek_refused(void *ctx, usec_t now)
{
    struct relay_feed *f = ctx;
    if (begins(f)) { // of the scale: it plays as it began
        on_playing(ctx, &f->begun, now);
        return;
    }
    fill_place(f);
    viewer_end_answer(&f->end, isnan(f->show_seconds) ? MEDIA_NOWHERE : MEDIA_CONTINUES, now);
    arm(&f->end);
}

// The numbers continue where the clock is, so that the viewer's media time does.
static void set_shift(struct relay_feed *f, int64_t first)
{
    int64_t kept = first + f->shift;
    if (kept < f->next || kept - f->next > (int64_t)(10 * fps_of(f)))
        f->shift = number_shift_of(f->period, first, f->next);
    f->shifts = false;
}

static void on_frame(void *ctx, struct received_frame *r, usec_t now)
{
    struct relay_feed *f = ctx;
    if (begins(f) && scale_of(f) != 1) {
        received_frame_free(r);
        return;
    }
    if (f->shifts && f->last >= 0)
        set_shift(f, r->number);
    r->number += f->shift;
    if (r->depends_on >= 0)
        r->depends_on += f->shift;
    usec_t captured = access_leg_captured(f->upstream, r->capture_wall, r->first_arrived, now);
    if (r->number < f->show) // its time has passed; frames from `show` on need it
        captured = usec_max(captured, r->last_arrived);
    if (f->life.phase == ORIGIN_PLAYING)
        access_leg_before_frame(f->end.leg, r->last_arrived, now);
    bridge_frame(access_leg_bridge(f->end.leg), r, captured, now);
    arm(&f->end);
}

static void forward(void *ctx, struct coded_frame *frame, usec_t now)
{
    struct relay_feed *f = ctx;
    if (frame->number > f->last) {
        f->last = frame->number;
        f->life.got = true;
    }
    viewer_end_forward(&f->end, frame, now);
    f->may_hold = !f->is_held;
}

static void limit(void *ctx, double bps, usec_t now)
{
    struct relay_feed *f = ctx;
    if (f->life.phase == ORIGIN_PLAYING && f->latency_ms) // otherwise the origin is held
        upstream_limit(f->upstream, bps, now);
}

static void mark(void *ctx, int packets, usec_t now)
{
    (void)now;
    struct relay_feed *f = ctx;
    if (f->life.phase == ORIGIN_PLAYING)
        upstream_mark(f->upstream, packets);
}

static void stop_reading(void *ctx, bool stop, usec_t now)
{
    struct relay_feed *f = ctx;
    if (f->life.phase == ORIGIN_PLAYING)
        upstream_hold(f->upstream, stop, now);
}

static void bridge_request_key(void *ctx, usec_t now)
{
    struct relay_feed *f = ctx;
    if (f->life.phase == ORIGIN_PLAYING)
        upstream_request_key(f->upstream, now);
}

static void on_audio(void *ctx, const struct received_audio *a, usec_t now)
{
    struct relay_feed *f = ctx;
    struct coded_audio *c = viewer_end_takes(&f->end)
                                ? relayed_audio_new(f->upstream, a, f->shift,
                                                    f->config.origin->media->ladder.source_fps, now)
                                : NULL;
    if (!c)
        return;
    f->end.sink->ops->on_audio(f->end.sink, c, now);
    coded_audio_unref(c);
}

static void on_clock(void *ctx, usec_t now)
{
    struct relay_feed *f = ctx;
    usec_t ahead;
    if (!upstream_wall_ahead(f->upstream, &ahead))
        return;
    f->end.base.wall_ahead = ahead;
    viewer_end_on_clock(&f->end, now);
    arm(&f->end);
}

static void on_film_table(void *ctx, struct film_table *table, usec_t now)
{
    struct relay_feed *f = ctx;
    (void)now;
    f->table = table;
    f->table_is = TABLE_KNOWN;
}

static void on_nacked(void *ctx, usec_t now)
{
    struct relay_feed *f = ctx;
    bridge_nacked(access_leg_bridge(f->end.leg), now);
}

// ---- The origin is lost

static void on_bye(void *ctx, usec_t now)
{
    struct relay_feed *f = ctx;
    if (f->life.phase != ORIGIN_PLAYING)
        return;
    // At another scale than 1 the last frame may be far from the end, or is the first of the film.
    bool early = isnan(f->show_seconds) ||
                 (f->scale == 1 &&
                  position_of(f, f->last + 1) < f->config.origin->media->duration - EARLY_SECONDS);
    if (early) {
        origin_life_broke_off(&f->life, now);
        viewer_end_on_lost(&f->end);
    } else {
        end_media(f, NULL, now);
    }
    arm(&f->end);
}

static void on_end(void *ctx, const struct media_refusal *why, usec_t now)
{
    struct relay_feed *f = ctx;
    *f->config.origin->stale = true;
    bool starts = f->life.phase == ORIGIN_STARTING;
    // If it is lost, a request that waits is answered when the origin is back.
    if (origin_life_ended(&f->life, why->text, viewer_end_waits(&f->end), now))
        viewer_end_on_lost(&f->end);
    else if (starts)
        viewer_end_refuse(&f->end, why, now);
    arm(&f->end);
}

static const struct upstream_ops upstream_ops = {.on_playing = on_playing,
                                                 .on_seek_refused = on_seek_refused,
                                                 .on_frame = on_frame,
                                                 .on_audio = on_audio,
                                                 .on_nacked = on_nacked,
                                                 .on_clock = on_clock,
                                                 .on_bye = on_bye,
                                                 .on_film_table = on_film_table,
                                                 .on_end = on_end};

static void drop_upstream(struct relay_feed *f, usec_t now)
{
    upstream_free(f->upstream, now);
    f->upstream = NULL;
    f->is_held = false;
    origin_life_dropped(&f->life);
    if (f->table_is == TABLE_ASKED)
        f->table_is = TABLE_UNKNOWN;
}

// Tracks are set up before the first PLAY, which connects.
static bool hears(struct relay_feed *f, usec_t now)
{
    struct session_stats s;
    (void)f->end.sink->ops->stats(f->end.sink, &s, now);
    return s.has_audio;
}

// Returns false if there is no memory.
static bool connect_upstream(struct relay_feed *f, enum origin_phase phase, usec_t now)
{
    double from = f->end.requested && !isnan(f->seconds) ? f->seconds
                  : isnan(f->show_seconds)               ? 0
                                                         : position_of(f, f->last + 1);
    f->from = from;
    f->rescales = false;
    drop_upstream(f, now);
    bridge_restart(access_leg_bridge(f->end.leg));
    bridge_origin_forgot(access_leg_bridge(f->end.leg));
    struct upstream_config config =
        relay_origin_session(f->config.origin, phase == ORIGIN_STARTING, now);
    config.film = f->config.film;
    config.has_audio = f->config.film || hears(f, now); // what is stored is stored with its audio
    config.follows = f->follows;
    config.level = f->level;
    config.latency_ms = f->latency_ms ? access_leg_origin_latency(f->latency_ms) : 0;
    config.start = from;
    config.speed = f->speed;
    config.ops = &upstream_ops;
    config.ctx = f;
    f->upstream = upstream_new(&config, now);
    if (f->upstream)
        origin_life_connecting(&f->life, phase, now);
    f->shifts = f->last >= 0;
    f->next = f->last + 1;
    return f->upstream;
}

static void end_away(struct relay_feed *f, usec_t now)
{
    struct media_refusal why = upstream_lost(origin_life_away(&f->life, now), f->life.why);
    drop_upstream(f, now);
    viewer_end_refuse(&f->end, &why, now);
    end_media(f, why.text, now);
}

static void give_up(struct viewer_end *end, usec_t now)
{
    struct relay_feed *f = (struct relay_feed *)end;
    if (f->life.phase != ORIGIN_STARTING)
        return;
    drop_upstream(f, now);
    f->life.phase = ORIGIN_IDLE;
}

static void on_timer(void *ctx, usec_t now)
{
    struct relay_feed *f = ctx;
    if (f->life.is_over)
        drop_upstream(f, now);
    viewer_end_on_timeout(&f->end, now);
    if (f->may_hold || f->is_held)
        hold_origin(f, now);
    if (origin_life_second(&f->life, now)) {
        upstream_second(f->upstream, now);
        struct upstream_stats s;
        upstream_read(f->upstream, &s);
        access_leg_second(f->end.leg, s.rtt);
    }
    if (f->life.phase == ORIGIN_PLAYING)
        access_leg_on_timeout(f->end.leg, now);
    enum origin_due due = origin_life_due(&f->life, now);
    if (due == ORIGIN_DUE_ATTEMPT)
        (void)connect_upstream(f, ORIGIN_RETURNING, now); // no memory: the next attempt
    else if (due == ORIGIN_DUE_END)
        end_away(f, now);
    arm(&f->end);
}

// ---- The feed

static void begin_request(struct viewer_end *end, const struct media_seek *to, usec_t now)
{
    struct relay_feed *f = (struct relay_feed *)end;
    f->may_hold = true;
    f->seconds = to ? to->seconds : NAN;
    f->wanted = to ? to->scale : f->scale;
    if (isnan(f->seconds) && f->wanted != f->scale && f->last >= 0 && !isnan(f->show_seconds))
        f->seconds = position_of(f, f->last + 1);
    f->seeks = !isnan(f->seconds);
    if (!isnan(f->seconds))
        frame_store_clear(f->end.store);
    fill_place(f);
    switch (f->life.phase) {
    case ORIGIN_IDLE:
        if (!connect_upstream(f, ORIGIN_STARTING, now)) {
            struct media_refusal why = {.status = 503, .text = "out of memory"};
            viewer_end_refuse(&f->end, &why, now);
        }
        return;
    case ORIGIN_STARTING:
    case ORIGIN_AWAY:
    case ORIGIN_RETURNING:
        return;
    case ORIGIN_PLAYING:
        if (isnan(f->seconds))
            viewer_end_await_clock(&f->end, false, now); // it continues
        else
            upstream_scale(f->upstream, f->seconds, f->wanted, now);
        return;
    case ORIGIN_PAUSED:
        if (isnan(f->seconds))
            upstream_resume(f->upstream, now);
        else
            upstream_scale(f->upstream, f->seconds, f->wanted, now);
        return;
    case ORIGIN_ENDED:
        f->seconds = isnan(f->seconds) ? 0 : f->seconds;
        f->seeks = true;
        upstream_scale(f->upstream, f->seconds, f->wanted, now);
        return;
    }
}

static void play(struct media_feed *feed, bool plays)
{
    struct relay_feed *f = (struct relay_feed *)feed;
    usec_t now = clock_now();
    viewer_end_play(&f->end, plays);
    f->may_hold = true;
    if (!plays && f->life.phase == ORIGIN_PLAYING) {
        f->life.phase = ORIGIN_PAUSED; // first: it may end in this call
        upstream_pause(f->upstream, now);
    }
    arm(&f->end);
}

static void rewind_to(struct media_feed *feed, int64_t slot)
{
    frame_store_rewind(((struct viewer_end *)feed)->store, slot);
}

static void request_key(struct media_feed *feed, int size_id, usec_t now)
{
    (void)size_id;
    struct relay_feed *f = (struct relay_feed *)feed;
    if (f->life.phase == ORIGIN_PLAYING)
        upstream_request_key(f->upstream, now);
}

static void set_level(struct media_feed *feed, int level, bool follows)
{
    struct relay_feed *f = (struct relay_feed *)feed;
    bool changes = level != f->level;
    f->level = level;
    f->follows = follows;
    if (!origin_life_is_up(&f->life))
        return;
    upstream_set_follows(f->upstream, follows, clock_now());
    if (changes)
        upstream_set_level(f->upstream, level, clock_now());
}

static void set_speed(struct media_feed *feed, double speed)
{
    struct relay_feed *f = (struct relay_feed *)feed;
    bool changes = speed != f->speed;
    f->speed = speed;
    if (changes && origin_life_is_up(&f->life))
        upstream_set_speed(f->upstream, speed, clock_now());
}

static void drained(struct media_feed *feed, usec_t now)
{
    (void)now;
    struct relay_feed *f = (struct relay_feed *)feed;
    if (!f->is_held || f->may_hold)
        return;
    f->may_hold = true;
    arm(&f->end);
}

static void set_latency(struct media_feed *feed, int ms)
{
    struct relay_feed *f = (struct relay_feed *)feed;
    f->latency_ms = ms;
    f->may_hold = true;
    if (origin_life_is_up(&f->life))
        upstream_set_latency(f->upstream, access_leg_origin_latency(f->latency_ms), clock_now());
    arm(&f->end);
}

static void set_playout(struct media_feed *feed, int ms)
{
    struct relay_feed *f = (struct relay_feed *)feed;
    f->playout_ms = ms;
    if (origin_life_is_up(&f->life))
        upstream_set_playout(f->upstream, ms, clock_now());
}

static int subtitles(struct media_feed *feed, const struct subtitle_request *r,
                     struct subtitle_set *out, usec_t now)
{
    struct relay_feed *f = (struct relay_feed *)feed;
    if (r->track > f->config.origin->sdp->subtitle_count)
        return -1;
    return f->upstream ? upstream_subtitles(f->upstream, r, out, now) : 0;
}

static int film_table(struct media_feed *feed, const struct film_table **out, usec_t now)
{
    struct relay_feed *f = (struct relay_feed *)feed;
    if (f->config.film)
        return store_film_table(f->config.film, out);
    if (f->table_is == TABLE_UNKNOWN && f->life.phase == ORIGIN_PLAYING) {
        f->table_is = TABLE_ASKED;
        upstream_ask_film_table(f->upstream, now);
    }
    *out = f->table;
    return f->table ? 0 : f->table_is == TABLE_KNOWN ? ERR_NOT_FOUND : ERR_AGAIN;
}

static void relay_info(const struct media_feed *feed, struct relay_info *out, usec_t now)
{
    const struct relay_feed *f = (const struct relay_feed *)feed;
    *out = relay_info_unknown();
    access_leg_info(f->end.leg, out);
    out->backbone_away_s = usec_to_sec(origin_life_away(&f->life, now));
    if (f->upstream)
        access_leg_backbone(f->upstream, out);
}

static void feed_free(struct media_feed *feed)
{
    struct relay_feed *f = (struct relay_feed *)feed;
    upstream_free(f->upstream, clock_now());
    film_table_free(f->table);
    viewer_end_close(&f->end);
    free(f);
}

// The operations of all films; those of prepared ones have more.
#define OF_ALL                                                                                     \
    .place = viewer_end_place, .play = play, .request_key = request_key, .rewind = rewind_to,      \
    .set_level = set_level, .set_speed = set_speed, .set_latency = set_latency,                    \
    .set_playout = set_playout, .relay_info = relay_info, .subtitles = subtitles,                  \
    .free = feed_free

static const struct media_feed_ops encoded_ops = {OF_ALL};
static const struct media_feed_ops prepared_ops = {OF_ALL, .drained = drained,
                                                   .film_table = film_table};

struct media_feed *relay_feed_new(const struct relay_feed_config *config)
{
    static const struct bridge_ops bridge_ops = {.forward = forward,
                                                 .lost = viewer_end_lost,
                                                 .request_key = bridge_request_key,
                                                 .limit = limit,
                                                 .mark = mark,
                                                 .stop_reading = stop_reading};
    static const struct viewer_end_ops end_ops = {
        .begin = begin_request, .answer = answer_place, .give_up = give_up, .arm = arm};
    struct relay_feed *f = calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    // What an origin encodes as it plays has no validator, and is late if it waits.
    bool is_prepared = *config->origin->sdp->validator;
    f->end.base = (struct media_feed){.ops = is_prepared ? &prepared_ops : &encoded_ops,
                                      .reorders = config->origin->media->reorders,
                                      .scales = true,
                                      .max_speed = is_prepared ? STORED_FEED_MAX_SPEED : 0};
    f->latency_ms = is_prepared ? 0 : SESSION_LATENCY_DEFAULT_MS;
    f->config = *config;
    f->last = -1;
    origin_life_init(&f->life, config->origin->url->text, config->origin->choices->outage);
    f->show_seconds = f->seconds = NAN;
    f->speed = f->scale = f->wanted = 1;
    f->level = -1;
    f->period = number_shift_period(&config->origin->media->ladder);
    struct viewer_end_config end = {.origin = config->origin,
                                    .sink = config->sink,
                                    .bridge = &bridge_ops,
                                    .keeps = true,
                                    .on_timer = on_timer};
    if (viewer_end_open(&f->end, &end_ops, &end, clock_now()))
        return &f->end.base;
    feed_free(&f->end.base);
    return NULL;
}
