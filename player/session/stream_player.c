// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/stream_player.h"

#include <stdlib.h>

#include "common/net/clock.h"
#include "common/protocol/server_dialect.h"
#include "player/report/viewing_trace.h"
#include "stream/video/video_pipeline.h"

// A film's sender that has not sent a packet again for so long, though it was requested all the
// time, has it no more. What a proxy itself lacks it cannot send.
static const usec_t PATIENCE = 15 * USEC_PER_SEC, RELAYED_PATIENCE = 3 * USEC_PER_SEC;

struct stream_player {
    struct stream_player_config config;
    struct clock_sync clock;
    struct stream_receiver *media;   // borrowed from the remote stream
    struct video_receiver *receiver; // borrowed from `media`
    struct video_player *video;      // owned; NULL: packets without frames
    usec_t first_packet;             // when it came; 0: none yet
    bool repairs;                    // lost packets are sent again
    int64_t missing;                 // as the video player was told; INT64_MAX: nothing is
};

static void report_clock(const struct stream_player *s)
{
    struct qoe_clock e = {.shared = s->clock.shared, .offset_error = s->clock.least_rtt / 2};
    qoe_on_clock(s->config.qoe, &e);
}

// ---- From the receiver ----

static void on_event(void *ctx, const struct viewing_event *e)
{
    struct stream_player *s = ctx;
    viewing_trace(s->config.events, e);
}

// weir-send sends the audio in the video's flow.
static void on_media(void *ctx, enum media_track track, bool rtcp, const uint8_t *data, size_t len,
                     usec_t now)
{
    struct stream_player *s = ctx;
    (void)data;
    if (rtcp || (track == TRACK_AUDIO && server_dialect_of(s->config.sdp)->audio_has_own_flow))
        return;
    if (!s->first_packet)
        s->first_packet = now;
    if (track == TRACK_AUDIO)
        level_policy_beside(s->config.policy, len, now);
}

static void on_audio(void *ctx, const struct received_audio *a, usec_t now)
{
    const struct stream_player *s = ctx;
    (void)now;
    audio_session_packet(s->config.audio, a);
}

static void set_missing(struct stream_player *s)
{
    s->missing = video_receiver_oldest(s->receiver);
    video_player_set_missing(s->video, s->missing);
}

static void on_packet(void *ctx, const struct rtp_packet *packet, int64_t ext_seq, usec_t arrived,
                      usec_t now)
{
    struct stream_player *s = ctx;
    struct fps fps = s->config.sdp->ladder.source_fps;
    video_player_packet(s->video, packet, ext_seq, arrived);
    // A packet that fills a hole may complete a frame, which is pushed before playing is looked at.
    if (video_receiver_oldest(s->receiver) < s->missing)
        set_missing(s);
    if (!server_dialect_of(s->config.sdp)->numbers_from_stamps)
        stream_receiver_relate(s->media, packet->timestamp,
                               usec_of_frames(packet->adu.frame, fps.num, fps.den), arrived);
    level_policy_packet(s->config.policy, packet, ext_seq, arrived, now);
}

static void on_frame(void *ctx, struct received_frame *f, usec_t now)
{
    struct stream_player *s = ctx;
    int64_t number = f->number;
    uint32_t stamp = f->rtp_timestamp;
    usec_t arrived = f->last_arrived;
    stream_recording_take(s->config.recording, f);
    set_missing(s);
    video_player_push(s->video, f, now);
    video_receiver_set_keep(s->receiver,
                            video_pipeline_repair_time(video_player_pipeline(s->video)));
    const struct playout *playout = video_pipeline_playout(video_player_pipeline(s->video));
    if (server_dialect_of(s->config.sdp)->numbers_from_stamps && number >= 0 &&
        number < PLAYOUT_MAX_NUMBER)
        stream_receiver_relate(s->media, stamp, playout_pts(playout, number), arrived);
    level_policy_frame(s->config.policy, number, playout_held(playout), now);
    bool has_time = number >= 0 && number < PLAYOUT_MAX_NUMBER;
    if (has_time && stream_recording_push(s->config.recording, playout_pts(playout, number), now) &&
        s->config.sdp->duration < 0) // a file has key frames, and the request would repeat frames
        video_receiver_send_pli(s->receiver, now);
}

