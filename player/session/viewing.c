// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/viewing.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <uv.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/mailbox.h"
#include "common/net/raw_tcp.h"
#include "common/net/stop_signals.h"
#include "common/net/timer.h"
#include "common/transport/mtp_raw_receiver.h"
#include "player/compare/snapshot.h"
#include "player/policy/media_progress.h"
#include "player/policy/play_speed.h"
#include "player/policy/subtitles.h"
#include "player/session/commands.h"
#include "player/session/connections.h"
#include "player/session/output_files.h"
#include "player/session/resume_notes.h"
#include "player/session/stream_recording.h"
#include "player/session/ui_feed.h"
#include "player/ui/model/key_message.h"
#include "player/video/decode_feed.h"

#define TICK (USEC_PER_SEC / UI_FEED_TICKS)
enum { KEY_TEXT = 200 };
#define COMPARE_GRACE (2 * USEC_PER_SEC) // for pictures that wait to be compared at the end

struct viewing {
    struct viewing_config config;
    const struct play_options *options; // config's
    uv_loop_t loop;
    pthread_t thread;
    struct stop_signals signals; // if config.owns_process

    // Owned, for the whole viewing.
    struct render_queue *show;     // decoder to display
    struct mailbox *done;          // display to loop; struct play_frame
    struct commands *commands;     // display to loop
    struct mailbox *quit;          // any thread to loop; has room for the one request
    struct comparison *comparison; // only the main thread pushes to it
    struct audio_session *audio;
    struct stream_recording *recording; // NULL: not wanted
    struct ui_feed *ui;
    struct mtp_raw_receiver *raw; // NULL: not requested, or not available
    struct resume_notes *resume;  // NULL: films begin at the beginning
    struct qoe *qoe;
    struct trace *events;
    struct timer *tick;
    struct timer *duration;

    // Used by the loop thread; after that is joined, by the main thread.
    struct connections *connections; // owned
    struct qoe_transport second;     // stats of the last second
    usec_t playing_since;            // 0: not yet
    usec_t next_tick;
    int ticks; // ticks since playing_since

    // The result of the viewing.
    bool over;
    usec_t over_at;
    enum qoe_ended ended;
    int exit_code;
    char error[512];        // empty: none
    struct qoe_json report; // after viewing_finish
};

// ---- The end ----

// Records the result of the viewing, without ending it; the first reason takes precedence.
static void give_reason(struct viewing *v, enum qoe_ended ended, int exit_code, const char *error)
{
    if (v->over || v->error[0])
        return;
    v->ended = ended;
    v->exit_code = exit_code;
    snprintf(v->error, sizeof(v->error), "%s", error ? error : "");
    if (error)
        log_error("%s", error);
}

static void stop(struct viewing *v, usec_t now)
{
    if (v->over)
        return;
    v->over = true;
    v->over_at = now;
    commands_stop_script(v->commands);
    connections_stop(v->connections, now);
    if (v->ended == QOE_END_OF_MEDIA || v->error[0])
        ui_feed_end(v->ui, v->error[0] ? v->error : NULL);
    render_queue_close(v->show);
    uv_stop(&v->loop);
}

static void end(struct viewing *v, enum qoe_ended ended, int exit_code, const char *error,
                usec_t now)
{
    give_reason(v, ended, exit_code, error);
    stop(v, now);
}

static void on_signal(void *ctx, const char *name)
{
    (void)name;
    end(ctx, QOE_INTERRUPTED, EXIT_INTERRUPTED, NULL, clock_now());
}

static void on_duration(void *ctx, usec_t now)
{
    struct viewing *v = ctx;
    struct connection_status c = connections_status(v->connections);
    if (reconnect_is_lost(connections_reconnect(v->connections)))
        end(v, QOE_SERVER_LOST, EXIT_SERVER_LOST, connections_reason(v->connections), now);
    else if (!c.video || !sdp_has_pictures(c.sdp) || connections_last_picture(v->connections) ||
             !media_progress_pictures_due(v->playing_since, c.paused, now))
        end(v, QOE_DURATION, EXIT_ENDED, NULL, now);
    else if (c.packets)
        end(v, QOE_ERROR, EXIT_UNDECODABLE, "media came, but no picture of it was shown", now);
    else
        end(v, QOE_SERVER_LOST, EXIT_SERVER_LOST, "the server sent no media", now);
}

