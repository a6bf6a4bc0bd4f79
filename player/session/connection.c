// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/connection.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "client/session/remote_stream.h"
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "common/net/clock.h"
#include "common/net/raw_tcp.h"
#include "common/net/timer.h"
#include "player/policy/level_choice.h"
#include "player/policy/machine_limit.h"
#include "player/policy/media_silence.h"
#include "player/policy/playout_notice.h"
#include "player/policy/subtitles.h"
#include "player/session/abr_session.h"
#include "player/session/goddard_session.h"
#include "player/session/path_stats.h"
#include "player/session/stream_description.h"
#include "player/session/stream_player.h"
#include "stream/video/video_pipeline.h"

#define STEP_TIME    USEC_PER_SEC          // without a picture for so long a step ends
#define BYE_GRACE    (200 * USEC_PER_MSEC) // datagrams sent before the BYE may arrive after it
#define LAST_PACKETS (3 * USEC_PER_SEC)    // without a packet, what is missing after a BYE is lost
enum { MIN_SHARE_CHANGE_MS = 10 };         // of the sender's share of the latency
static const usec_t OLD_SOUND = 3 * USEC_PER_SEC; // of a track that is not heard any more, at most
enum { MIN_PLAYOUT_MS = 20 };                     // that the server takes

struct connection {
    struct connection_config config;
    bool listed;                  // on_listed follows
    struct remote_stream *remote; // these are owned
    struct rtsp_link *link;       // of `remote`; NULL: hung up
    struct stream_player *stream; // NULL: not described yet
    struct level_policy *policy;  // NULL: not wanted
    struct path_stats *path;
    struct timer *bye;
    usec_t bye_at;        // the end was told, or a packet came after that
    uint64_t bye_packets; // that had come then
    struct sdp sdp;
    struct playout_notice playout;
    int sender_ms; // the sender's share of the latency, as requested last; 0: not yet
    char transport[TRANSPORT_MAX_NAME];
    bool datagram;
    bool pairs; // packet pairs can be requested to measure the path
    struct level_choice level;
    struct machine_limit machine;
    enum phase {
        CONNECTING, // up to the response to PLAY
        PLAYING,
        ENDED,     // no media follows: BYE arrived, or the server was lost. A seek may start it
                   // again
        ABANDONED, // ENDED for good: another connection follows
    } phase;
    bool stopped;             // the viewing is over, or another connection is shown
    bool has_shown;           // a picture
    struct trace_steps steps; // of the channel
    usec_t stepping;          // one picture on, until then at most; 0: no
    usec_t resumed_at;        // when the viewer ended a pause; 0: a picture was shown since
    struct media_silence silence;
    struct media_progress progress;
    struct seek seek;
    struct subtitles subtitles;
    struct rewind rewind; // of live media
    char refusal[128];    // why the description cannot be played
};

// Returns true if this connection delivers no media: it has ended for good, or has not started
// again.
static bool is_away(const struct connection *c)
{
    return c->phase == ABANDONED ||
           ((c->config.again || c->config.channel || c->config.holds_on) && c->phase == CONNECTING);
}

// The stream must be described.
static struct video_receiver *receiver(const struct connection *c)
{
    return stream_receiver_video(remote_stream_media(c->remote));
}

// Returns NULL if the stream is not described yet, or has packets without frames.
static struct video_player *video(const struct connection *c)
{
    return c->stream ? stream_player_video(c->stream) : NULL;
}

static const struct playout *playout(const struct connection *c)
{
    return video(c) ? video_pipeline_playout(video_player_pipeline(video(c))) : NULL;
}

static bool is_paused(const struct connection *c)
{
    return playout(c) && playout_paused(playout(c));
}

// Returns true if the viewer has paused, also while a seek within the pause waits for its picture.
static bool rests(const struct connection *c)
{
    return is_paused(c) || (playout(c) && playout_holds(playout(c)));
}

// Returns the number of the newest frame; -1: none yet.
static int64_t arrived_frame(const struct connection *c)
{
    return video(c) ? video_pipeline_arrived(video_player_pipeline(video(c))) : -1;
}

static void set_ended(struct connection *c, enum phase phase)
{
    c->phase = phase;
    level_policy_end(c->policy);
}

// ---- From the stream's player ----

static void on_level(void *ctx, int level, usec_t now)
{
    struct connection *c = ctx;
    struct level_switch s;
    bool is_slow = video_pipeline_sender_is_slow(video_player_pipeline(video(c)));
    if (!level_choice_arrived(&c->level, level, is_slow ? "sender" : "network", &s))
        return;
    struct qoe_switch e = {.from = s.from, .to = s.to, .why = s.reason};
    qoe_on_switch(c->config.qoe, &e, now);
    trace_level(c->config.events, &e, now);
}

static void on_started(void *ctx, usec_t now)
{
    struct connection *c = ctx;
    c->config.ops->on_started(c->config.ctx, now);
}

static void on_bye(void *ctx, usec_t now)
{
    struct connection *c = ctx;
    if (c->phase == ABANDONED || c->phase == ENDED) // the sender repeats it
        return;
    audio_session_end(c->config.audio);
    timer_set(c->bye, c->datagram ? now + BYE_GRACE : now);
    c->bye_at = now;
    c->bye_packets = stream_player_packets(c->stream);
    if (c->phase == PLAYING)
        set_ended(c, ENDED);
}

// Returns true if packets that left before the BYE are still requested and may come.
static bool lacks_last(struct connection *c, usec_t now)
{
    uint64_t packets = stream_player_packets(c->stream);
    if (video_receiver_is_complete(receiver(c)))
        return false;
    if (packets != c->bye_packets)
        c->bye_at = now;
    c->bye_packets = packets;
    return now - c->bye_at < LAST_PACKETS;
}

static void on_drained(void *ctx, usec_t now)
{
    struct connection *c = ctx;
    // Rewind is at the beginning: the film plays on from there.
    if (c->phase == ENDED && !c->stopped && c->link && c->seek.scale < 0 &&
        connection_scale(c, 1, now) == SEEK_WANTED)
        return;
    c->config.ops->on_drained(c->config.ctx, now);
}