static void on_nacked(void *ctx, usec_t now)
{
    struct stream_player *s = ctx;
    if (s->video)
        video_player_nacked(s->video, now);
}

static void on_given_up(void *ctx, usec_t now)
{
    struct stream_player *s = ctx;
    if (!s->video)
        return;
    set_missing(s);
    video_player_look(s->video, now);
}

static void on_bye(void *ctx, usec_t now)
{
    struct stream_player *s = ctx;
    s->config.ops->on_bye(s->config.ctx, now);
}

// ---- From the video player ----

static void request_key(void *ctx, usec_t now)
{
    struct stream_player *s = ctx;
    video_receiver_send_pli(s->receiver, now);
}

static void on_level(void *ctx, int level, usec_t now)
{
    struct stream_player *s = ctx;
    s->config.ops->on_level(s->config.ctx, level, now);
}

static void on_empty(void *ctx, usec_t now)
{
    struct stream_player *s = ctx;
    level_policy_empty(s->config.policy, now);
}

static void on_started(void *ctx, usec_t now)
{
    struct stream_player *s = ctx;
    s->config.ops->on_started(s->config.ctx, now);
}

static void on_clock(void *ctx, bool playing, const struct media_clock *clock)
{
    struct stream_player *s = ctx;
    audio_session_clock(s->config.audio, playing, clock);
    if (s->video)
        video_player_set_audio(s->video, audio_session_line(s->config.audio));
}

static void on_picture(void *ctx, const struct play_frame *f, usec_t pts)
{
    struct stream_player *s = ctx;
    audio_session_picture(s->config.audio, f, pts);
}

static void on_drained(void *ctx, usec_t now)
{
    struct stream_player *s = ctx;
    s->config.ops->on_drained(s->config.ctx, now);
}

// ---- Input ----

void stream_player_set_rtt(struct stream_player *s, usec_t rtt, usec_t now)
{
    usec_t keep = 0;
    if (s->video) {
        video_player_set_rtt(s->video, rtt);
        video_player_set_repair(s->video, s->repairs && rtt ? repair_round_wait(rtt) : 0);
        keep = video_pipeline_repair_time(video_player_pipeline(s->video));
    }
    stream_receiver_set_path(s->media, rtt, keep, now);
}

// Of a film no picture is passed over. Goddard's policy counts those that are.
static bool waits(const struct stream_player *s)
{
    return s->config.sdp->duration >= 0 && s->config.options->adapt != ADAPT_GODDARD;
}

int stream_player_set_repair(struct stream_player *s, const struct video_repair *repair)
{
    struct video_repair of = *repair;
    s->repairs = repair->datagram && repair->agreed != REPAIR_MODE_OFF;
    if (s->video)
        video_player_set_stream(s->video, !repair->datagram);
    if (s->repairs && s->video && waits(s))
        of.patience = *s->config.sdp->via ? RELAYED_PATIENCE : PATIENCE;
    return stream_receiver_set_repair(s->media, &of, s->repairs && s->config.sdp->nack);
}

void stream_player_begin(struct stream_player *s, int seq, bool jumps, usec_t now)
{
    if (seq < 0)
        return;
    video_receiver_begin(s->receiver, (uint16_t)seq, jumps, now);
    if (s->video)
        set_missing(s);
}

void stream_player_clock_sample(struct stream_player *s, usec_t asked, usec_t sender,
                                usec_t received)
{
    if (clock_sync_sample(&s->clock, asked, sender, received))
        report_clock(s);
}

