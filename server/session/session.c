// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/session/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/congestion/rto.h"
#include "common/net/clock.h"
#include "common/net/timer.h"
#include "common/srtp/srtp_guard.h"
#include "server/policy/frame_clock.h"
#include "server/policy/rate_request.h"
#include "server/policy/request_limits.h"
#include "server/session/session_paths.h"
#include "stream/send/repair_budget.h"
#include "stream/send/stream_sender.h"

_Static_assert(REPAIR_VIEWERS == STATS_SESSIONS + 1, "a session's number is its account");

// A viewer that must report packets and has reported none for this long counts as gone. After an
// outage of 10 s the sender has probed the path and received the response within this time.
// A BYE in a datagram may be lost: it is repeated once a second until the viewer has left, plays
// again, or has had it so often.
enum { BYE_REPEATS = 20 };
static const usec_t UNHEARD_AFTER = 10 * USEC_PER_SEC + RTO_MAX_LIVE + USEC_PER_SEC;
// The same, and for taking nothing, of a film's viewer, which plays from its buffer meanwhile.
static const usec_t FILM_AWAY = 60 * USEC_PER_SEC;

struct session {
    struct frame_sink sink; // must be first: the stream and the media know a session as a sink
    struct session_config config;
    struct media_feed *feed;      // owned
    struct stream_sender *sender; // owned
    struct session_paths *paths;  // owned
    struct timer *timer;          // owned; fires at the sender's next timeout
    usec_t armed;                 // time at which `timer` fires
    char cname[64];
    usec_t created_at;
    usec_t begun_at;                    // time of the first PLAY
    double scale;                       // of the play
    struct request_budget rate_answers; // to TMMBR
    usec_t limited_until;               // when the max rate ends; USEC_NEVER: it does not
    bool has_ended;                     // the media has, and does not play again
    int byes;                           // still to be sent after that
    char broken[256];                   // why the media broke off; empty: it has not
    char dismissal[256];                // why the server ends the session; empty: not told
};

// ---- The sender's timer

// Sets the timer. Call it after each call of the sender that takes the time.
static void arm(struct session *s)
{
    usec_t when =
        usec_min(stream_sender_next_timeout(s->sender), session_paths_next_timeout(s->paths));
    if (when != s->armed)
        timer_set(s->timer, when);
    s->armed = when;
}

static struct transport *transport_of(const struct session *s)
{
    return session_paths_transport(s->paths);
}

// ---- Moves

void session_set_beside(struct session *s, const struct session_beside *beside)
{
    session_paths_set_beside(s->paths, beside);
}

bool session_set_second(struct session *s, const struct session_beside *second, usec_t now)
{
    return session_paths_set_second(s->paths, second, now) == 0;
}

int session_move(struct session *s, usec_t now)
{
    int err = session_paths_request(s->paths, now);
    if (err)
        return err;
    stream_sender_pump(s->sender, now);
    arm(s);
    return 0;
}

void session_responded(struct session *s, int number, usec_t now)
{
    session_paths_responded(s->paths, number, now);
}

bool session_may_change_address(struct session *s, int which, usec_t now)
{
    return session_paths_may_change(s->paths, which, now);
}

bool session_doubts_address(const struct session *s)
{
    return session_paths_is_doubted(s->paths);
}

void session_address_answered(struct session *s, const struct sockaddr *before,
                              const struct sockaddr *address, usec_t now)
{
    session_paths_answered(s->paths, before, address, now);
    stream_sender_pump(s->sender, now);
    arm(s);
}

void session_reconnected(struct session *s, usec_t lost_since, usec_t now)
{
    session_paths_reconnected(s->paths, lost_since, now);
    stream_sender_pump(s->sender, now);
    arm(s);
}

static void on_timer(void *ctx, usec_t now)
{
    struct session *s = ctx;
    s->armed = USEC_NEVER;
    session_paths_on_timeout(s->paths, now);
    stream_sender_on_timeout(s->sender, now);
    arm(s);
}

static void on_room(void *ctx, usec_t now)
{
    struct session *s = ctx;
    session_paths_on_event(s->paths, now);
    stream_sender_pump(s->sender, now);
    arm(s);
}

// ---- Events of the sender

// Reads the clock again, because hundreds of packets may leave in one wake-up of the loop.
static usec_t wall(void *ctx, usec_t now)
{
    (void)now;
    return session_wall(ctx);
}