static const struct stream_player_ops stream_ops = {
    .on_level = on_level, .on_started = on_started, .on_bye = on_bye, .on_drained = on_drained};

static void on_bye_time(void *ctx, usec_t now)
{
    struct connection *c = ctx;
    if (c->stopped || c->phase == ABANDONED)
        return;
    if (lacks_last(c, now)) {
        timer_set(c->bye, now + BYE_GRACE);
        return;
    }
    // Live media has no end of its own: its BYE means that the server ended.
    bool early = c->sdp.duration < 0 || seek_is_early(&c->seek, arrived_frame(c));
    if (early && c->config.ops->on_lost(c->config.ctx, "the server has ended", now)) {
        c->phase = ABANDONED; // the link still exists and may receive more, which is ignored
        return;
    }
    if (early && c->sdp.duration >= 0)
        c->config.ops->on_gone(c->config.ctx, "the server ended before the end of the film", now);
    else if (video(c))
        video_player_end(video(c), now);
    else
        c->config.ops->on_drained(c->config.ctx, now);
}

static void note_shown(struct connection *c, const struct play_frame *f, usec_t now)
{
    usec_t at = f->shown_at;
    if (!c->has_shown && c->config.asked) {
        usec_t wait = at - c->config.asked;
        c->steps.packet = stream_player_first_packet(c->stream);
        c->steps.complete = f->last_arrived;
        c->steps.decoded = f->decoded_at;
        c->steps.shown = at;
        qoe_on_channel_shown(c->config.qoe, wait);
        trace_channel_shown(c->config.events, c->config.channel, &c->steps, now);
        log_debug("channel %d took %.0f ms", c->config.channel, usec_to_msec(wait));
    }
    c->has_shown = true;
    if (c->resumed_at && at >= c->resumed_at) {
        trace_resume(c->config.events, at - c->resumed_at, now);
        c->resumed_at = 0;
    }
}

// The first picture after a seek or a change of the scale was shown.
static void note_sought(struct connection *c, usec_t wait, usec_t now)
{
    if (c->seek.scales) {
        qoe_on_control_shown(c->config.qoe, QOE_CONTROL_SCALE, wait);
        trace_scale(c->config.events, c->seek.scale, seek_position(&c->seek), wait, now);
        log_debug("scale %g took %.0f ms", c->seek.scale, usec_to_msec(wait));
    } else {
        qoe_on_seek_shown(c->config.qoe, wait);
        trace_seek(c->config.events, c->seek.to, wait, now);
        log_debug("seek to %.3f s took %.0f ms", c->seek.to, usec_to_msec(wait));
    }
}

void connection_done(struct connection *c, struct play_frame *f, usec_t now)
{
    if (f->session != c->config.number) { // the frame belongs to an earlier connection
        play_frame_free(f);
        return;
    }
    usec_t wait;
    if (f->fate == FATE_SHOWN)
        note_shown(c, f, now);
    if (f->fate == FATE_SHOWN &&
        seek_shown(&c->seek, f->number, f->shown_at, is_paused(c), &wait)) {
        note_sought(c, wait, now);
    }
    if (f->fate == FATE_SHOWN && rewind_shown(&c->rewind, f->number, f->shown_at, &wait)) {
        qoe_on_seek_shown(c->config.qoe, wait);
        trace_seek(c->config.events, -c->rewind.behind, wait, now);
        log_debug("going to %.3f s before the present took %.0f ms", c->rewind.behind,
                  usec_to_msec(wait));
    }
    if (f->fate == FATE_SHOWN && c->stepping && !is_paused(c)) {
        c->stepping = 0;
        video_player_step_end(video(c), now);
    }
    video_player_done(video(c), f, now);
}

// ---- The stream is described: its player and policy ----

static bool open_stream(struct connection *c)
{
    struct stream_player_config config = {.loop = c->config.loop,
                                          .options = c->config.options,
                                          .remote = c->remote,
                                          .sdp = &c->sdp,
                                          .qoe = c->config.qoe,
                                          .events = c->config.events,
                                          .show = c->config.show,
                                          .audio = c->config.audio,
                                          .comparison = c->config.comparison,
                                          .recording = c->config.recording,
                                          .policy = c->policy,
                                          .level = c->config.again ? -1 : c->level.level,
                                          .at_once = c->config.asked,
                                          .session = c->config.number,
                                          .on_done = c->config.on_done,
                                          .done_ctx = c->config.done_ctx,
                                          .ops = &stream_ops,
                                          .ctx = c};
    c->stream = stream_player_new(&config);
    return c->stream;
}

static bool choose_level(void *ctx, int level, const char *reason)
{
    struct connection *c = ctx;
    bool other = level != c->level.requested;
    if (other)
        level_choice_request(&c->level, level, reason);
    return other;
}

// ---- The policy of a film

static bool read_buffer(void *ctx, struct abr_buffer *out)
{
    const struct connection *c = ctx;
    const struct playout *p = playout(c);
    *out = (struct abr_buffer){.number = -1};
    if (!p)
        return false;
    enum playout_mode mode = playout_mode(p);
    *out = (struct abr_buffer){.number = playout_awaited(p),
                               .media = playout_held(p),
                               .bytes = playout_held_bytes(p),
                               .frames = playout_held_frames(p),
                               .playing = mode == PLAYOUT_PLAYING};
    return mode == PLAYOUT_REBUFFERING;
}

static void resume_stalled(void *ctx, usec_t media, usec_t now)
{
    struct connection *c = ctx;
    video_player_resume_at(video(c), media, now);
}

static void print_policy(void *ctx)
{
    const struct connection *c = ctx;
    char text[LEVEL_POLICY_TEXT];
    level_policy_text(c->policy, text);
    log_info("%s", text);
    if (c->config.options->headless && !c->config.options->quiet)
        fprintf(stderr, "weir-play: %s\n", text);
}

