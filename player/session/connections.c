// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/connections.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/rtsp/rtsp_link.h"
#include "client/rtsp/rtsp_standby.h"
#include "common/base/log.h"
#include "common/net/timer.h"
#include "common/transport/mtp_raw_receiver.h"

struct connections {
    struct connections_config config;
    struct play_options chosen; // the options, with the viewer's later choices
    struct connection *shown;   // owned; NULL: no stream is described yet
    struct connection *next;    // owned; an attempt that is not described yet; NULL: none
    unsigned made;              // number of connections
    struct reconnect reconnect;
    struct timer *retry;            // owned
    int channel;                    // from 1; the one chosen last
    bool other;                     // not the first one
    usec_t asked;                   // when; 0: it is the first
    struct rtsp_spare *spare;       // owned; for the next channel; NULL: none
    struct rtsp_standby *standby;   // owned; for the channel after that; NULL: none
    bool reused;                    // `next` was made with it
    struct transport_list previous; // transports from before the viewer's choice
    char reason[256];               // reason of the last loss
    usec_t stalled_since;           // RECONNECT_STALLED
    struct picture *last_picture;   // of earlier connections; owned, NULL: none
    struct playlist films;          // owned; of the folder that the URL names; empty: none
    bool stays;                     // in a window, where the viewer may choose and try again
    unsigned chooses;               // how often the viewer had to choose a film
    bool unchosen;                  // the viewer has not chosen one yet
    bool fresh;                     // what was chosen is not described yet
    bool over;                      // connections_stop was called
    bool leaving;                   // connections_leave sent TEARDOWN
};

struct connection *connections_shown(const struct connections *c)
{
    return c->shown;
}

struct connection_status connections_status(const struct connections *c)
{
    struct connection_status none = {.position = NAN};
    return c->shown ? connection_read(c->shown) : none;
}

struct picture *connections_last_picture(const struct connections *c)
{
    struct picture *last = connections_status(c).last_shown;
    return last ? last : c->last_picture;
}

const struct reconnect *connections_reconnect(const struct connections *c)
{
    return &c->reconnect;
}

const char *connections_reason(const struct connections *c)
{
    return c->reason;
}

const char *connections_transport(const struct connections *c)
{
    return c->chosen.transports.names[0];
}

bool connections_has_list(const struct connections *c)
{
    return c->chosen.transports.count > 1 || c->chosen.transports.any;
}

// ---- Replacement ----

static const struct connection_ops connection_ops;

static bool make(struct connections *c, bool channel, usec_t now)
{
    struct connection_status before = connections_status(c);
    struct connection_config config = {.loop = c->config.loop,
                                       .options = &c->chosen,
                                       .raw = c->config.raw,
                                       .qoe = c->config.qoe,
                                       .events = c->config.events,
                                       .display = c->config.display,
                                       .show = c->config.show,
                                       .audio = c->config.audio,
                                       .comparison = c->config.comparison,
                                       .recording = c->config.recording,
                                       .list = c->config.list,
                                       .on_done = c->config.on_done,
                                       .done_ctx = c->config.ctx,
                                       .ops = &connection_ops,
                                       .ctx = c,
                                       .number = ++c->made,
                                       .channel = channel ? c->channel : 0,
                                       .asked = channel ? c->asked : 0,
                                       .spare = channel ? c->spare : NULL,
                                       .holds_on = c->reconnect.state == RECONNECT_TUNING,
                                       .again = c->shown && !channel,
                                       .transport = before.transport,
                                       .level = before.level};
    c->reused = config.spare;
    if (config.spare)
        c->spare = NULL;
    c->next = connection_new(&config, now);
    return c->next;
}

static void make_next(struct connections *c, usec_t now)
{
    if (c->config.raw)
        mtp_raw_receiver_abort(c->config.raw);
    connection_free(c->next); // an attempt failed
    double position = connection_seek_base(c->shown);
    if (!isnan(position))
        c->chosen.start = (usec_t)(position * 1e6);
    connection_hang_up(c->shown);
    if (!make(c, false, now))
        c->config.ops->on_failed(c->config.ctx, QOE_ERROR, EXIT_INTERNAL,
                                 "cannot connect again: out of memory", now);
}