// ---- From the connections ----

// The viewing has begun: times of the options count from now.
static void begin(struct viewing *v, usec_t now)
{
    if (v->playing_since)
        return;
    v->playing_since = now;
    v->ticks = 0;
    v->next_tick = now + TICK;
    timer_set(v->tick, v->next_tick);
    commands_start_script(v->commands, now);
    if (v->options->duration)
        timer_set(v->duration, now + v->options->duration);
}

static void on_playing(void *ctx, usec_t now)
{
    begin(ctx, now);
}

static void on_ended(void *ctx, usec_t now)
{
    end(ctx, QOE_END_OF_MEDIA, EXIT_ENDED, NULL, now); // ignored if there is an earlier reason
}

static void on_gone(void *ctx, const char *reason, usec_t now)
{
    struct viewing *v = ctx;
    give_reason(v, QOE_SERVER_LOST, EXIT_SERVER_LOST, reason);
    // The buffered media is still played.
    if (!connection_drain(connections_shown(v->connections), now))
        stop(v, now);
}

static void on_failed(void *ctx, enum qoe_ended ended, int exit_code, const char *error, usec_t now)
{
    end(ctx, ended, exit_code, error, now);
}

static void on_left(void *ctx, usec_t now)
{
    struct viewing *v = ctx;
    (void)now;
    uv_stop(&v->loop);
}

static void on_refused(void *ctx, const char *message)
{
    struct viewing *v = ctx;
    ui_feed_toast(v->ui, "%s", message);
}

// Without a window, and without further steps of the script, nobody would choose another channel.
static void on_no_channel(void *ctx, const char *message, usec_t now)
{
    struct viewing *v = ctx;
    if (v->options->headless && !commands_has_steps(v->commands)) {
        end(v, QOE_ERROR, EXIT_REFUSED, message, now);
        return;
    }
    log_warn("%s", message); // the window shows it, too
    begin(v, now);
}

static usec_t on_film(void *ctx, const struct sdp *sdp, usec_t start)
{
    struct viewing *v = ctx;
    unsigned left = resume_notes_begin(v->resume, connections_url(v->connections), sdp);
    if (start || !left)
        return start;
    char text[24];
    key_message_time(left, text, sizeof(text));
    ui_feed_toast(v->ui, "Goes on at %s, where you left it", text);
    return left * USEC_PER_SEC;
}

static const struct connections_ops connections_ops = {.on_film = on_film,
                                                       .on_playing = on_playing,
                                                       .on_ended = on_ended,
                                                       .on_gone = on_gone,
                                                       .on_failed = on_failed,
                                                       .on_left = on_left,
                                                       .on_refused = on_refused,
                                                       .on_no_channel = on_no_channel};

// ---- From the display ----

// Any thread.
static void post_done(void *ctx, struct play_frame *f)
{
    struct viewing *v = ctx;
    if (!mailbox_post(v->done, f))
        play_frame_free(f); // cannot happen: the mailbox has room for all existing frames
}

// Main thread.
static void on_shown(void *ctx, struct play_frame *f)
{
    struct viewing *v = ctx;
    comparison_push(v->comparison, f);
    post_done(v, f);
}

static void on_done(void *ctx, void *item, usec_t now)
{
    struct viewing *v = ctx;
    connection_done(connections_shown(v->connections), item, now);
}

static void free_done(void *item)
{
    play_frame_free(item);
}

// ---- Requests of the viewer ----