static void report_track(struct session *s, enum media_track track, const char *bye, usec_t now)
{
    uint8_t out[RTCP_MAX_PACKET];
    const struct rtp_sender *rtp = stream_sender_rtp(s->sender, track);
    size_t len = rtp_sender_report(rtp, stream_sender_instant(s->sender), s->cname, clock_wall(),
                                   bye, out, sizeof(out));
    session_paths_send_rtcp(s->paths, track, out, len, now);
}

// With two tracks, a report before a track's first packet would not match that of the other track,
// nor would one before it is known when the media was captured; players use the reports to
// synchronise the tracks.
static void send_report(struct session *s, const char *bye, usec_t now)
{
    bool both = session_has_audio(s);
    bool known = stream_sender_instant(s->sender)->known;
    if (session_has_pictures(s) &&
        (!both || bye || (known && stream_sender_rtp(s->sender, TRACK_VIDEO)->packets)))
        report_track(s, TRACK_VIDEO, bye, now);
    if (both && (bye || (known && stream_sender_rtp(s->sender, TRACK_AUDIO)->packets)))
        report_track(s, TRACK_AUDIO, bye, now);
}

static void on_begun(void *ctx, enum media_track track, usec_t now)
{
    (void)track;
    send_report(ctx, NULL, now);
}

// A BYE would report the end of the media.
static void on_sender_end(void *ctx, usec_t now)
{
    struct session *s = ctx;
    s->has_ended = true;
    if (*s->broken && s->config.on_broken) {
        s->config.on_broken(s->config.ctx, s->broken, now);
        return;
    }
    send_report(s, "", now);
    s->byes = transport_of(s)->media.reliable ? 0 : BYE_REPEATS;
}

static void on_closed(void *ctx, usec_t now)
{
    (void)now;
    const struct session *s = ctx;
    s->config.on_stuck(s->config.ctx, "its connection was closed");
}

// ---- Media. The sink is the first member of its session.

static void on_frame(struct frame_sink *sink, struct coded_frame *f, usec_t now)
{
    struct session *s = (struct session *)sink;
    session_paths_check(s->paths, now);
    stream_sender_frame(s->sender, f, now);
    arm(s);
}

static bool has_waiting(const struct frame_sink *sink)
{
    return stream_sender_has_waiting(((const struct session *)sink)->sender);
}

static void on_again(struct frame_sink *sink, struct coded_frame *f, usec_t now)
{
    struct session *s = (struct session *)sink;
    stream_sender_frame_again(s->sender, f, now);
    arm(s);
}

static void on_audio(struct frame_sink *sink, struct coded_audio *c, usec_t now)
{
    struct session *s = (struct session *)sink;
    if (s->config.on_audio)
        s->config.on_audio(s->config.ctx, c, now);
    else
        session_audio(s, c, now);
}

static void on_media_end(struct frame_sink *sink, const char *why, usec_t now)
{
    struct session *s = (struct session *)sink;
    snprintf(s->broken, sizeof(s->broken), "%s", why ? why : "");
    stream_sender_end(s->sender, now);
    arm(s);
}

static void on_placed(struct frame_sink *sink, usec_t now)
{
    struct session *s = (struct session *)sink;
    s->config.on_placed(s->config.ctx, now);
}

static void on_lost(struct frame_sink *sink, int packets, usec_t now)
{
    (void)now;
    stream_sender_lost(((struct session *)sink)->sender, packets);
}

static void on_highest(struct frame_sink *sink, usec_t now)
{
    struct session *s = (struct session *)sink;
    session_set_level(s, s->config.level, now);
}