// Closes what end_at_once has ended, which may have been within one of its callbacks.
static void close_ended(struct connections *c)
{
    connection_free(c->next);
    c->next = NULL;
    if (c->shown)
        connection_hang_up(c->shown);
}

static void make_channel(struct connections *c, usec_t now)
{
    if (c->config.raw)
        mtp_raw_receiver_abort(c->config.raw);
    close_ended(c);
    if (c->spare && !rtsp_spare_serves(c->spare, &c->chosen.url)) {
        rtsp_spare_free(c->spare);
        c->spare = NULL;
    }
    if (!make(c, true, now))
        c->config.ops->on_failed(c->config.ctx, QOE_ERROR, EXIT_INTERNAL,
                                 "cannot change the channel: out of memory", now);
}

// Ends what plays and what is being opened, and keeps the connection of the newer one.
static void end_at_once(struct connections *c, usec_t now)
{
    struct connection *all[] = {c->shown, c->next};
    for (int i = 0; i < 2; i++) {
        struct rtsp_spare *spare = all[i] ? connection_detach(all[i], now) : NULL;
        if (!spare)
            continue;
        rtsp_spare_free(c->spare);
        c->spare = spare;
    }
    if (c->spare && c->standby)
        rtsp_spare_renew(c->spare, c->standby, now);
    if (c->shown)
        audio_session_leave(c->config.audio);
}

// Reports to QoE and trace that a freeze began or ended.
static void report_picture(struct connections *c, enum reconnect_picture before, usec_t now)
{
    enum reconnect_picture after = c->reconnect.picture;
    if (before == after)
        return;
    if (before == RECONNECT_HALTED) {
        qoe_on_pause(c->config.qoe, false, now);
    } else if (before == RECONNECT_STALLED) {
        qoe_on_stall_end(c->config.qoe, STALL_LOST, now);
        trace_rebuffer_end(c->config.events, STALL_LOST, now - c->stalled_since, now);
    }
    if (after == RECONNECT_HALTED) {
        qoe_on_pause(c->config.qoe, true, now);
    } else if (after == RECONNECT_STALLED) {
        struct event_stall e = {
            .cause = STALL_LOST, .number = -1, .silence = now - c->reconnect.since};
        c->stalled_since = now;
        qoe_on_stall_begin(c->config.qoe, STALL_LOST, now);
        trace_rebuffer_start(c->config.events, &e, now);
    }
}

// Performs the common part of all events of this kind. Returns the action for the event's own part.
static enum reconnect_action take(struct connections *c, enum reconnect_event event, usec_t now)
{
    struct reconnect *r = &c->reconnect;
    struct connection_status s = connections_status(c);
    struct reconnect_facts facts = {
        .pictures = s.video, .paused = s.paused, .stored = s.sdp && s.sdp->duration >= 0};
    enum reconnect_picture before = r->picture;
    enum reconnect_action action = reconnect_on(r, event, &facts, now);
    report_picture(c, before, now);
    if (action == RECONNECT_SWITCH || action == RECONNECT_HALT || action == RECONNECT_FAIL)
        end_at_once(c, now);
    if (action == RECONNECT_WAIT || action == RECONNECT_REVERT || action == RECONNECT_SWITCH)
        timer_set(c->retry, r->next);
    else if (action == RECONNECT_HALT || action == RECONNECT_FAIL)
        timer_set(c->retry, now);
    else if (action == RECONNECT_CONNECT && r->state == RECONNECT_TUNING)
        make_channel(c, now);
    else if (action == RECONNECT_CONNECT)
        make_next(c, now);
    return action;
}

