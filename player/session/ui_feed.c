// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/ui_feed.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "player/ui/model/rolling_mean.h"
#include "player/ui/model/window_title.h"
#include "stream/video/video_pipeline.h"

enum {
    CONNECTING_TICKS =
        2, // delay before a window opens for the message: most servers respond sooner
    CONNECTING_WIDTH = 640, // width of that window
    CONNECTING_HEIGHT = 360,
};

struct ui_feed {
    struct ui_feed_config config;
    int ticks;            // values before the stream was described
    int scale_refusals;   // that the viewer has been told of
    struct osd_state osd; // the state that the display shows now
    struct {              // over the last second
        struct rolling_mean shown;
        struct rolling_mean display;
        struct rolling_mean part[LATENCY_PARTS];
    } mean;
};

struct ui_feed *ui_feed_new(const struct ui_feed_config *config)
{
    struct ui_feed *u = calloc(1, sizeof(*u));
    if (u)
        u->config = *config;
    return u;
}

void ui_feed_free(struct ui_feed *u)
{
    free(u);
}

void ui_feed_toast(struct ui_feed *u, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(u->osd.toast, sizeof(u->osd.toast), format, args);
    va_end(args);
    u->osd.toasts++;
}

// ---- The title ----

static void show_title(struct ui_feed *u, const struct ui_facts *f)
{
    struct display *display = u->config.display;
    char text[512];
    if (!f->shown) {
        if (u->ticks++ == CONNECTING_TICKS)
            display->ops->expect(display, CONNECTING_WIDTH, CONNECTING_HEIGHT);
        bool stopped = f->reconnect->state == RECONNECT_STOPPED;
        const char *what = !stopped                    ? "connecting to"
                           : f->chooses && !*f->reason ? "choose a film of"
                                                       : "cannot open";
        snprintf(text, sizeof(text), "weir-play: %s %.200s", what, f->host);
        display->ops->set_status(display, text);
        return;
    }
    struct connection_status c = connection_read(f->shown);
    if (c.video) {
        const struct video_pipeline *pipeline = video_player_pipeline(c.video);
        const char *given = c.sdp->title;
        struct window_title title = {.name = *given ? given : f->channel,
                                     .mode = playout_mode(video_pipeline_playout(pipeline)),
                                     .paused = c.paused,
                                     .speed =
                                         c.scale == 1 ? video_pipeline_speed(pipeline) : c.scale,
                                     .connects = reconnect_is_away(f->reconnect)};
        window_title_text(&title, text, sizeof(text));
    } else {
        snprintf(text, sizeof(text), "weir-play: no pictures, %s", c.transport);
    }
    display->ops->set_status(display, text);
}

// ---- The panel ----

static void level_text(const struct ladder *ladder, int level, char *out, size_t cap)
{
    const struct level *l = &ladder->levels[level];
    const struct size_spec *size = &ladder->sizes[l->size_id];
    snprintf(out, cap, "%dx%d@%.4g, %.2f Mbit/s", size->width, size->height,
             level_frame_rate(ladder, level), l->bitrate_bps / 1e6);
}

static void sample_path(const struct transport_info *path, const struct qoe_transport *second,
                        struct panel_sample *s)
{
    s->value[PANEL_RATE] = second->rate;
    s->value[PANEL_LOSS] = second->loss;
    s->value[PANEL_QUEUE] = second->queue * 1e3;
    s->value[PANEL_RTT] = second->rtt * 1e3;
    s->value[PANEL_CWND] = path->cwnd_packets;
    s->value[PANEL_ALLOWED] = path->allowed_bps;
    for (int i = 0; i < PANEL_VARIABLES && i < TRANSPORT_VARIABLES && path->variable[i].name[0];
         i++) {
        snprintf(s->name[i], PANEL_NAME, "%s", path->variable[i].name);
        s->value[PANEL_VARIABLE + i] = path->variable[i].value;
    }
}

static double last_mean(struct rolling_mean *r, const struct qoe_quantiles *q, usec_t now)
{
    rolling_mean_add(r, q->count, q->mean * q->count, now);
    return rolling_mean_mean(r);
}