static void seek(struct viewing *v, double seconds, usec_t now)
{
    char text[KEY_TEXT];
    struct connection_status s = connections_status(v->connections);
    enum seek_request request = connections_seek(v->connections, seconds, now);
    struct key_seek k = {.plays = s.sdp && request != SEEK_IMPOSSIBLE,
                         .placed = request == SEEK_WANTED,
                         .seconds = seconds,
                         .duration = s.sdp ? s.sdp->duration : 0};
    key_message_seek(&k, text, sizeof(text));
    ui_feed_toast(v->ui, "%s", text);
}

// Goes back or on in live video; `relative`: by so many seconds, otherwise to -`seconds` before the
// present.
static void move_live(struct viewing *v, bool relative, double seconds, usec_t now)
{
    char text[KEY_TEXT];
    struct connection *shown = connections_shown(v->connections);
    enum rewind_request request = relative ? connection_rewind_by(shown, seconds, now)
                                           : connection_rewind_to(shown, fmax(-seconds, 0), now);
    if (request == REWIND_WANTED) // the server sends
        connections_set_paused(v->connections, false, now);
    struct connection_status s = connections_status(v->connections);
    struct key_live k = {.possible = request != REWIND_IMPOSSIBLE,
                         .at_limit = request == REWIND_AT_LIMIT,
                         .back = seconds < 0,
                         .kept = s.kept,
                         .behind = s.behind};
    key_message_live(&k, text, sizeof(text));
    ui_feed_toast(v->ui, "%s", text);
}

// Returns true if live video plays, in which the viewer may go back.
static bool plays_live(const struct viewing *v)
{
    struct connection_status s = connections_status(v->connections);
    return s.sdp && s.video && s.sdp->duration < 0 && connections_shown(v->connections);
}

static void set_level(struct viewing *v, int level, usec_t now)
{
    char text[KEY_TEXT];
    struct connection *shown = connections_shown(v->connections);
    struct connection_status s = connections_status(v->connections);
    struct key_level k = {.ladder = s.sdp ? &s.sdp->ladder : NULL,
                          .may_choose = s.may_set_level,
                          .policy = v->options->adapt == ADAPT_GODDARD,
                          .level = level};
    if (shown)
        connection_set_level(shown, level, now);
    key_message_level(&k, text, sizeof(text));
    ui_feed_toast(v->ui, "%s", text);
}

static void set_automatic(struct viewing *v, usec_t now)
{
    bool possible = connections_status(v->connections).may_automatic;
    if (possible)
        connection_set_automatic(connections_shown(v->connections), now);
    ui_feed_toast(v->ui, possible ? "Level: automatic" : "The level cannot be automatic here");
}

static void show_volume(struct viewing *v)
{
    char text[KEY_TEXT];
    struct key_volume volume = audio_session_volume(v->audio);
    key_message_volume(&volume, text, sizeof(text));
    ui_feed_toast(v->ui, "%s", text);
}

static void set_subtitles(struct viewing *v, int track, usec_t now)
{
    char text[KEY_TEXT];
    struct connection *shown = connections_shown(v->connections);
    struct key_subtitles s = {0};
    if (shown) {
        connection_set_subtitles(shown, track, now);
        struct connection_status status = connection_read(shown);
        s.track = status.subtitles;
        s.count = status.sdp->subtitle_count;
        s.plays = true;
        s.name = s.track ? status.sdp->subtitles[s.track - 1] : "";
    }
    key_message_subtitles(&s, text, sizeof(text));
    ui_feed_toast(v->ui, "%s", text);
}

static void set_audio_track(struct viewing *v, int track, usec_t now)
{
    char text[KEY_TEXT];
    struct connection *shown = connections_shown(v->connections);
    struct key_audio_track t = {0};
    if (shown) {
        connection_set_audio_track(shown, track, now);
        const struct sdp *sdp = connection_read(shown).sdp;
        t.has_audio = sdp->audio.present;
        t.track = connection_audio_track(shown);
        t.count = sdp->audio_track_count;
        t.plays = true;
        t.name = t.track ? sdp->audio_tracks[t.track - 1] : "";
    }
    key_message_audio_track(&t, text, sizeof(text));
    ui_feed_toast(v->ui, "%s", text);
}