static bool open_policy(struct connection *c, const char *name)
{
    static const struct abr_session_ops ops = {.choose_level = choose_level,
                                               .read_buffer = read_buffer,
                                               .resume = resume_stalled,
                                               .on_news = print_policy};
    const struct play_options *o = c->config.options;
    struct goddard_session_config goddard = {.loop = c->config.loop,
                                             .link = c->link,
                                             .ladder = &c->sdp.ladder,
                                             .params = &o->goddard,
                                             .qoe = c->config.qoe,
                                             .events = c->config.events,
                                             .choose_level = choose_level,
                                             .ctx = c};
    struct abr_session_config abr = {.loop = c->config.loop,
                                     .link = c->link,
                                     .sdp = &c->sdp,
                                     .policy = name,
                                     .level = o->level,
                                     .target = play_options_buffer_target(o),
                                     .qoe = c->config.qoe,
                                     .events = c->config.events,
                                     .ops = &ops,
                                     .ctx = c};
    c->policy = o->adapt == ADAPT_GODDARD ? goddard_session_new(&goddard) : abr_session_new(&abr);
    return c->policy;
}

static bool may_set_speed(const struct connection *c)
{
    return c->seek.possible && c->link && server_dialect_of(&c->sdp)->knows_weir_parameters &&
           c->config.options->adapt != ADAPT_GODDARD;
}

// A policy chooses how fast the sender is; without one it is as fast as playing.
static void send_speed(struct connection *c, usec_t now)
{
    if (!c->policy && c->phase == PLAYING && c->seek.scale == 1)
        rtsp_client_set_speed(rtsp_link_client(c->link), c->config.options->speed, now);
}

static void apply_speed(struct connection *c, usec_t now)
{
    double speed = c->config.options->speed;
    video_player_set_speed(video(c), speed, now);
    level_policy_pace(c->policy, speed, now);
    send_speed(c, now);
}

static bool on_described(void *ctx, const struct sdp *sdp, const char **why, usec_t now)
{
    struct connection *c = ctx;
    struct play_options *o = c->config.options;
    c->config.ops->on_described(c->config.ctx, sdp, now);
    c->steps.described = now;
    c->sdp = *sdp;
    if ((c->config.again || c->config.channel) && o->level >= c->sdp.ladder.level_count)
        o->level = c->sdp.ladder.level_count - 1;
    *why = stream_description_refuse(&c->sdp, o, !c->config.display->list_only, c->refusal,
                                     sizeof(c->refusal));
    if (*why)
        return false;
    const char *policy = play_options_policy(o, &c->sdp);
    struct level_start start = {.top = c->sdp.ladder.level_count - 1,
                                .wanted = o->level,
                                .policy = policy,
                                .again = c->config.again,
                                .before = c->config.level};
    level_choice_begin(&c->level, &start);
    machine_limit_init(&c->machine, clock_now());
    *why = "out of memory or threads";
    if ((policy && !open_policy(c, policy)) || !open_stream(c))
        return false;
    if (policy) // of a film's frames none is left out
        rtsp_client_control(rtsp_link_client(c->link),
                            o->adapt == ADAPT_GODDARD ? play_options_latency_ms(o, false) : 0);
    if (o->audio_track && o->audio_track <= c->sdp.audio_track_count)
        rtsp_client_set_audio_track(rtsp_link_client(c->link), o->audio_track, now);
    else if (o->audio_track)
        log_warn("--audio-track %d is ignored: the stream has %d to choose from", o->audio_track,
                 c->sdp.audio_track_count);
    if (o->subtitles > c->sdp.subtitle_count)
        log_warn("--subtitles %d is ignored: the stream has %d to choose from", o->subtitles,
                 c->sdp.subtitle_count);
    bool movable = c->sdp.duration >= 0 && video(c);
    seek_init(&c->seek, movable, fps_value(c->sdp.ladder.source_fps), c->sdp.duration);
    if (o->speed != 1 && may_set_speed(c))
        apply_speed(c, now);
    return true;
}

// ---- From the link: the session ----

static void on_connected(void *ctx, usec_t now)
{
    struct connection *c = ctx;
    c->steps.requested = now;
    qoe_on_connected(c->config.qoe, now);
}

static void on_list(void *ctx, struct text list, usec_t now)
{
    struct connection *c = ctx;
    (void)now;
    c->listed = c->config.ops->on_list(c->config.ctx, list);
    if (!c->listed && c->config.list)
        stream_description_print_list(list, c->config.list);
}

// Logs if a transport was preferred that this program may not use.
static void report_raw_missing(const struct connection *c)
{
    const struct transport_list *list = &c->config.options->transports;
    const struct transport_kind *taken, *kind;
    const char *params;
    if (c->config.raw || !server_dialect_of(&c->sdp)->knows_weir_transports ||
        transport_find(c->transport, &taken, &params) != 0)
        return;
    for (int i = 0; i < list->count && transport_find(list->names[i], &kind, &params) == 0; i++) {
        if (kind == taken)
            return;
        if (kind->needs_raw) {
            log_warn("transport %s is not possible: " RAW_TCP_REMEDY, list->names[i]);
            return;
        }
    }
}

static void set_repair(struct connection *c, usec_t now)
{
    struct video_repair repair = {.datagram = c->datagram,
                                  .wanted = c->config.options->repair,
                                  .agreed = remote_stream_repair(c->remote)};
    if (stream_player_set_repair(c->stream, &repair) != 0)
        log_warn("lost packets are not repaired: out of memory");
    stream_player_set_rtt(c->stream, path_stats_rtt(c->path), now);
    log_debug("repair of lost packets: the viewer's %s, the server's %s",
              repair_mode_name(repair.wanted), repair_mode_name(repair.agreed));
}