static void sample_report(struct ui_feed *u, struct panel_sample *s, usec_t now)
{
    struct qoe_json r;
    qoe_read(u->config.qoe, &r, now);
    rolling_mean_add(&u->mean.shown, r.playback.frames_played, 0, now);
    s->value[PANEL_FRAME_RATE] = rolling_mean_rate(&u->mean.shown);
    s->value[PANEL_LATENCY] = last_mean(&u->mean.display, &r.latency.display, now);
    const struct qoe_quantiles *parts[LATENCY_PARTS] = {
        [PART_ENCODER] = &r.latency.parts.encoder, [PART_TRANSPORT] = &r.latency.parts.transport,
        [PART_BUFFER] = &r.latency.parts.buffer,   [PART_DECODER] = &r.latency.parts.decoder,
        [PART_DISPLAY] = &r.latency.parts.display,
    };
    for (int i = 0; i < LATENCY_PARTS; i++)
        s->part[i] = last_mean(&u->mean.part[i], parts[i], now);
    s->expected = r.causes.expected;
    for (int c = 0; c < FRAME_CAUSES && isfinite(s->expected); c++)
        s->not_shown[c] = r.causes.by_root[c];
    s->stalls = r.rebuffering.count;
    s->stalled = r.rebuffering.total;
    s->freezes = r.freezes.count;
    s->frozen = r.freezes.total;
    s->longest_freeze = r.freezes.longest;
    s->reconnects = r.session.reconnects;
}

static void sample_connection(const struct connection_status *c, const struct ui_facts *f,
                              struct panel_sample *s)
{
    snprintf(s->transport, sizeof(s->transport), "%s", c->transport);
    s->levels = c->sdp->ladder.level_count;
    connection_policy(f->shown, s->film);
    s->value[PANEL_BEHIND] = c->behind > 0 ? c->behind : NAN;
    if (c->video) {
        int level = video_player_level_shown(c->video);
        usec_t target = video_pipeline_target(video_player_pipeline(c->video));
        s->value[PANEL_TARGET] = target ? usec_to_msec(target) : NAN;
        s->value[PANEL_BUFFER] =
            usec_to_sec(playout_held(video_pipeline_playout(video_player_pipeline(c->video))));
        if (level >= 0 && level < s->levels) {
            s->value[PANEL_LEVEL] = level;
            level_text(&c->sdp->ladder, level, s->level, sizeof(s->level));
        }
    }
    if (!reconnect_is_away(f->reconnect))
        sample_path(c->path, f->second, s);
}

// ---- The message over the picture ----

// The first channel is connected to, the others are changed to.
static enum overlay_message_link link_of(const struct ui_facts *f)
{
    enum reconnect_state state = f->reconnect->state;
    bool tunes = state == RECONNECT_SELECTING || state == RECONNECT_TUNING;
    if (tunes && !f->other)
        return LINK_CONNECTING;
    static const enum overlay_message_link links[RECONNECT_STATES] = {
        [RECONNECT_OPENING] = LINK_CONNECTING,
        [RECONNECT_PLAYING] = LINK_PLAYING,
        [RECONNECT_LOST_WAITING] = LINK_LOST,
        [RECONNECT_LOST_CONNECTING] = LINK_TRYING,
        [RECONNECT_CHANGING_WAITING] = LINK_CHANGING,
        [RECONNECT_CHANGING_CONNECTING] = LINK_CHANGING,
        [RECONNECT_REVERTING_WAITING] = LINK_CHANGING,
        [RECONNECT_REVERTING_CONNECTING] = LINK_CHANGING,
        [RECONNECT_SELECTING] = LINK_CHANGING,
        [RECONNECT_TUNING] = LINK_CHANGING,
        [RECONNECT_STOPPED] = LINK_STOPPED,
    };
    return links[state];
}

static void make_message(const struct connection_status *c, const struct ui_facts *f,
                         struct overlay_message *out, usec_t now)
{
    struct overlay_message_facts m = {
        .link = link_of(f),
        .host = f->host,
        .reason = f->reason,
        .chooses = f->chooses && !f->shown,
        .other = f->reconnect->state >= RECONNECT_SELECTING ? f->channel : f->transport,
        .tries = f->reconnect->tries,
        .next = reconnect_remaining(f->reconnect, now),
        .described = c->video,
        .silence = -1,
        .origin_away = -1,
        .source_away = -1};
    if (c->video) {
        const struct video_pipeline *pipeline = video_player_pipeline(c->video);
        const struct playout *playout = video_pipeline_playout(pipeline);
        m.paused = c->paused;
        m.mode = playout_mode(playout);
        m.buffered = playout_held(playout);
        m.moves =
            m.mode == PLAYOUT_PLAYING && f->reconnect->picture == RECONNECT_MOVING && !m.paused;
        m.buffer_target = playout_goal(playout);
        m.silence = video_pipeline_silence(pipeline, now);
        m.origin_away = connection_origin_away(f->shown, now);
        m.source_away = connection_source_away(f->shown, &m.source_why, now);
        m.cause = video_pipeline_stall_cause(pipeline);
        m.sender_is_slow = video_pipeline_sender_is_slow(pipeline);
    }
    overlay_message_make(&m, out);
}