// Returns the track that is `by` on from the one that plays; the first follows the last.
static int audio_track_by(const struct connection *shown, int by)
{
    int count = shown ? connection_read(shown).sdp->audio_track_count : 0;
    return count ? (connection_audio_track(shown) - 1 + by % count + count) % count + 1 : 0;
}

static int subtitles_by(const struct connection *shown, int by)
{
    if (!shown)
        return 0;
    struct connection_status s = connection_read(shown);
    return subtitles_next(s.subtitles, s.sdp->subtitle_count, by);
}

// The first step pauses.
static void step(struct viewing *v, usec_t now)
{
    struct connection_status s = connections_status(v->connections);
    if (s.sdp && s.sdp->duration < 0)
        ui_feed_toast(v->ui, "Cannot step through live video");
    else if (s.video && !s.paused)
        connections_set_paused(v->connections, true, now);
    else if (connections_shown(v->connections))
        (void)connection_step(connections_shown(v->connections), now);
}

static void select_channel(struct viewing *v, int number, usec_t now)
{
    int count = connections_channels(v->connections);
    if (number < 1 || number > count) {
        ui_feed_toast(v->ui, "There is no channel %d: there are 1 to %d", number, count);
        log_warn("there is no channel %d: there are 1 to %d (--playlist FILE lists them)", number,
                 count);
        return;
    }
    connections_select(v->connections, number, now);
    ui_feed_toast(v->ui, "%d  %s", number, connections_channel_name(v->connections));
}

// After the last channel follows the first.
static void step_channel(struct viewing *v, int by, usec_t now)
{
    int count = connections_channels(v->connections);
    if (count < 2) {
        ui_feed_toast(v->ui, "There is no other channel: --playlist FILE lists them");
        log_warn("there is no other channel: --playlist FILE lists them");
        return;
    }
    int current =
        connections_awaits_choice(v->connections) ? 0 : connections_channel(v->connections);
    select_channel(v, playlist_step(count, current, by), now);
}

static void set_paused(struct viewing *v, bool paused, usec_t now)
{
    if (connections_reconnect(v->connections)->state != RECONNECT_STOPPED)
        connections_set_paused(v->connections, paused, now);
    else if (!paused && !connections_awaits_choice(v->connections))
        connections_select(v->connections, connections_channel(v->connections), now);
}

static void set_scale(struct viewing *v, double scale, usec_t now)
{
    if (connections_scale(v->connections, scale, now) != SEEK_WANTED)
        ui_feed_toast(v->ui, "No fast forward or rewind: the media is not a prepared film");
    else if (scale == 1)
        ui_feed_toast(v->ui, "Play");
    else
        ui_feed_toast(v->ui, scale < 0 ? "Rewind %gx" : "Fast forward %gx", fabs(scale));
}

static void set_speed(struct viewing *v, double speed, usec_t now)
{
    if (connections_set_speed(v->connections, speed, now))
        ui_feed_toast(v->ui, speed == 1 ? "Normal speed" : "Speed %gx", speed);
    else
        ui_feed_toast(v->ui, "The speed of %s cannot be changed",
                      plays_live(v) ? "live media" : "this film");
}

// Ends fast forward, rewind and another speed.
static void play_normally(struct viewing *v, usec_t now)
{
    struct connection_status status = connections_status(v->connections);
    if (status.speed != 1)
        set_speed(v, 1, now);
    if (status.scale != 1 || status.speed == 1)
        set_scale(v, 1, now);
}

static void on_snapshot(void *ctx, const char *name, bool written)
{
    struct viewing *v = ctx;
    ui_feed_toast(v->ui, written ? "Snapshot: %s" : "Cannot write %s", name);
}