static void on_setup(void *ctx, const struct rtsp_client_setup *setup, usec_t now)
{
    struct connection *c = ctx;
    const struct play_options *o = c->config.options;
    snprintf(c->transport, sizeof(c->transport), "%s", setup->transport);
    c->datagram = setup->datagram;
    c->pairs = setup->pairs;
    path_stats_setup(c->path, setup->datagram, setup->rtt, now);
    set_repair(c, now);
    char source[STREAM_DESCRIPTION_TEXT];
    stream_description_source(&c->sdp, source);
    struct qoe_setup e = {.transport = c->transport,
                          .why = setup->why,
                          .source = source,
                          .via = c->sdp.via,
                          .ladder = &c->sdp.ladder,
                          .frames = sdp_has_frames(&c->sdp)};
    qoe_on_setup(c->config.qoe, &e, now);
    if (c->config.again) {
        qoe_on_reconnect(c->config.qoe);
    } else {
        if (c->config.asked)
            qoe_on_channel_open(c->config.qoe);
        if (*c->sdp.other_audio && !o->no_audio)
            log_warn("audio codec %s is not supported (only Opus); playing without audio",
                     c->sdp.other_audio);
        report_raw_missing(c);
    }
    const struct ladder *l = &c->sdp.ladder;
    if (sdp_has_pictures(&c->sdp)) // other servers reveal the size only with the first picture
        c->config.display->ops->expect(c->config.display,
                                       l->source_width > 0 ? l->source_width : 640,
                                       l->source_height > 0 ? l->source_height : 360);
    trace_connected(c->config.events, o->url.text, c->transport, setup->why, now);
    if (video(c))
        trace_mode(c->config.events, "buffering", now);
    log_info("playing %s by %s%s%s", source, c->transport, *setup->why ? ": " : "", setup->why);
    // Without a window nothing else shows that it works, until the summary at the end.
    if (o->headless && !o->quiet && !c->config.again && isatty(STDERR_FILENO)) {
        char clean[STREAM_DESCRIPTION_TEXT];
        utf8_copy(source, clean, sizeof(clean));
        fprintf(stderr, "weir-play: playing %s over %s, without a window: Ctrl-C ends it\n", clean,
                c->transport);
    }
}

// Live media moves beside the connection, or back to it, or to another address. What the panel and
// the window show follows.
static void on_moved(void *ctx, const struct rtsp_client_setup *setup, usec_t now)
{
    struct connection *c = ctx;
    snprintf(c->transport, sizeof(c->transport), "%s", setup->transport);
    c->datagram = setup->datagram;
    path_stats_moved(c->path, setup->datagram);
    set_repair(c, now);
    qoe_on_moved(c->config.qoe, c->transport, setup->why, now);
    trace_moved(c->config.events, c->transport, setup->why, now);
    log_info("media comes over %s from now on: %s", c->transport, setup->why);
}

static void on_audio(void *ctx)
{
    struct connection *c = ctx;
    audio_session_open(c->config.audio, remote_stream_media(c->remote));
}

static void on_ready(void *ctx, usec_t now)
{
    struct connection *c = ctx;
    struct level_policy_path path = {
        .transport = c->transport, .pairs = c->pairs, .rtt = path_stats_rtt(c->path)};
    level_policy_ready(c->policy, &path, now);
}

// The server refused the seek. As the link ends a pause at every seek, this restores the state that
// the viewer sees: paused or playing.
static void stay(struct connection *c, usec_t now)
{
    seek_refused(&c->seek);
    rewind_refused(&c->rewind);
    if (is_paused(c))
        rtsp_client_pause(rtsp_link_client(c->link), now);
    else
        rtsp_client_resume(rtsp_link_client(c->link), now);
}

// Live media: the server may have its past.
static void on_live_placed(struct connection *c, const struct rtsp_client_place *place, usec_t now)
{
    struct rewind_place at = {.kept = place->back,
                              .behind = place->behind,
                              .first = place->first,
                              .sought = place->sought};
    bool jumps = rewind_placed(&c->rewind, &at);
    c->config.options->start = -(usec_t)(place->behind * 1e6); // of the next connection
    if (!jumps)
        return;
    timer_set(c->bye, USEC_NEVER);
    trace_freeze(c->config.events,
                 place->sought ? qoe_on_seek(c->config.qoe, place->show, now)
                               : qoe_on_rebuffer(c->config.qoe, now),
                 now);
    video_player_seek(video(c), place->first, place->show, false, now);
}

static void place_policy(struct connection *c, const struct rtsp_client_place *place, bool jumps,
                         usec_t now)
{
    const struct level_policy_position at = {.show = place->show,
                                             .seconds = place->seconds,
                                             .scale = place->scale,
                                             .speed = place->speed,
                                             .until = place->until,
                                             .jumps = jumps};
    level_policy_place(c->policy, &at, now);
}

static void on_placed(struct connection *c, const struct rtsp_client_place *place, usec_t now)
{
    if (c->sdp.duration < 0 && video(c)) {
        on_live_placed(c, place, now);
        return;
    }
    struct seek_place at = {.seconds = place->seconds,
                            .first = place->first,
                            .show = place->show,
                            .sought = place->sought,
                            .paused = place->paused,
                            .scale = place->scale,
                            .awaited = playout(c) ? playout_awaited(playout(c)) : -1};
    enum seek_answer answer = seek_placed(&c->seek, &at, arrived_frame(c));
    stream_player_begin(c->stream, place->seq, answer == SEEK_JUMPS, now);
    switch (answer) {
    case SEEK_NOT_PLACED:
        if (!place->sought) {
            place_policy(c, place, false, now);
            return;
        }
        if (server_dialect_of(&c->sdp)->shares_files)
            log_warn("the server refused the seek: other viewers watch the same stream");
        stay(c, now);
        return;
    case SEEK_CONTINUES:
        place_policy(c, place, false, now);
        return;
    case SEEK_JUMPS:
        timer_set(c->bye, USEC_NEVER);
        trace_freeze(c->config.events,
                     !place->sought   ? qoe_on_rebuffer(c->config.qoe, now)
                     : c->seek.scales ? qoe_on_control(c->config.qoe, place->show, now)
                                      : qoe_on_seek(c->config.qoe, place->show, now),
                     now);
        if (place->sought && place->scale != c->seek.wanted_scale)
            log_warn("the server plays this film at scale %g, not %g", place->scale,
                     c->seek.wanted_scale);
        c->seek.wanted_scale = place->scale;
        video_player_set_scale(video(c), fabs(place->scale), now);
        video_player_seek(video(c), place->first, place->show, place->sought && place->ahead, now);
        place_policy(c, place, true, now);
        return;
    }
}

static void on_playing(void *ctx, const struct rtsp_client_place *place, usec_t now)
{
    struct connection *c = ctx;
    if (c->phase == ABANDONED)
        return;
    bool again = is_away(c);
    c->phase = PLAYING;
    if (!c->steps.played)
        c->steps.played = now;
    media_progress_begin(&c->progress, now);
    media_silence_begin(&c->silence, stream_player_packets(c->stream), now);
    on_placed(c, place, now);
    if (may_set_speed(c))
        send_speed(c, now);
    c->config.ops->on_playing(c->config.ctx, now);
    if (again && seek_again(&c->seek))
        rtsp_client_seek(rtsp_link_client(c->link), c->seek.to, now);
}