static int sink_stats(struct frame_sink *sink, struct session_stats *out, usec_t now)
{
    struct session *s = (struct session *)sink;
    const struct rtp_sender *video = stream_sender_rtp(s->sender, TRACK_VIDEO);
    const struct rtp_sender *audio = stream_sender_rtp(s->sender, TRACK_AUDIO);
    const struct session_beside *beside = session_paths_beside(s->paths);
    const struct srtp_guard *srtp = s->config.path.srtp ? s->config.path.srtp : beside->path.srtp;
    const struct path_validation *address = s->config.address ? s->config.address : beside->address;
    struct stream_sender_stats of;
    stream_sender_read(s->sender, &of, now);
    *out = (struct session_stats){
        .number = s->sink.number,
        .age = now - s->created_at,
        .playing = session_is_playing(s),
        .level = of.level,
        .size_id = of.size_id,
        .layers = s->config.stream->media->ladder.sizes[of.size_id].layers,
        .packets = video->packets,
        .octets = video->octets,
        .has_audio = session_has_audio(s),
        .audio_packets = audio->packets,
        .audio_octets = audio->octets,
        .audio_dropped = of.audio_dropped,
        .is_srtp = transport_of(s)->srtp,
        .srtp_replayed = srtp_guard_dropped(srtp).replayed,
        .srtp_forged = srtp_guard_dropped(srtp).forged,
        .wrong_tokens = address ? address->wrong_tokens : 0,
        .feedback_dropped = of.feedback_dropped,
        .thinned = of.thinned,
        .waiting_frames = of.waiting_frames,
        .waiting_bytes = of.waiting_bytes,
        .waiting_ms = usec_to_msec(of.waiting),
        .frames = of.frames,
        .follows = of.follows,
        .adaptation = of.adaptation,
        .repair_mode = of.repair_mode,
        .repair = of.repair,
        .repair_share = of.repair_share,
        .wanted_bps = of.wanted_bps,
        .overhead_bps = of.overhead_bps,
    };
    snprintf(out->id, sizeof(out->id), "%s", s->config.id);
    snprintf(out->peer, sizeof(out->peer), "%s", s->config.peer ? s->config.peer : "");
    snprintf(out->transport, sizeof(out->transport), "%s", transport_of(s)->name);
    session_info(s, &out->info, now);
    out->relayed = session_relay_info(s, &out->relay, now);
    return transport_number(
        session_paths_home(s->paths)->kind); // counters by transport never go back
}

// ---- Life

// Returns true if the viewer is sent one size only: few third-party players read VP9 of several.
static bool is_plain(const struct session_config *config)
{
    return config->stream->media->codec == SDP_VP9 && config->keeps_size;
}

// Returns the highest level of the smallest size, up to `level`.
static int plain_level(const struct ladder *l, int level)
{
    while (level > 0 && l->levels[level].size_id > 0)
        level--;
    return level;
}

// Returns the level to send if the viewer requests `level`, which the ladder has.
static int level_to_send(const struct session_config *config, int level)
{
    const struct stream_media *media = config->stream->media;
    int within = level < config->stream->highest ? level : config->stream->highest;
    int encoded = media->ladder.level_count - 1 - media->unencoded;
    within = within < encoded || config->keeps_size ? within : encoded;
    return is_plain(config) ? plain_level(&media->ladder, within) : within;
}

static struct stream_sender *new_sender(struct session *s, usec_t now)
{
    static const struct stream_sender_ops ops = {
        .wall = wall, .on_begun = on_begun, .on_end = on_sender_end, .on_closed = on_closed};
    const struct session_config *config = &s->config;
    const struct stream_media *media = config->stream->media;
    // Media that holds its frames back shall lose none.
    usec_t latency_ms =
        s->feed->ops->drained ? SESSION_LATENCY_STORED_MS : SESSION_LATENCY_DEFAULT_MS;
    struct stream_sender_config sender = {.ladder = &media->ladder,
                                          .feed = s->feed,
                                          .codec = media->codec,
                                          .plain = is_plain(config),
                                          .seed = config->seed,
                                          .level = level_to_send(config, config->level),
                                          .follows = config->follows,
                                          .keeps_size = config->keeps_size,
                                          .reports_losses = config->reports_losses,
                                          .start_bps = config->start_bps,
                                          .audio_only = config->audio_only,
                                          .relays = media->relays,
                                          .latency = latency_ms * USEC_PER_MSEC,
                                          .queue = config->queue,
                                          .queue_bytes = config->queue_bytes,
                                          .fragment_bytes = config->stream->fragment_bytes,
                                          .ops = &ops,
                                          .ctx = s};
    return stream_sender_new(&sender, now);
}