// What the viewer requests, for the trace; NULL: it concerns this program only.
static const char *control_name(const struct viewing *v, enum command_kind kind)
{
    enum reconnect_state state = connections_reconnect(v->connections)->state;
    bool rests = state == RECONNECT_STOPPED || connections_status(v->connections).paused;
    switch (kind) {
    case COMMAND_SEEK:
    case COMMAND_SEEK_BY:
        return "seek";
    case COMMAND_TOGGLE_PAUSE:
    case COMMAND_PAUSE:
    case COMMAND_RESUME:
        if (kind == COMMAND_PAUSE || (kind == COMMAND_TOGGLE_PAUSE && !rests))
            return "pause";
        return state == RECONNECT_STOPPED ? "play" : "resume";
    case COMMAND_LEVEL:
    case COMMAND_LEVEL_BY:
    case COMMAND_AUTOMATIC:
        return "level";
    case COMMAND_NORMAL:
        return plays_live(v) ? "seek" : "scale";
    case COMMAND_SPEED:
    case COMMAND_SPEED_BY:
        return "speed";
    case COMMAND_SCALE:
    case COMMAND_SCALE_BY:
        return "scale";
    case COMMAND_TRANSPORT:
        return "transport";
    case COMMAND_CHANNEL:
    case COMMAND_CHANNEL_BY:
        return "channel";
    case COMMAND_STOP:
        return "stop";
    case COMMAND_QUIT:
    case COMMAND_FAILED:
    case COMMAND_SNAPSHOT:
    case COMMAND_MUTE:
    case COMMAND_VOLUME_BY:
    case COMMAND_STEP:
    case COMMAND_SUBTITLES:
    case COMMAND_SUBTITLES_BY:
    case COMMAND_AUDIO_TRACK:
    case COMMAND_AUDIO_TRACK_BY:
    case COMMAND_RETRY:
        break;
    }
    return NULL;
}

// What could not be opened, and was not tried again, ends as an error.
static void quit(struct viewing *v, usec_t now)
{
    struct connections *all = v->connections;
    if (connections_reconnect(all)->state == RECONNECT_STOPPED && *connections_reason(all) &&
        !connections_last_picture(all))
        end(v, QOE_ERROR, EXIT_REFUSED, connections_reason(all), now);
    else
        end(v, QOE_QUIT, EXIT_ENDED, NULL, now);
}

static void on_quit(void *ctx, void *item, usec_t now)
{
    (void)item;
    quit(ctx, now);
}

static void keep(void *item)
{
    (void)item; // it is the viewing
}