static void on_film_table(void *ctx, struct film_table *table, usec_t now)
{
    struct connection *c = ctx;
    level_policy_table(c->policy, table, now);
}

static void on_pair(void *ctx, const struct capacity_packet *packet, size_t bytes, usec_t arrived,
                    usec_t now)
{
    struct connection *c = ctx;
    level_policy_pair(c->policy, packet, bytes, arrived, now);
}

static void on_pair_refused(void *ctx, usec_t now)
{
    struct connection *c = ctx;
    log_warn("the server refused packet pairs: the capacity is not measured with them");
    level_policy_no_pair(c->policy, now);
}

static void on_answer(void *ctx, const struct rtsp_client_answer *a, usec_t now)
{
    struct connection *c = ctx;
    path_stats_answer(c->path, a, now);
    stream_player_set_rtt(c->stream, path_stats_rtt(c->path), now);
    level_policy_rtt(c->policy, path_stats_rtt(c->path));
    if (a->params.has_clock)
        stream_player_clock_sample(c->stream, a->asked_wall, a->params.sender_wall,
                                   a->received_wall);
}

// The frames show an accepted level when they arrive: on_level.
static void on_level_answer(void *ctx, int level, bool accepted, usec_t now)
{
    struct connection *c = ctx;
    (void)now;
    if (accepted)
        return;
    log_warn("the server refused level %d", level);
    level_choice_refused(&c->level);
}

static void on_values(void *ctx, struct text body, usec_t now)
{
    struct connection *c = ctx;
    (void)now;
    subtitles_received(&c->subtitles, body);
}

static void on_pause_refused(void *ctx, usec_t now)
{
    (void)ctx;
    (void)now;
    log_warn("the server refused to pause: media that arrives during the pause is not shown");
}

static void on_seek_refused(void *ctx, usec_t now)
{
    stay(ctx, now);
}

static void on_link_end(void *ctx, enum rtsp_client_end end, const char *text, usec_t now)
{
    struct connection *c = ctx;
    const struct connection_ops *ops = c->config.ops;
    // otherwise a BYE has ended the media already
    bool expected = c->phase == PLAYING || is_away(c);
    if (end == RTSP_CLIENT_LEFT) {
        ops->on_left(c->config.ctx, now);
        return;
    }
    if (c->phase == ABANDONED)
        return;
    if ((end == RTSP_CLIENT_LOST || end == RTSP_CLIENT_REFUSED) && expected &&
        ops->on_lost(c->config.ctx, text, now))
        return;
    switch (end) {
    case RTSP_CLIENT_REFUSED:
        ops->on_end(c->config.ctx, QOE_ERROR, EXIT_REFUSED, text, now);
        return;
    case RTSP_CLIENT_INTERNAL:
        ops->on_end(c->config.ctx, QOE_ERROR, EXIT_INTERNAL, text, now);
        return;
    case RTSP_CLIENT_LOST:
        if (c->phase == PLAYING)
            ops->on_gone(c->config.ctx, text, now);
        return;
    case RTSP_CLIENT_LISTED:
        if (c->listed) {
            ops->on_listed(c->config.ctx, now);
            return;
        }
        if (c->config.channel && ops->on_lost(c->config.ctx, "the URL names a folder", now))
            return;
        if (c->config.list)
            ops->on_end(c->config.ctx, QOE_END_OF_MEDIA, EXIT_ENDED, NULL, now);
        else
            ops->on_end(c->config.ctx, QOE_ERROR, EXIT_REFUSED,
                        "the URL names a folder: add the name of a stream in it", now);
        return;
    case RTSP_CLIENT_LEFT:
        return;
    }
}

static void on_start(void *ctx, struct rtsp_client_start *out)
{
    const struct play_options *o = ((const struct connection *)ctx)->config.options;
    *out = (struct rtsp_client_start){.level = o->level, .start = o->start};
}

static const struct rtsp_link_ops link_ops = {.rtsp = {.on_connected = on_connected,
                                                       .on_described = on_described,
                                                       .on_list = on_list,
                                                       .on_setup = on_setup,
                                                       .on_moved = on_moved,
                                                       .on_audio = on_audio,
                                                       .on_start = on_start,
                                                       .on_ready = on_ready,
                                                       .on_playing = on_playing,
                                                       .on_answer = on_answer,
                                                       .on_pair_refused = on_pair_refused,
                                                       .on_values = on_values,
                                                       .on_level = on_level_answer,
                                                       .on_pause_refused = on_pause_refused,
                                                       .on_seek_refused = on_seek_refused,
                                                       .on_end = on_link_end},
                                              .on_film_table = on_film_table,
                                              .on_pair = on_pair};

// ---- Periodic checks ----

// A weir-send notices after 10 s that its source is silent, and says so. The player waits for that.
#define WORD_OF_SOURCE (3 * USEC_PER_SEC)

// Ends the connection if no media arrives: a server may respond to every request and still send
// nothing. While it says that its source is away, none is due.
static void check_silence(struct connection *c, usec_t now)
{
    const char *why;
    bool sends = path_stats_source_away(c->path, &why, now) < 0;
    bool due = c->phase == PLAYING && !is_paused(c) && sends;
    usec_t silent = media_silence_look(&c->silence, stream_player_packets(c->stream), due, now);
    usec_t limit = rtsp_client_silence_limit(rtsp_link_client(c->link));
    if (!c->config.options->timeout && !sdp_is_third_party(&c->sdp))
        limit += WORD_OF_SOURCE;
    // A film plays from its buffer; the network may be there again before that is empty.
    bool patient = c->sdp.duration >= 0 && video(c) && playout_held(playout(c)) > 0;
    rtsp_client_set_patient(rtsp_link_client(c->link), patient);
    if (silent < limit || patient)
        return;
    if (!c->silence.received)
        c->config.ops->on_idle(c->config.ctx);
    char reason[160];
    snprintf(reason, sizeof(reason), "the server answers, but %s for %d s%s",
             c->datagram ? "no media arrives" : "sends no media", (int)(limit / USEC_PER_SEC),
             c->datagram ? ": UDP may be blocked (try --transport minbuf)" : "");
    rtsp_link_give_up(c->link, reason, now);
}