void stream_player_second(struct stream_player *s, struct video_receiver_stats *out, usec_t now)
{
    stream_receiver_second(s->media, out, now);
    if (out->lost)
        trace_loss(s->config.events, out->lost, out->loss_events, now);
    audio_session_second(s->config.audio);
}

// ---- State ----

struct video_player *stream_player_video(const struct stream_player *s)
{
    return s->video;
}

usec_t stream_player_first_packet(const struct stream_player *s)
{
    return s->first_packet;
}

uint64_t stream_player_packets(const struct stream_player *s)
{
    return video_receiver_packets(s->receiver) + stream_receiver_audio(s->media).packets;
}

struct media_progress_facts stream_player_progress(const struct stream_player *s)
{
    struct media_progress_facts f = {.packets = video_receiver_packets(s->receiver),
                                     .span = video_receiver_media_span(s->receiver)};
    if (s->video) {
        const struct playout *playout = video_pipeline_playout(video_player_pipeline(s->video));
        f.pictures = true;
        f.paused = playout_paused(playout);
        f.decoded = video_player_decoded(s->video);
        f.buffer_target = playout_goal(playout);
    }
    return f;
}

// ---- Life ----

static bool open_receivers(struct stream_player *s)
{
    static const struct stream_receiver_ops ops = {.video = {.on_packet = on_packet,
                                                             .on_frame = on_frame,
                                                             .on_nacked = on_nacked,
                                                             .on_bye = on_bye,
                                                             .on_given_up = on_given_up},
                                                   .on_media = on_media,
                                                   .on_audio = on_audio};
    struct stream_receiver_config config = {
        .video = {.sdp = s->config.sdp, .clock = &s->clock, .sink = {s->config.qoe, on_event, s}},
        .ops = &ops,
        .ctx = s};
    s->media = remote_stream_describe(s->config.remote, &config);
    if (s->media)
        s->receiver = stream_receiver_video(s->media);
    return s->media;
}

static bool open_video(struct stream_player *s)
{
    struct video_player_config config = {.loop = s->config.loop,
                                         .options = s->config.options,
                                         .sdp = s->config.sdp,
                                         .clock = &s->clock,
                                         .qoe = s->config.qoe,
                                         .events = s->config.events,
                                         .show = s->config.show,
                                         .level = s->config.level,
                                         .at_once = s->config.at_once,
                                         .session = s->config.session,
                                         .on_done = s->config.on_done,
                                         .done_ctx = s->config.done_ctx,
                                         .request_key = request_key,
                                         .on_level = on_level,
                                         .on_empty = on_empty,
                                         .on_started = on_started,
                                         .on_clock = on_clock,
                                         .on_picture = on_picture,
                                         .on_ended = on_drained,
                                         .ctx = s};
    s->video = video_player_new(&config);
    return s->video;
}

struct stream_player *stream_player_new(const struct stream_player_config *config)
{
    const struct sdp *sdp = config->sdp;
    struct stream_player *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->config = *config;
    s->missing = INT64_MAX;
    if (clock_is_ours(sdp->clock)) {
        clock_sync_shared(&s->clock);
        report_clock(s);
    }
    audio_session_join(config->audio, sdp);
    stream_recording_open(config->recording, sdp, sdp->audio.present && !config->options->no_audio,
                          clock_now());
    bool has_frames = sdp_has_frames(sdp);
    if (open_receivers(s) &&
        (!has_frames || !sdp_has_pictures(sdp) || comparison_open(config->comparison, sdp)) &&
        (!has_frames || open_video(s)))
        return s;
    stream_player_free(s);
    return NULL;
}

void stream_player_free(struct stream_player *s)
{
    if (!s)
        return;
    stream_recording_close(s->config.recording, s->config.sdp, clock_now());
    video_player_free(s->video);
    audio_session_forget(s->config.audio, s->media);
    free(s);
}