struct session *session_new(const struct session_config *config, usec_t now)
{
    static const struct frame_sink_ops sink_ops = {.on_frame = on_frame,
                                                   .on_again = on_again,
                                                   .on_audio = on_audio,
                                                   .on_end = on_media_end,
                                                   .stats = sink_stats,
                                                   .on_placed = on_placed,
                                                   .on_lost = on_lost,
                                                   .on_highest = on_highest,
                                                   .has_waiting = has_waiting};
    struct stream_media *media = config->stream->media;
    struct session *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->sink.ops = &sink_ops;
    s->config = *config;
    s->config.path.on_room = on_room;
    s->config.path.ctx = s;
    s->created_at = now;
    s->armed = s->limited_until = USEC_NEVER;
    s->scale = 1;
    struct media_feed_config feed = {
        .loop = config->path.loop, .sink = &s->sink, .exact = !config->keeps_size};
    s->feed = media->ops->feed_new(media, &feed);
    if (!s->feed)
        goto free_session;
    s->sender = new_sender(s, now);
    if (!s->sender)
        goto free_feed;
    s->config.path.ssrc = stream_sender_rtp(s->sender, TRACK_VIDEO)->ssrc;
    s->config.path.first_seq = stream_sender_rtp(s->sender, TRACK_VIDEO)->next_seq;
    struct session_paths_config paths = {.sender = s->sender,
                                         .transport = config->transport,
                                         .path = &s->config.path,
                                         .peer = config->peer};
    s->paths = session_paths_new(&paths, now);
    if (!s->paths)
        goto free_sender;
    s->timer = timer_new(config->path.loop, on_timer, s);
    if (!s->timer)
        goto free_paths;
    if (stream_add(config->stream, &s->sink) != 0)
        goto free_timer;
    snprintf(s->cname, sizeof(s->cname), "%s-%s", media->relays ? "weir-proxy" : "weir-send",
             config->id);
    return s;

free_timer:
    timer_free(s->timer);
free_paths:
    session_paths_free(s->paths);
free_sender:
    stream_sender_free(s->sender);
free_feed:
    s->feed->ops->free(s->feed);
free_session:
    free(s);
    log_error("cannot set up a session");
    return NULL;
}

void session_free(struct session *s, usec_t now)
{
    if (!s)
        return;
    if (session_is_playing(s))
        send_report(s, s->dismissal, now);
    stream_sender_stop(s->sender); // the last stats count the frames it drops
    stream_remove(s->config.stream, &s->sink, now);
    stream_sender_free(s->sender);
    s->feed->ops->free(s->feed);
    timer_free(s->timer);
    session_paths_free(s->paths);
    free(s);
}

void session_dismiss(struct session *s, const char *why)
{
    snprintf(s->dismissal, sizeof(s->dismissal), "%s", why);
}

// ---- The viewer's requests

void session_play(struct session *s, usec_t now)
{
    bool begins = !session_is_playing(s);
    if (begins)
        s->begun_at = now;
    s->has_ended = false;
    s->byes = 0;
    stream_sender_play(s->sender, now);
    if (begins) // what was known of capture times before a pause is forgotten now
        send_report(s, NULL, now);
    arm(s);
}

void session_pace(struct session *s, usec_t now)
{
    if (s->has_ended)
        send_report(s, "", now);
    else
        session_play(s, now);
}

void session_pause(struct session *s)
{
    stream_sender_pause(s->sender);
    arm(s);
}

// A film leaves as fast as its transport takes it, if that takes no more than the network carries.
static bool goes_as_fast_as_it_can(const struct session *s)
{
    const struct transport_kind *kind = transport_of(s)->kind;
    return s->feed->max_speed > 0 && (kind->holds_back || kind->responsive);
}

enum media_placed session_place(struct session *s, const struct session_position *to,
                                struct media_place *out, usec_t now)
{
    out->scale = 1;
    if (!s->feed->ops->place)
        return MEDIA_NOWHERE;
    const struct ladder *ladder = &s->config.stream->media->ladder;
    struct media_seek seek = {
        .seconds = to->seconds,
        .scale = to->scale,
        .wall = to->wall,
        .level = &ladder->levels[stream_sender_level(s->sender)],
        // Media that is early would be lost in the network unless the transport holds it back.
        .ahead = transport_of(s)->kind->holds_back};
    bool seeks = !isnan(to->seconds) || to->scale != s->scale || to->wall;
    enum media_placed placed = s->feed->ops->place(s->feed, seeks ? &seek : NULL, out, now);
    out->scale = out->scale == 0 ? 1 : out->scale;
    if (placed == MEDIA_SOUGHT) {
        s->has_ended = false;
        stream_sender_go_to(s->sender, out->frames.first, out->wall != 0);
        stream_sender_set_scale(s->sender, fabs(out->scale), out->frames.first);
        s->scale = out->scale;
    }
    if (to->awaits_level && s->feed->ops->await_level && goes_as_fast_as_it_can(s))
        out->frames.until = s->feed->ops->await_level(s->feed, true);
    return placed;
}