static void obey(struct viewing *v, const struct command *c, usec_t now)
{
    struct connections *all = v->connections;
    struct connection *shown = connections_shown(all);
    const char *control = control_name(v, c->kind);
    if (control)
        trace_control(v->events, control, now);
    switch (c->kind) {
    case COMMAND_QUIT:
        quit(v, now);
        return;
    case COMMAND_RETRY:
        connections_retry(all, now);
        return;
    case COMMAND_FAILED:
        end(v, QOE_ERROR, EXIT_INTERNAL, "the display failed", now);
        return;
    case COMMAND_TOGGLE_PAUSE:
        set_paused(v,
                   connections_reconnect(all)->state != RECONNECT_STOPPED &&
                       !connections_status(all).paused,
                   now);
        return;
    case COMMAND_PAUSE:
    case COMMAND_RESUME:
        set_paused(v, c->kind == COMMAND_PAUSE, now);
        return;
    case COMMAND_LEVEL:
        set_level(v, c->level, now);
        return;
    case COMMAND_LEVEL_BY: // two key presses are two steps, even if the responses are late
        set_level(v, connections_status(all).requested_level + c->level, now);
        return;
    case COMMAND_AUTOMATIC:
        set_automatic(v, now);
        return;
    case COMMAND_SEEK:
        if (plays_live(v))
            move_live(v, false, fmin(c->seconds, 0), now);
        else
            seek(v, c->seconds, now);
        return;
    case COMMAND_SEEK_BY:
        if (plays_live(v)) {
            move_live(v, true, c->seconds, now);
            return;
        }
        seek(v, shown ? connection_seek_base(shown) + c->seconds : 0, now);
        return;
    case COMMAND_STEP:
        step(v, now);
        return;
    case COMMAND_NORMAL:
        if (plays_live(v))
            move_live(v, false, 0, now);
        else
            play_normally(v, now);
        return;
    case COMMAND_SPEED:
        set_speed(v, play_speed_limit(c->scale), now);
        return;
    case COMMAND_SPEED_BY:
        set_speed(v, play_speed_by(connections_status(all).speed, c->level), now);
        return;
    case COMMAND_SCALE:
        set_scale(v, c->scale, now);
        return;
    case COMMAND_SCALE_BY:
        if (shown)
            set_scale(v, connection_scale_by(shown, c->level), now);
        return;
    case COMMAND_TRANSPORT:
        connections_change_transport(all, c->transport, now);
        return;
    case COMMAND_SNAPSHOT:
        if (connections_last_picture(all))
            snapshot_take(&v->loop, connections_last_picture(all), on_snapshot, v);
        else
            ui_feed_toast(v->ui, "No snapshot: no picture was shown yet");
        return;
    case COMMAND_CHANNEL:
        select_channel(v, c->level, now);
        return;
    case COMMAND_CHANNEL_BY:
        step_channel(v, c->level, now);
        return;
    case COMMAND_STOP:
        connections_halt(all, now);
        return;
    case COMMAND_MUTE:
        audio_session_mute(v->audio);
        show_volume(v);
        return;
    case COMMAND_SUBTITLES:
        set_subtitles(v, c->level, now);
        return;
    case COMMAND_SUBTITLES_BY:
        set_subtitles(v, subtitles_by(shown, c->level), now);
        return;
    case COMMAND_AUDIO_TRACK:
        set_audio_track(v, c->level, now);
        return;
    case COMMAND_AUDIO_TRACK_BY:
        set_audio_track(v, audio_track_by(shown, c->level), now);
        return;
    case COMMAND_VOLUME_BY:
        audio_session_volume_by(v->audio, c->level);
        show_volume(v);
        return;
    }
}

static struct ui_facts ui_facts(const struct viewing *v)
{
    return (struct ui_facts){.shown = connections_shown(v->connections),
                             .reconnect = connections_reconnect(v->connections),
                             .reason = connections_reason(v->connections),
                             .transport = connections_transport(v->connections),
                             .channel = connections_channel_name(v->connections),
                             .host = connections_host(v->connections),
                             .second = &v->second,
                             .volume = audio_session_volume(v->audio),
                             .raw = v->raw,
                             .channels = connections_playlist(v->connections),
                             .number = connections_channel(v->connections),
                             .chooses = connections_chooses(v->connections),
                             .list = connections_has_list(v->connections),
                             .other = connections_is_other(v->connections)};
}

static void on_command(void *ctx, const struct command *c, usec_t now)
{
    struct viewing *v = ctx;
    if (v->over)
        return;
    obey(v, c, now);
    struct ui_facts facts = ui_facts(v);
    if (!v->over)
        ui_feed_refresh(v->ui, &facts, now);
}

// ---- The tick ----

static void on_tick(void *ctx, usec_t now)
{
    struct viewing *v = ctx;
    if (v->over)
        return;
    v->next_tick += TICK;
    if (v->next_tick <= now)
        v->next_tick = now + TICK;
    timer_set(v->tick, v->next_tick);
    struct connection *shown = connections_shown(v->connections);
    const struct reconnect *reconnect = connections_reconnect(v->connections);
    if (shown)
        connection_tick(shown, now);
    resume_notes_take(v->resume, connections_status(v->connections).position);
    struct ui_facts facts = ui_facts(v);
    ui_feed_tick(v->ui, &facts, now);
    if (reconnect->state == RECONNECT_PLAYING && ++v->ticks % UI_FEED_TICKS == 0) {
        bool was_limited = connection_read(shown).is_limited;
        connection_second(shown, &v->second, now);
        if (connection_read(shown).is_limited && !was_limited)
            ui_feed_toast(v->ui, "This machine is too slow for the level: a lower one follows");
        connections_second(v->connections, now);
    }
}