static void on_retry_time(void *ctx, usec_t now)
{
    struct connections *c = ctx;
    if (c->over)
        return;
    if (c->reconnect.state == RECONNECT_STOPPED)
        close_ended(c);
    else
        (void)take(c, RECONNECT_TIMER, now);
}

static void end_media(struct connections *c, usec_t now)
{
    if (connection_end_media(c->shown, now))
        (void)take(c, RECONNECT_DRAINED, now);
}

void connections_change_transport(struct connections *c, const char *name, usec_t now)
{
    struct transport_list *list = &c->chosen.transports;
    if (!connections_status(c).playing || take(c, RECONNECT_CHANGE, now) != RECONNECT_LEAVE)
        return;
    c->previous = *list;
    char why[200];
    if (transport_list_read(list, name, why, sizeof(why))) { // the menu lists valid names only
        *list = (struct transport_list){.count = 1};
        snprintf(list->names[0], sizeof(list->names[0]), "%s", name);
    }
    log_info("changing to %s", name);
    end_media(c, now);
    connection_send_bye(c->shown, now);
    if (!connection_leave(c->shown, now))
        (void)take(c, RECONNECT_LEFT, now);
}

void connections_set_paused(struct connections *c, bool paused, usec_t now)
{
    struct connection_status s = connections_status(c);
    if (!s.video || s.paused == paused)
        return;
    if (!paused) {
        connection_resume(c->shown, now);
        (void)take(c, RECONNECT_RESUMED, now);
    } else if (c->reconnect.state == RECONNECT_PLAYING) {
        connection_pause(c->shown, now);
    }
}

enum seek_request connections_seek(struct connections *c, double seconds, usec_t now)
{
    if (c->reconnect.state == RECONNECT_OPENING || !c->shown)
        return SEEK_IMPOSSIBLE;
    return connection_seek(c->shown, seconds, now);
}

// ---- Channels ----

int connections_channel(const struct connections *c)
{
    return c->channel;
}

bool connections_awaits_choice(const struct connections *c)
{
    return c->unchosen;
}

const struct playlist *connections_playlist(const struct connections *c)
{
    const struct playlist *p = &c->config.options->playlist;
    return p->count ? p : c->films.count ? &c->films : NULL;
}

unsigned connections_chooses(const struct connections *c)
{
    return c->chooses;
}

int connections_channels(const struct connections *c)
{
    const struct playlist *p = connections_playlist(c);
    return p ? p->count : 1;
}

const char *connections_channel_name(const struct connections *c)
{
    const struct playlist *p = connections_playlist(c);
    bool has_title = p && p->channels[c->channel - 1].title[0];
    return has_title ? p->channels[c->channel - 1].title : c->chosen.url.text;
}

const char *connections_url(const struct connections *c)
{
    return c->chosen.url.text;
}

const char *connections_host(const struct connections *c)
{
    return c->chosen.url.host;
}

void connections_select(struct connections *c, int number, usec_t now)
{
    const struct play_options *o = c->config.options;
    if (c->over || number < 1 || number > connections_channels(c))
        return;
    c->other |= c->shown || number != c->channel;
    c->channel = number;
    c->unchosen = false;
    c->asked = now;
    const struct playlist *p = connections_playlist(c);
    c->chosen.url = p ? p->channels[number - 1].url : o->url;
    c->chosen.level = c->chosen.url.level >= 0 ? c->chosen.url.level : o->level;
    c->chosen.start = 0;
    c->fresh = true;
    qoe_on_channel(c->config.qoe, number, c->chosen.url.text, now);
    trace_channel(c->config.events, number, c->chosen.url.text, now);
    (void)take(c, RECONNECT_SELECT, now);
}

void connections_retry(struct connections *c, usec_t now)
{
    if (c->reconnect.state == RECONNECT_STOPPED && *c->reason)
        connections_select(c, c->channel, now);
    else if (!c->over)
        (void)take(c, RECONNECT_HURRY, now);
}

bool connections_is_other(const struct connections *c)
{
    return c->other;
}