bool session_scales(const struct session *s)
{
    return s->feed->scales;
}

double session_scale(const struct session *s)
{
    return s->scale;
}

bool session_owns_time_line(const struct session *s)
{
    const struct media_feed_ops *ops = s->feed->ops;
    return ops->set_speed && (!ops->is_alone || ops->is_alone(s->feed));
}

void session_add_audio(struct session *s, const struct track_path *to)
{
    session_paths_home(s->paths)->tracks[TRACK_AUDIO] = *to;
    int own_bps = s->config.audio_bps;
    stream_sender_add_audio(s->sender, own_bps ? own_bps : s->config.stream->media->audio_bps);
}

void session_add_pictures(struct session *s, const struct track_path *to)
{
    session_paths_home(s->paths)->tracks[TRACK_VIDEO] = *to;
    stream_sender_add_video(s->sender);
}

int session_set_level(struct session *s, int level, usec_t now)
{
    const struct ladder *l = &s->config.stream->media->ladder;
    if (!ladder_has_level(l, level))
        return ERR_RANGE;
    s->config.level = level;
    int err = stream_sender_set_level(s->sender, level_to_send(&s->config, level), now);
    if (!err && s->feed->ops->await_level)
        (void)s->feed->ops->await_level(s->feed, false);
    return err;
}

int session_send_again(struct session *s, int64_t from, int level, usec_t now)
{
    if (!ladder_has_level(&s->config.stream->media->ladder, level))
        return ERR_RANGE;
    int err = stream_sender_send_again(s->sender, from, level_to_send(&s->config, level), now);
    if (!err)
        err = session_set_level(s, level, now); // of what follows, too
    arm(s);
    return err;
}

void session_set_follows(struct session *s, bool follows, usec_t now)
{
    stream_sender_set_follows(s->sender, follows, now);
}

int session_set_latency(struct session *s, int ms)
{
    if (ms < SESSION_LATENCY_MIN_MS || ms > SESSION_LATENCY_MAX_MS)
        return ERR_RANGE;
    stream_sender_set_latency(s->sender, ms * USEC_PER_MSEC);
    if (s->feed->ops->set_latency)
        s->feed->ops->set_latency(s->feed, ms);
    return 0;
}

int session_set_max_rate(struct session *s, int bps, usec_t now)
{
    if (bps != 0 && bps < SESSION_MIN_MAX_RATE)
        return ERR_RANGE;
    s->limited_until = USEC_NEVER;
    stream_sender_set_max_rate(s->sender, bps, now);
    arm(s);
    return 0;
}

int session_set_playout(struct session *s, int ms)
{
    if (ms < SESSION_LATENCY_MIN_MS || ms > SESSION_LATENCY_MAX_MS)
        return ERR_RANGE;
    stream_sender_set_playout(s->sender, ms * USEC_PER_MSEC);
    if (s->feed->ops->set_playout)
        s->feed->ops->set_playout(s->feed, ms);
    return 0;
}

int session_set_only(struct session *s, const struct frame_ranges *ranges)
{
    if (!s->feed->ops->only)
        return ERR_UNSUPPORTED;
    return s->feed->ops->only(s->feed, ranges) ? 0 : ERR_NO_MEMORY;
}

int session_set_audio_track(struct session *s, int track)
{
    if (track < 1 || track > s->config.stream->media->audio_track_count ||
        !s->feed->ops->set_audio_track)
        return ERR_NOT_FOUND;
    s->feed->ops->set_audio_track(s->feed, track - 1);
    return 0;
}

bool session_set_repair(struct session *s, enum repair_mode mode)
{
    bool is_set = stream_sender_set_repair(s->sender, mode) == (int)mode && mode != REPAIR_MODE_OFF;
    session_paths_set_repair(s->paths, is_set ? mode : REPAIR_MODE_OFF);
    return is_set;
}

double session_set_speed(struct session *s, double speed, usec_t now)
{
    double most = goes_as_fast_as_it_can(s) ? s->feed->max_speed : FRAME_CLOCK_MAX_SPEED;
    speed = fmin(fmax(speed, FRAME_CLOCK_MIN_SPEED), most);
    stream_sender_set_speed(s->sender, speed, now);
    if (s->feed->ops->set_speed)
        s->feed->ops->set_speed(s->feed, speed);
    return speed;
}