static void check_progress(struct connection *c, usec_t now)
{
    struct media_progress_facts f = stream_player_progress(c->stream);
    f.level = c->level.requested;
    switch (media_progress_check(&c->progress, &f, now)) {
    case MEDIA_PROGRESS_FINE:
        return;
    case MEDIA_PROGRESS_NO_PACKET:
        log_warn("no media received for %d s%s", (int)(MEDIA_PROGRESS_QUIET / USEC_PER_SEC),
                 c->datagram ? "; UDP may be blocked: try --transport minbuf" : "");
        return;
    case MEDIA_PROGRESS_NO_PICTURE:
        c->config.ops->on_end(c->config.ctx, QOE_ERROR, EXIT_UNDECODABLE,
                              "the stream cannot be decoded: no picture within 10 s of media", now);
        return;
    }
}

// The wait from capture to shown that the viewer aims at; 0: none, or not known.
static usec_t playout_target(const struct connection *c)
{
    const struct play_options *o = c->config.options;
    if (!video(c) || c->sdp.duration >= 0 || !c->datagram)
        return 0;
    if (o->low_latency)
        return PLAY_OPTIONS_LOW_LATENCY_MS * USEC_PER_MSEC;
    usec_t target = video_pipeline_target(video_player_pipeline(video(c)));
    return target ? usec_max(target, MIN_PLAYOUT_MS * USEC_PER_MSEC) : 0;
}

// Tells the sender until when lost packets are of use.
static void tell_playout(struct connection *c, usec_t now)
{
    int ms = playout_notice_due(&c->playout, playout_target(c), now);
    if (!ms)
        return;
    rtsp_client_set_playout(rtsp_link_client(c->link), ms, now);
    log_debug("told the sender: frames are shown %d ms after their capture", ms);
}

// Requests the sender's share of the latency if it has changed by more than a tenth.
static void request_share(struct connection *c, usec_t now)
{
    if (!video(c))
        return;
    usec_t share = video_pipeline_sender_share(video_player_pipeline(video(c)));
    int ms = (int)(share / USEC_PER_MSEC);
    int change = abs(ms - c->sender_ms);
    if (!ms || change < MIN_SHARE_CHANGE_MS || change * 10 < c->sender_ms)
        return;
    c->sender_ms = ms;
    rtsp_client_set_latency(rtsp_link_client(c->link), ms, now);
    log_debug("requested of the sender: a frame waits there for %d ms at most", ms);
}

static bool may_set_level(const struct connection *c)
{
    return c->phase == PLAYING && c->config.options->adapt != ADAPT_GODDARD &&
           c->sdp.ladder.level_count > 0;
}

// The sender adapts live media up to the level that is requested.
static bool may_adapt(const struct connection *c)
{
    return !c->policy && c->config.options->adapt != ADAPT_NONE && c->sdp.duration < 0;
}

static void limit_to_machine(struct connection *c, usec_t now)
{
    if (!c->link || !video(c) || !may_set_level(c) || !may_adapt(c) || is_paused(c) ||
        c->config.options->keep_levels)
        return;
    const struct frame_totals *t = video_pipeline_totals(video_player_pipeline(video(c)));
    int top = c->sdp.ladder.level_count - 1, given = c->config.options->level;
    struct machine_limit_sample s = {.level = c->level.level,
                                     .wanted = given >= 0 && given < top ? given : top,
                                     .shown = t->shown,
                                     .missed = t->by_root[CAUSE_DISPLAY]};
    bool was_limited = c->machine.limit >= 0;
    if (!machine_limit_second(&c->machine, &s, now))
        return;
    bool is_limited = c->machine.limit >= 0;
    if (is_limited && !was_limited)
        log_warn("this machine is too slow for level %d: its decoder or display misses frames, and "
                 "a lower level is requested until it keeps up",
                 s.level);
    if (was_limited && !is_limited)
        log_info("this machine keeps up again: level %d is requested", s.wanted);
    int level = is_limited ? c->machine.limit : s.wanted;
    level_choice_request(&c->level, level, "display");
    rtsp_client_set_level(rtsp_link_client(c->link), level, now);
}

void connection_second(struct connection *c, struct qoe_transport *out, usec_t now)
{
    struct video_receiver_stats received;
    stream_player_second(c->stream, &received, now);
    path_stats_second(c->path, &received, out, now);
    request_share(c, now);
    check_progress(c, now);
    limit_to_machine(c, now);
    if (!c->stopped)
        check_silence(c, now);
}

int connection_audio_track(const struct connection *c)
{
    int count = c->sdp.audio_track_count, chosen = c->config.options->audio_track;
    return !count ? 0 : chosen >= 1 && chosen <= count ? chosen : 1;
}

void connection_set_audio_track(struct connection *c, int track, usec_t now)
{
    if (track < 1 || track > c->sdp.audio_track_count || !c->link)
        return;
    c->config.options->audio_track = track; // it outlives a connection
    rtsp_client_set_audio_track(rtsp_link_client(c->link), track, now);
    // What is buffered has the sound of the track before: of a film that may be half a minute.
    double at = seek_position(&c->seek);
    if (c->policy && video(c) && isfinite(at) && playout_held(playout(c)) > OLD_SOUND)
        connection_seek(c, at, now);
}

static void ask_subtitles(struct connection *c, usec_t now)
{
    struct subtitle_request r;
    char line[64], body[66];
    int chosen = c->config.options->subtitles; // it outlives a connection
    subtitles_choose(&c->subtitles,
                     subtitles_track(chosen, c->sdp.subtitle_shown, c->sdp.subtitle_count));
    // Those of what is buffered are requested after the end of the media, too.
    bool plays = c->phase == PLAYING || c->phase == ENDED;
    if (!c->link || !plays || !subtitles_due(&c->subtitles, seek_position(&c->seek), now, &r) ||
        subtitle_request_encode(&r, line, sizeof(line)) < 0)
        return;
    snprintf(body, sizeof(body), "%s\r\n", line);
    if (rtsp_client_ask_values(rtsp_link_client(c->link), body, now))
        subtitles_requested(&c->subtitles, &r, now);
}