// ---- Life ----

static void *run(void *arg)
{
    struct viewing *v = arg;
    uv_run(&v->loop, UV_RUN_DEFAULT); // until the viewing is over
    if (connections_leave(v->connections, clock_now()))
        uv_run(&v->loop, UV_RUN_DEFAULT); // until on_left
    return NULL;
}

// Runs before threads start, so that none has the capability in a program that drops it.
static void open_raw(struct viewing *v)
{
    const struct transport_list *list = &v->options->transports;
    // In a list of transports, such as "auto", a missing capability is reported when that transport
    // is tried.
    if (transport_list_needs_raw(list) && (list->count == 1 || raw_tcp_has_capability()))
        v->raw = mtp_raw_receiver_new(&v->loop);
    if (v->config.owns_process)
        (void)raw_tcp_drop_capability();
}

struct viewing *viewing_new(const struct viewing_config *config)
{
    const struct play_options *options = config->options;
    FILE *events = config->events;
    struct viewing *v = calloc(1, sizeof(*v));
    if (!v || uv_loop_init(&v->loop) != 0) {
        log_error("cannot set up the player: out of memory or files");
        free(v);
        source_free(config->reference);
        return NULL;
    }
    usec_t now = clock_now();
    v->config = *config;
    v->options = options;
    open_raw(v);
    v->second = (struct qoe_transport){NAN, NAN, NAN, NAN, NAN};
    v->qoe = qoe_new(options->url.text, clock_wall(), now);
    v->events = events ? trace_new(events, options->adu_events, now) : NULL;
    v->show = render_queue_new(post_done, v);
    v->done = mailbox_new(&v->loop, DECODE_FEED_MAX_FRAMES, on_done, free_done, v);
    v->commands = commands_new(&(struct commands_config){
        .loop = &v->loop, .script = &options->script, .on_command = on_command, .ctx = v});
    v->quit = mailbox_new(&v->loop, 1, on_quit, keep, v);
    v->comparison = comparison_new(&(struct comparison_config){.loop = &v->loop,
                                                               .options = options,
                                                               .qoe = v->qoe,
                                                               .events = v->events,
                                                               .reference = config->reference});
    v->audio = audio_session_new(options, &config->audio);
    v->resume = options->headless || options->no_resume ? NULL : resume_notes_new();
    v->recording = options->record ? stream_recording_new(options->record) : NULL;
    v->tick = timer_new(&v->loop, on_tick, v);
    v->duration = timer_new(&v->loop, on_duration, v);
    if (config->owns_process)
        stop_signals_watch(&v->signals, &v->loop, on_signal, v);
    if (v->qoe && (v->events || !events) && v->show && v->done && v->commands && v->quit &&
        v->comparison && v->audio && (v->recording || !options->record) && v->tick && v->duration) {
        audio_session_record(v->audio, v->recording);
        return v;
    }
    log_error("cannot set up the player: out of memory");
    viewing_free(v);
    return NULL;
}

struct display_config viewing_display_config(struct viewing *v)
{
    struct display_config config = {.queue = v->show,
                                    .full_screen = v->options->full_screen,
                                    .on_shown = on_shown,
                                    .shown_ctx = v};
    commands_connect(v->commands, &config);
    return config;
}