// ---- Input from the viewer

static void on_reports(struct session *s, const struct rtcp_item *item, usec_t now)
{
    const struct rtp_sender *rtp = stream_sender_rtp(s->sender, TRACK_VIDEO);
    for (int i = 0; i < item->report_count; i++) {
        const struct rtcp_report *r = &item->reports[i];
        if (r->ssrc != rtp->ssrc)
            continue;
        struct transport_report report = {.fraction_lost = r->fraction_lost / 256.0,
                                          .rtt = rtp_sender_rtt(rtp, r, clock_wall())};
        if (transport_of(s)->ops->on_report)
            transport_of(s)->ops->on_report(transport_of(s), &report, now);
        if (s->config.on_report)
            s->config.on_report(s->config.ctx, &report, now);
    }
}

// One answer for all requests of a compound: its last one is in force (RFC 5104, 4.2.1, 4.2.2). A
// REMB is not answered.
static void on_rate_request(struct session *s, const struct rtcp_item *request, usec_t now)
{
    uint8_t out[RTCP_MAX_PACKET];
    const struct rtp_sender *rtp = stream_sender_rtp(s->sender, TRACK_VIDEO);
    const struct rate_limit limit = {.bps = rate_request_of(request, SESSION_MIN_MAX_RATE),
                                     .header_bytes = request->max_rate.overhead};
    stream_sender_limit(s->sender, &limit, now);
    s->limited_until = rate_request_until(request, now);
    if (request->kind == RTCP_IS_REMB ||
        !request_budget_take(&s->rate_answers, request_limit_of_rtcp(request->kind), now))
        return;
    size_t len = rtp_sender_report(rtp, stream_sender_instant(s->sender), s->cname, clock_wall(),
                                   NULL, out, sizeof(out));
    struct rtcp_item notice = {.kind = RTCP_IS_TMMBN,
                               .ssrc = rtp->ssrc,
                               .media_ssrc = request->ssrc,
                               .max_rate = request->max_rate};
    if (rtp->packets && rtcp_append(&notice, out, sizeof(out), &len) == 0)
        session_paths_send_rtcp(s->paths, TRACK_VIDEO, out, len, now);
}

// A compound of the viewer, whose reports are of the packets of `of`.
static void take_rtcp(struct session *s, struct transport *of, const uint8_t *data, size_t len,
                      usec_t now)
{
    struct rtcp_item item, rate = {.kind = RTCP_IS_OTHER};
    size_t at = 0;
    int got;
    while ((got = rtcp_next(data, len, &at, &item)) == 1) {
        if (rate_request_is_for(&item, stream_sender_rtp(s->sender, TRACK_VIDEO)->ssrc))
            rate = item;
        else if (item.kind == RTCP_IS_RR || item.kind == RTCP_IS_SR)
            on_reports(s, &item, now);
        else
            stream_sender_feedback(s->sender, &item, now);
    }
    if (rate.kind != RTCP_IS_OTHER)
        on_rate_request(s, &rate, now);
    arm(s);
    if (of->ops->on_rtcp)
        of->ops->on_rtcp(of, data, len, now);
    if (session_paths_second(s->paths))
        on_room(s, now);
    if (got < 0)
        log_debug("session %s: malformed RTCP was dropped", s->config.id);
}

void session_rtcp(struct session *s, const uint8_t *data, size_t len, usec_t now)
{
    take_rtcp(s, transport_of(s), data, len, now);
}

void session_second_rtcp(struct session *s, const uint8_t *data, size_t len, usec_t now)
{
    if (session_paths_second(s->paths))
        take_rtcp(s, session_paths_second(s->paths), data, len, now);
}

void session_second_validated(struct session *s, usec_t now)
{
    struct transport *second = session_paths_second(s->paths);
    if (second && second->ops->on_writable)
        second->ops->on_writable(second, now);
}

void session_media(struct session *s, const uint8_t *data, size_t len, usec_t now)
{
    if (transport_of(s)->ops->on_media)
        transport_of(s)->ops->on_media(transport_of(s), data, len, now);
}

void session_audio(struct session *s, struct coded_audio *c, usec_t now)
{
    stream_sender_audio(s->sender, c, now);
    arm(s);
}