void connection_set_subtitles(struct connection *c, int track, usec_t now)
{
    c->config.options->subtitles = track > 0 ? track : -1;
    ask_subtitles(c, now);
}

const struct subtitle_set *connection_subtitles(const struct connection *c)
{
    return c->subtitles.track ? &c->subtitles.set : NULL;
}

void connection_tick(struct connection *c, usec_t now)
{
    ask_subtitles(c, now);
    if (c->link && c->phase == PLAYING)
        tell_playout(c, now);
    if (c->stepping && now >= c->stepping) {
        c->stepping = 0;
        video_player_step_end(video(c), now);
    }
    if (c->link && video(c) && seek_must_pause(&c->seek, is_paused(c), playout_held(playout(c))))
        rtsp_client_pause(rtsp_link_client(c->link), now);
}

// ---- The viewer ----

void connection_set_level(struct connection *c, int level, usec_t now)
{
    if (!may_set_level(c) || !ladder_has_level(&c->sdp.ladder, level))
        return;
    level_policy_release(c->policy, level, now);
    level_choice_request(&c->level, level, "user");
    machine_limit_init(&c->machine, now);
    c->config.options->level = level;
    rtsp_client_set_level(rtsp_link_client(c->link), level, now);
}

// A live stream's encoder follows the network up to the requested level; a stored one needs the
// policy.
static bool may_automatic(const struct connection *c)
{
    bool has_choice = c->policy && c->sdp.ladder.level_count > 1;
    return may_set_level(c) && (has_choice || may_adapt(c));
}

void connection_set_automatic(struct connection *c, usec_t now)
{
    if (!may_automatic(c))
        return;
    int top = c->sdp.ladder.level_count - 1;
    c->config.options->level = -1;
    if (c->policy) {
        level_policy_engage(c->policy, now);
        return;
    }
    level_choice_request(&c->level, top, "user");
    machine_limit_init(&c->machine, now);
    rtsp_client_set_level(rtsp_link_client(c->link), top, now);
}

void connection_pause(struct connection *c, usec_t now)
{
    if (!video(c) || rests(c))
        return;
    video_player_pause(video(c), now);
    level_policy_pause(c->policy, true, now);
    if (c->phase == PLAYING) // otherwise all media was received, and the buffered rest is played
        rtsp_client_pause(rtsp_link_client(c->link), now);
}

void connection_resume(struct connection *c, usec_t now)
{
    c->stepping = 0;
    if (!rests(c))
        return;
    c->resumed_at = now;
    video_player_resume(video(c), now);
    level_policy_pause(c->policy, false, now);
    if (c->phase == PLAYING)
        rtsp_client_resume(rtsp_link_client(c->link), now);
}

bool connection_step(struct connection *c, usec_t now)
{
    if (!video(c) || !is_paused(c) || c->sdp.duration < 0)
        return false;
    if (c->phase == PLAYING && c->link && playout_held(playout(c)) < SEEK_PAUSE_BUFFER) {
        rtsp_client_resume(rtsp_link_client(c->link), now);
        seek_step(&c->seek);
    }
    c->stepping = now + STEP_TIME;
    video_player_step(video(c), now);
    return true;
}

enum seek_request connection_seek(struct connection *c, double seconds, usec_t now)
{
    if (c->stopped) // the position would be one of the next stream
        return SEEK_IMPOSSIBLE;
    enum seek_request answer = seek_to(&c->seek, seconds, now);
    if (answer != SEEK_WANTED)
        return answer;
    if (is_away(c)) // the next connection begins at that position
        c->config.options->start = (usec_t)(c->seek.to * 1e6);
    else
        rtsp_client_seek(rtsp_link_client(c->link), c->seek.to, now);
    return answer;
}

static enum rewind_request request_past(struct connection *c, enum rewind_request answer,
                                        usec_t now)
{
    if (answer == REWIND_WANTED && is_away(c)) // the next connection begins there
        c->config.options->start = -(usec_t)(c->rewind.to * 1e6);
    else if (answer == REWIND_WANTED)
        rtsp_client_seek(rtsp_link_client(c->link), c->rewind.to, now);
    return answer;
}

enum rewind_request connection_rewind_by(struct connection *c, double seconds, usec_t now)
{
    bool possible = !c->stopped && c->link;
    return possible ? request_past(c, rewind_by(&c->rewind, seconds, now), now) : REWIND_IMPOSSIBLE;
}

enum rewind_request connection_rewind_to(struct connection *c, double behind, usec_t now)
{
    bool possible = !c->stopped && c->link;
    return possible ? request_past(c, rewind_to(&c->rewind, behind, now), now) : REWIND_IMPOSSIBLE;
}

enum seek_request connection_scale(struct connection *c, double scale, usec_t now)
{
    if (is_away(c) || !c->link || !server_dialect_of(&c->sdp)->knows_weir_parameters)
        return SEEK_IMPOSSIBLE;
    enum seek_request answer = seek_scale(&c->seek, scale, now);
    if (answer == SEEK_WANTED)
        rtsp_client_scale(rtsp_link_client(c->link), c->seek.to, scale, now);
    return answer;
}

bool connection_set_speed(struct connection *c, double speed, usec_t now)
{
    if (!may_set_speed(c))
        return false;
    c->config.options->speed = speed;
    apply_speed(c, now);
    return true;
}

double connection_scale_by(const struct connection *c, int steps)
{
    return seek_scale_by(&c->seek, steps);
}

double connection_seek_base(const struct connection *c)
{
    return seek_base(&c->seek);
}

void connection_policy(const struct connection *c, char out[LEVEL_POLICY_TEXT])
{
    level_policy_text(c->policy, out);
}

usec_t connection_source_away(const struct connection *c, const char **why, usec_t now)
{
    return path_stats_source_away(c->path, why, now);
}

usec_t connection_origin_away(const struct connection *c, usec_t now)
{
    return path_stats_origin_away(c->path, now);
}