static void list_tracks(const struct connection *shown, const struct connection_status *c,
                        struct osd_state *o)
{
    static_assert(sizeof(o->subtitle_tracks.names) == sizeof(c->sdp->subtitles) &&
                      sizeof(o->audio_tracks.names) == sizeof(c->sdp->audio_tracks),
                  "a menu has as many tracks as a stream");
    o->subtitle_tracks.count = c->sdp ? c->sdp->subtitle_count : 0;
    o->audio_tracks.count = c->sdp ? c->sdp->audio_track_count : 0;
    if (!c->sdp)
        return;
    o->subtitle_tracks.current = c->subtitles;
    o->audio_tracks.current = connection_audio_track(shown);
    memcpy(o->subtitle_tracks.names, c->sdp->subtitles, sizeof(o->subtitle_tracks.names));
    memcpy(o->audio_tracks.names, c->sdp->audio_tracks, sizeof(o->audio_tracks.names));
}

static struct connection_status read_shown(const struct ui_facts *f)
{
    struct connection_status none = {.position = NAN, .scale = 1, .speed = 1};
    return f->shown ? connection_read(f->shown) : none;
}

static void fill_osd(struct ui_feed *u, const struct ui_facts *f, usec_t now)
{
    struct osd_state *o = &u->osd;
    struct connection_status c = read_shown(f);
    o->ladder = c.sdp ? c.sdp->ladder : (struct ladder){0};
    o->level = c.video ? video_player_level_shown(c.video) : -1;
    o->may_choose = c.may_set_level;
    o->may_automatic = c.may_automatic;
    o->automatic = c.automatic;
    o->level_policy = u->config.options->adapt == ADAPT_GODDARD;
    o->auto_transport = f->list;
    o->paused = c.paused;
    o->raw = f->raw;
    o->volume = f->volume;
    list_tracks(f->shown, &c, o);
    o->duration = c.sdp ? c.sdp->duration : -1;
    o->position = c.position;
    o->kept = c.kept;
    o->behind = c.behind;
    o->scale = c.scale;
    o->speed = c.speed;
    const struct subtitle_set *set = f->shown ? connection_subtitles(f->shown) : NULL;
    if (set)
        o->subtitles = *set;
    else
        o->subtitles.head[0] = '\0', o->subtitles.count = 0;
    if (c.scale_refusals > u->scale_refusals)
        ui_feed_toast(u, "No fast forward or rewind: the film is not prepared");
    u->scale_refusals = c.scale_refusals;
    o->channels = f->channels;
    o->channel = f->shown && f->reconnect->state != RECONNECT_STOPPED ? f->number : 0;
    o->choose = f->chooses;
    make_message(&c, f, &o->message, now);
}

static void show_osd(struct ui_feed *u, const struct ui_facts *f, usec_t now)
{
    struct osd_state *o = &u->osd;
    struct connection_status c = read_shown(f);
    o->samples++;
    panel_sample_clear(&o->panel);
    if (c.sdp)
        sample_connection(&c, f, &o->panel);
    sample_report(u, &o->panel, now);
    fill_osd(u, f, now);
    u->config.display->ops->set_osd(u->config.display, o);
}

void ui_feed_refresh(struct ui_feed *u, const struct ui_facts *f, usec_t now)
{
    if (u->config.options->headless)
        return;
    fill_osd(u, f, now);
    u->config.display->ops->set_osd(u->config.display, &u->osd);
}

void ui_feed_tick(struct ui_feed *u, const struct ui_facts *f, usec_t now)
{
    show_title(u, f);
    if (!u->config.options->headless)
        show_osd(u, f, now);
}

void ui_feed_end(struct ui_feed *u, const char *error)
{
    overlay_message_ended(error, &u->osd.message);
    u->osd.ended = true;
    u->osd.position = NAN;
    u->config.display->ops->set_osd(u->config.display, &u->osd);
}