void connections_halt(struct connections *c, usec_t now)
{
    if (c->over)
        return;
    *c->reason = '\0';
    (void)take(c, RECONNECT_STOP, now);
}

void connections_second(struct connections *c, usec_t now)
{
    if (c->config.options->standby == OPTION_ON && connections_channels(c) > 1 && !c->over &&
        c->shown)
        connection_keep_standby(c->shown, &c->standby, now);
}

// The connection that was kept failed before the server answered: it may have ended meanwhile.
static bool try_another(struct connections *c, usec_t now)
{
    bool fresh = c->reconnect.state == RECONNECT_TUNING && c->next && c->reused &&
                 !connection_refusal(c->next);
    if (!fresh)
        return false;
    (void)take(c, RECONNECT_SELECT, now);
    rtsp_spare_free(c->spare);
    c->spare = NULL;
    return true;
}

static void report_no_channel(struct connections *c, const char *reason, usec_t now)
{
    char text[400];
    snprintf(text, sizeof(text), "Cannot open %.100s: %.256s", connections_channel_name(c), reason);
    qoe_on_channel_failed(c->config.qoe, reason);
    trace_channel_failed(c->config.events, c->channel, reason, now);
    snprintf(c->reason, sizeof(c->reason), "%s", reason);
    c->config.ops->on_no_channel(c->config.ctx, text, now);
}

enum seek_request connections_scale(struct connections *c, double scale, usec_t now)
{
    if (c->reconnect.state != RECONNECT_PLAYING || !c->shown)
        return SEEK_IMPOSSIBLE;
    return connection_scale(c->shown, scale, now);
}

bool connections_set_speed(struct connections *c, double speed, usec_t now)
{
    return c->reconnect.state == RECONNECT_PLAYING && c->shown &&
           connection_set_speed(c->shown, speed, now);
}

// ---- From a connection ----

static void on_described(void *ctx, const struct sdp *sdp, usec_t now)
{
    struct connections *c = ctx;
    if (c->shown) {
        connection_retire(c->shown, now);
        (void)take(c, RECONNECT_DESCRIBED, now);
        struct picture *last = connections_status(c).last_shown;
        if (last) {
            picture_unref(c->last_picture);
            c->last_picture = picture_ref(last);
        }
        connection_free(c->shown);
    }
    c->shown = c->next;
    c->next = NULL;
    if (c->fresh && sdp->duration > 0)
        c->chosen.start = c->config.ops->on_film(c->config.ctx, sdp, c->chosen.start);
    c->fresh = false;
}

static void on_playing(void *ctx, usec_t now)
{
    struct connections *c = ctx;
    (void)take(c, RECONNECT_PLAYED, now);
    connections_second(c, now);
    c->config.ops->on_playing(c->config.ctx, now);
}

static void on_started(void *ctx, usec_t now)
{
    (void)take(ctx, RECONNECT_STARTED, now);
}

static void on_drained(void *ctx, usec_t now)
{
    struct connections *c = ctx;
    if (take(c, RECONNECT_DRAINED, now) == RECONNECT_END)
        c->config.ops->on_ended(c->config.ctx, now);
}

static bool on_lost(void *ctx, const char *reason, usec_t now)
{
    struct connections *c = ctx;
    if (c->over)
        return false;
    if (try_another(c, now))
        return true;
    bool away = reconnect_is_away(&c->reconnect);
    switch (take(c, RECONNECT_LOST, now)) {
    case RECONNECT_END:
        return false;
    case RECONNECT_FAIL:
        report_no_channel(c, reason, now);
        return true;
    case RECONNECT_REVERT: {
        char text[200];
        snprintf(text, sizeof(text), "No %.40s: %.150s", connections_transport(c), reason);
        c->config.ops->on_refused(c->config.ctx, text);
        log_warn("%s", text);
        c->chosen.transports = c->previous;
        break;
    }
    case RECONNECT_WAIT: {
        usec_t wait = c->reconnect.next - now;
        log_warn("%s; connecting again in %.1f s", reason, usec_to_sec(wait));
        trace_reconnect(c->config.events, reason, c->reconnect.tries, wait, now);
        break;
    }
    default: // the connection was lost already
        return true;
    }
    snprintf(c->reason, sizeof(c->reason), "%s", reason);
    if (!away)
        end_media(c, now);
    return true;
}