void session_writable(struct session *s, usec_t now)
{
    struct transport *home = session_paths_home(s->paths);
    if (home->ops->on_writable)
        home->ops->on_writable(home, now);
}

static bool is_film(const struct session *s)
{
    return s->feed->ops->drained != NULL;
}

// Ends without a BYE, which would report the end of the media.
static bool is_unheard(struct session *s, usec_t now)
{
    struct transport_info info;
    usec_t limit = is_film(s) ? FILM_AWAY : UNHEARD_AFTER;
    session_info(s, &info, now);
    if (usec_min(info.unheard, now - s->begun_at) < limit)
        return false;
    stream_sender_stop(s->sender);
    char why[40];
    snprintf(why, sizeof(why), "no packet acknowledged for %.0f s", usec_to_sec(limit));
    s->config.on_stuck(s->config.ctx, why);
    return true;
}

void session_second(struct session *s, usec_t now)
{
    if (s->byes > 0) {
        s->byes--;
        send_report(s, "", now);
    }
    if (!session_is_playing(s) || is_unheard(s, now))
        return;
    send_report(s, NULL, now);
    if (s->limited_until <= now)
        (void)session_set_max_rate(s, 0, now);
    stream_sender_confirm(s->sender, now);
    bool unproved = s->config.address && s->config.address->peer[0].ss_family == AF_UNSPEC;
    usec_t timeout = s->config.stream->viewer_timeout;
    if (is_film(s) && !unproved)
        timeout = usec_max(timeout, FILM_AWAY);
    if (stream_sender_blocked(s->sender, now) <= timeout)
        return;
    char why[80];
    snprintf(why, sizeof(why), "%s %.0f s",
             unproved ? "its UDP address was not validated within" : "it has not taken a byte for",
             usec_to_sec(timeout));
    s->config.on_stuck(s->config.ctx, why);
}

// ---- Reading

usec_t session_wall(const struct session *s)
{
    return clock_wall() + s->feed->wall_ahead;
}

bool session_is_playing(const struct session *s)
{
    return stream_sender_is_playing(s->sender);
}

bool session_has_audio(const struct session *s)
{
    return stream_sender_has_audio(s->sender);
}

bool session_has_pictures(const struct session *s)
{
    return stream_sender_has_video(s->sender);
}

int session_level(const struct session *s)
{
    return stream_sender_level(s->sender);
}

void session_rtp_info(const struct session *s, uint16_t *seq, uint32_t *timestamp, uint32_t *ssrc)
{
    const struct rtp_sender *rtp = stream_sender_rtp(s->sender, TRACK_VIDEO);
    *seq = stream_sender_next_seq(s->sender, TRACK_VIDEO);
    *timestamp = rtp->packets ? rtp->last_timestamp : rtp->timestamp_offset;
    *ssrc = rtp->ssrc;
}

void session_audio_info(const struct session *s, uint16_t *seq, uint32_t *ssrc)
{
    const struct rtp_sender *rtp = stream_sender_rtp(s->sender, TRACK_AUDIO);
    *seq = stream_sender_next_seq(s->sender, TRACK_AUDIO);
    *ssrc = rtp->ssrc;
}

int session_subtitles(struct session *s, const struct subtitle_request *r, struct subtitle_set *out,
                      usec_t now)
{
    return s->feed->ops->subtitles ? s->feed->ops->subtitles(s->feed, r, out, now) : -1;
}

int session_film_table(struct session *s, const struct film_table **out, usec_t now)
{
    return s->feed->ops->film_table ? s->feed->ops->film_table(s->feed, out, now) : ERR_NOT_FOUND;
}

bool session_relay_info(const struct session *s, struct relay_info *out, usec_t now)
{
    if (!s->feed->ops->relay_info)
        return false;
    s->feed->ops->relay_info(s->feed, out, now);
    return true;
}

uint64_t session_skipped(const struct session *s)
{
    struct stream_sender_stats of;
    stream_sender_read(s->sender, &of, 0);
    return of.skipped;
}

size_t session_packet_bytes(const struct session *s)
{
    return transport_of(s)->media.max_packet;
}

const char *session_transport(const struct session *s)
{
    return transport_of(s)->name;
}

void session_info(const struct session *s, struct transport_info *out, usec_t now)
{
    session_paths_info(s->paths, out, now);
}