int viewing_start(struct viewing *v, struct display *display)
{
    usec_t now = clock_now();
    v->ui = ui_feed_new(
        &(struct ui_feed_config){.options = v->options, .display = display, .qoe = v->qoe});
    struct connections_config config = {.loop = &v->loop,
                                        .options = v->options,
                                        .raw = v->raw,
                                        .qoe = v->qoe,
                                        .events = v->events,
                                        .display = display,
                                        .show = v->show,
                                        .audio = v->audio,
                                        .comparison = v->comparison,
                                        .recording = v->recording,
                                        .list = v->config.list,
                                        .on_done = post_done,
                                        .ops = &connections_ops,
                                        .ctx = v};
    if (!v->ui || !(v->connections = connections_new(&config, now))) {
        log_error("cannot connect: out of memory");
        return ERR_IO;
    }
    ui_feed_toast(v->ui, "? or a right click: all keys");
    v->next_tick = now + TICK;
    timer_set(v->tick, v->next_tick);
    // Signals are processed on the loop's thread; libuv's handler only writes to a pipe, so any
    // thread may run it.
    if (pthread_create(&v->thread, NULL, run, v) != 0) {
        log_error("cannot start a thread");
        return ERR_IO;
    }
    return 0;
}

void viewing_fail(struct viewing *v)
{
    commands_post(v->commands, &(struct command){.kind = COMMAND_FAILED});
}

void viewing_post(struct viewing *v, const struct command *c)
{
    commands_post(v->commands, c);
}

void viewing_quit(struct viewing *v)
{
    (void)mailbox_post(v->quit, v);
}

static void report_cpu(struct viewing *v)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    struct qoe_cpu e = {.user = (double)use.ru_utime.tv_sec + (double)use.ru_utime.tv_usec / 1e6,
                        .system = (double)use.ru_stime.tv_sec + (double)use.ru_stime.tv_usec / 1e6,
                        .max_rss = (double)use.ru_maxrss * 1024};
    qoe_on_cpu(v->qoe, &e);
}

int viewing_finish(struct viewing *v)
{
    pthread_join(v->thread, NULL);
    // The loop thread has ended. Results that display and comparison have posted are still
    // processed.
    comparison_finish(v->comparison, clock_now() + COMPARE_GRACE);
    uv_run(&v->loop, UV_RUN_NOWAIT);
    report_cpu(v);
    audio_session_read(v->audio, v->qoe);
    const char *error = v->error[0] ? v->error : NULL;
    struct qoe_media_edge lost = {.captured = QOE_UNKNOWN, .shown = v->over_at};
    if (v->ended == QOE_SERVER_LOST || reconnect_is_lost(connections_reconnect(v->connections)))
        trace_missed(v->events, qoe_on_live_begin(v->qoe, &lost), v->over_at);
    trace_freeze(v->events, qoe_on_ended(v->qoe, v->ended, error, v->over_at), v->over_at);
    trace_ended(v->events, v->ended, error, v->over_at);

    qoe_read(v->qoe, &v->report, v->over_at);
    resume_notes_save(v->resume);
    int err = output_files_write(v->options, &v->report, comparison_sheet(v->comparison),
                                 connections_last_picture(v->connections));
    if (stream_recording_finish(v->recording, clock_now()) != 0)
        err = ERR_IO;
    if (trace_free(v->events) != 0)
        err = ERR_IO;
    v->events = NULL;
    return err && v->exit_code == EXIT_ENDED ? EXIT_INTERNAL : v->exit_code;
}

const struct qoe_json *viewing_report(const struct viewing *v)
{
    return &v->report;
}

void viewing_free(struct viewing *v)
{
    if (!v)
        return;
    if (v->show)
        render_queue_close(v->show);
    comparison_free(v->comparison);
    connections_free(v->connections);
    audio_session_free(v->audio);
    stream_recording_free(v->recording, clock_now());
    mtp_raw_receiver_free(v->raw);
    ui_feed_free(v->ui);
    resume_notes_free(v->resume);
    commands_free(v->commands);
    mailbox_free(v->quit);
    timer_free(v->tick);
    timer_free(v->duration);
    mailbox_free(v->done);
    if (v->config.owns_process)
        stop_signals_close(&v->signals);
    uv_run(&v->loop, UV_RUN_DEFAULT);
    int err = uv_loop_close(&v->loop);
    assert(err == 0); // every handle was closed by its owner
    (void)err;
    render_queue_free(v->show);
    trace_free(v->events);
    qoe_free(v->qoe);
    free(v);
}