struct connection_status connection_read(const struct connection *c)
{
    return (struct connection_status){
        .sdp = &c->sdp,
        .video = video(c),
        .path = path_stats_sender(c->path),
        .transport = c->transport,
        .level = c->level.level,
        .requested_level = c->level.requested,
        .playing = c->phase == PLAYING,
        .may_set_level = may_set_level(c),
        .is_limited = c->machine.limit >= 0,
        .may_automatic = may_automatic(c),
        .automatic = c->config.options->level < 0 && may_automatic(c),
        .paused = rests(c) || c->stepping,
        .scale = c->seek.scale,
        .speed = may_set_speed(c) ? c->config.options->speed : 1,
        .scale_refusals = c->seek.scale_refusals,
        .position = seek_position(&c->seek),
        .kept = c->rewind.kept,
        .behind = c->rewind.phase == REWIND_REQUESTED ? c->rewind.to : c->rewind.behind,
        .subtitles = c->subtitles.track,
        .packets = c->stream ? stream_player_packets(c->stream) : 0,
        .last_shown = video(c) ? video_player_last_shown(video(c)) : NULL};
}

// ---- The end ----

bool connection_end_media(struct connection *c, usec_t now)
{
    set_ended(c, ABANDONED);
    if (!video(c))
        return false;
    if (playout_mode(playout(c)) == PLAYOUT_ENDED)
        return true;
    video_player_end(video(c), now);
    return false;
}

bool connection_drain(struct connection *c, usec_t now)
{
    set_ended(c, ENDED);
    audio_session_end(c->config.audio);
    if (!video(c) || is_paused(c))
        return false;
    video_player_end(video(c), now);
    return true;
}

void connection_stop(struct connection *c, usec_t now)
{
    c->stopped = true;
    remote_stream_stop(c->remote);
    level_policy_end(c->policy);
    if (video(c))
        video_player_stop(video(c), now);
}

void connection_retire(struct connection *c, usec_t now)
{
    connection_stop(c, now);
    audio_session_leave(c->config.audio);
}

void connection_send_bye(struct connection *c, usec_t now)
{
    if (c->stream)
        video_receiver_send_bye(receiver(c), now);
}

bool connection_leave(struct connection *c, usec_t now)
{
    return c->link && rtsp_client_leave(rtsp_link_client(c->link), now);
}

struct rtsp_spare *connection_detach(struct connection *c, usec_t now)
{
    connection_send_bye(c, now);
    connection_stop(c, now);
    timer_set(c->bye, USEC_NEVER);
    c->phase = ABANDONED;
    struct rtsp_spare *spare = c->link ? rtsp_link_detach(c->link, now) : NULL;
    if (!spare)
        (void)connection_leave(c, now);
    return spare;
}

void connection_keep_standby(struct connection *c, struct rtsp_standby **standby, usec_t now)
{
    if (c->link && c->phase == PLAYING)
        rtsp_link_keep_standby(c->link, standby, now);
}

int connection_refusal(const struct connection *c)
{
    return c->link ? rtsp_client_status(rtsp_link_client(c->link)) : 0;
}

void connection_hang_up(struct connection *c)
{
    timer_set(c->bye, USEC_NEVER);
    if (c->stream)
        video_receiver_report(receiver(c)); // before the link, which counts the ECN marks, is freed
    remote_stream_hang_up(c->remote);
    c->link = NULL;
}

// ---- Life ----

static struct remote_stream *new_remote(struct connection *c, usec_t now)
{
    static const char *const adapt[] = {
        [ADAPT_AUTO] = NULL,
        [ADAPT_SENDER] = "sender",
        [ADAPT_NONE] = "none",
        [ADAPT_GODDARD] = "none",
    };
    const struct play_options *o = c->config.options;
    // Of a film no frame is left out because it waited for the network, unless the viewer says so.
    bool leaves_out = o->adapt == ADAPT_GODDARD || o->low_latency;
    struct rtsp_client_config config = {.url = o->url,
                                        .transports = o->transports,
                                        .adapt = adapt[o->adapt],
                                        .live_latency_ms = play_options_latency_ms(o, true),
                                        .stored_latency_ms =
                                            leaves_out ? play_options_latency_ms(o, false) : 0,
                                        .silence = o->timeout,
                                        .may_be_followed = true,
                                        .has_audio = !o->no_audio};
    struct rtsp_link_config link = {.loop = c->config.loop,
                                    .rtsp = &config,
                                    .cc = o->cc,
                                    .repair = repair_mode_name(o->repair),
                                    .srtp = o->srtp,
                                    .second = o->second,
                                    .attaches = true,
                                    .spare = c->config.spare,
                                    .raw = c->config.raw,
                                    .ops = &link_ops,
                                    .ctx = c};
    return remote_stream_new(&link, now);
}

struct connection *connection_new(const struct connection_config *config, usec_t now)
{
    struct connection *c = calloc(1, sizeof(*c));
    if (!c) {
        rtsp_spare_free(config->spare);
        return NULL;
    }
    c->config = *config;
    c->steps.asked = config->asked;
    c->level.level = config->level;
    if (config->again)
        snprintf(c->transport, sizeof(c->transport), "%s", config->transport);
    c->config.transport = NULL;
    c->path = path_stats_new(config->qoe, config->events);
    c->bye = timer_new(config->loop, on_bye_time, c);
    if (c->path && c->bye)
        c->remote = new_remote(c, now);
    else
        rtsp_spare_free(c->config.spare);
    c->config.spare = NULL;
    if (c->remote) {
        c->link = remote_stream_link(c->remote);
        return c;
    }
    connection_free(c);
    return NULL;
}

void connection_free(struct connection *c)
{
    if (!c)
        return;
    if (c->remote)
        remote_stream_hang_up(c->remote);
    c->link = NULL;
    // Without a stream all queued pictures are those of the connection before, which is still
    // shown.
    if (c->stream) {
        render_queue_flush(c->config.show); // the decoder may wait there
        stream_player_free(c->stream);
        render_queue_flush(c->config.show);
    }
    remote_stream_free(c->remote, 0); // without a link it needs no time
    level_policy_free(c->policy);
    path_stats_free(c->path);
    timer_free(c->bye);
    free(c);
}