static void on_gone(void *ctx, const char *reason, usec_t now)
{
    struct connections *c = ctx;
    c->config.ops->on_gone(c->config.ctx, reason, now);
}

static void on_end(void *ctx, enum qoe_ended ended, int exit_code, const char *error, usec_t now)
{
    struct connections *c = ctx;
    c->config.ops->on_failed(c->config.ctx, ended, exit_code, error, now);
}

static void on_left(void *ctx, usec_t now)
{
    struct connections *c = ctx;
    if (c->leaving)
        c->config.ops->on_left(c->config.ctx, now);
    else
        (void)take(c, RECONNECT_LEFT, now);
}

// In a window the viewer chooses one of the films. Elsewhere the list is printed, and an empty one,
// too.
static bool on_list(void *ctx, struct text list)
{
    struct connections *c = ctx;
    if (!c->stays || c->over || connections_playlist(c))
        return false;
    return playlist_read_list(&c->films, list, &c->chosen.url) == 0 && c->films.count;
}

static void on_listed(void *ctx, usec_t now)
{
    struct connections *c = ctx;
    if (c->over)
        return;
    if (c->films.count == 1) {
        usec_t start = c->chosen.start;
        connections_select(c, 1, now);
        c->chosen.start = start; // --start: the URL of the folder names this film
        return;
    }
    c->chooses++;
    c->unchosen = true;
    connections_halt(c, now);
}

static void on_idle(void *ctx)
{
    struct connections *c = ctx;
    reconnect_idle(&c->reconnect);
}

static const struct connection_ops connection_ops = {.on_described = on_described,
                                                     .on_playing = on_playing,
                                                     .on_started = on_started,
                                                     .on_drained = on_drained,
                                                     .on_lost = on_lost,
                                                     .on_gone = on_gone,
                                                     .on_end = on_end,
                                                     .on_left = on_left,
                                                     .on_list = on_list,
                                                     .on_listed = on_listed,
                                                     .on_idle = on_idle};

// ---- The end ----

void connections_stop(struct connections *c, usec_t now)
{
    c->over = true;
    if (c->shown)
        connection_stop(c->shown, now);
}

bool connections_leave(struct connections *c, usec_t now)
{
    if (c->shown)
        connection_send_bye(c->shown, now);
    struct connection *newest = c->next ? c->next : c->shown;
    rtsp_spare_free(c->spare); // its session has ended
    c->spare = NULL;
    rtsp_standby_free(c->standby);
    c->standby = NULL;
    c->leaving = newest && connection_leave(newest, now);
    return c->leaving;
}

// ---- Life ----

struct connections *connections_new(const struct connections_config *config, usec_t now)
{
    struct connections *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->config = *config;
    c->chosen = *config->options;
    c->fresh = true;
    c->channel = 1;
    const struct play_options *o = config->options;
    // In a window the viewer may try again what failed.
    bool stays = !o->headless && !config->display->list_only && o->reconnect == OPTION_ON &&
                 !o->duration && !o->script.count;
    c->stays = stays;
    reconnect_init(&c->reconnect, o->reconnect == OPTION_ON, stays || o->playlist.count);
    c->retry = timer_new(config->loop, on_retry_time, c);
    if (c->retry && make(c, o->playlist.count, now))
        return c;
    connections_free(c);
    return NULL;
}

void connections_free(struct connections *c)
{
    if (!c)
        return;
    connection_free(c->next);
    connection_free(c->shown);
    rtsp_spare_free(c->spare);
    rtsp_standby_free(c->standby);
    timer_free(c->retry);
    picture_unref(c->last_picture);
    playlist_free(&c->films);
    free(c);
}
