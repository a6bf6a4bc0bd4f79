// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/stream_player.h"

#include <stdlib.h>

#include "common/net/clock.h"
#include "common/protocol/server_dialect.h"
#include "common/wire/rtcp.h"
#include "player/report/viewing_trace.h"
#include "stream/video/video_pipeline.h"

// A film's sender that has not sent a packet again for so long, though it was requested all the
// time, has it no more. What a proxy itself lacks it cannot send.
static const usec_t PATIENCE = 15 * USEC_PER_SEC, RELAYED_PATIENCE = 3 * USEC_PER_SEC;

struct stream_player {
    struct stream_player_config config;
    struct clock_sync clock;
    struct video_receiver *receiver; // owned
    struct video_player *video;      // owned; NULL: packets without frames
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

static void send_video_rtcp(void *ctx, const uint8_t *data, size_t len)
{
    struct stream_player *s = ctx;
    s->config.ops->send_rtcp(s->config.ctx, false, data, len);
}

static int64_t ecn_marked(void *ctx)
{
    const struct stream_player *s = ctx;
    return s->config.ops->ecn_marked(s->config.ctx);
}

static int64_t second_bytes(void *ctx)
{
    const struct stream_player *s = ctx;
    return s->config.ops->second_bytes(s->config.ctx);
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
    video_player_packet(s->video, packet, ext_seq, arrived);
    // A packet that fills a hole may complete a frame, which is pushed before playing is looked at.
    if (video_receiver_oldest(s->receiver) < s->missing)
        set_missing(s);
    if (!server_dialect_of(s->config.sdp)->numbers_from_stamps)
        audio_session_near(s->config.audio, packet->adu.frame);
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
        audio_session_frame(s->config.audio, stamp, playout_pts(playout, number), arrived);
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

static void on_report(void *ctx, uint64_t ntp, uint32_t timestamp)
{
    struct stream_player *s = ctx;
    audio_session_video_report(s->config.audio, ntp, timestamp);
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

static void request_audio(struct stream_player *s, usec_t now)
{
    uint8_t out[RTCP_MAX_PACKET];
    size_t len = audio_session_requests(s->config.audio, out, now);
    if (len)
        s->config.ops->send_rtcp(s->config.ctx, true, out, len);
}

void stream_player_packet(struct stream_player *s, bool rtcp, const uint8_t *data, size_t len,
                          usec_t arrived, usec_t now)
{
    // weir-send sends the audio in the video's flow.
    if (!server_dialect_of(s->config.sdp)->audio_has_own_flow &&
        audio_session_packet(s->config.audio, rtcp, data, len, arrived)) {
        if (!rtcp)
            level_policy_beside(s->config.policy, len, now);
        request_audio(s, now);
        return;
    }
    request_audio(s, now);
    video_receiver_packet(s->receiver, rtcp, data, len, arrived, now);
}

void stream_player_set_rtt(struct stream_player *s, usec_t rtt, usec_t now)
{
    video_receiver_set_rtt(s->receiver, rtt, now);
    if (!s->video)
        return;
    video_player_set_rtt(s->video, rtt);
    video_player_set_repair(s->video, s->repairs && rtt ? repair_round_wait(rtt) : 0);
    audio_session_set_path(s->config.audio, rtt,
                           video_pipeline_repair_time(video_player_pipeline(s->video)));
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
    audio_session_set_repair(s->config.audio, s->repairs && s->config.sdp->nack);
    if (s->video)
        video_player_set_stream(s->video, !repair->datagram);
    if (s->repairs && s->video && waits(s))
        of.patience = *s->config.sdp->via ? RELAYED_PATIENCE : PATIENCE;
    return video_receiver_set_repair(s->receiver, &of);
}

void stream_player_begin(struct stream_player *s, int seq, bool jumps, usec_t now)
{
    if (seq < 0)
        return;
    video_receiver_begin(s->receiver, (uint16_t)seq, jumps, now);
    if (s->video)
        set_missing(s);
}

bool stream_player_is_complete(const struct stream_player *s)
{
    return video_receiver_is_complete(s->receiver);
}

void stream_player_clock_sample(struct stream_player *s, usec_t asked, usec_t sender,
                                usec_t received)
{
    if (clock_sync_sample(&s->clock, asked, sender, received))
        report_clock(s);
}

void stream_player_second(struct stream_player *s, struct video_receiver_stats *out, usec_t now)
{
    video_receiver_second(s->receiver, out, now);
    if (out->lost)
        trace_loss(s->config.events, out->lost, out->loss_events, now);
    uint8_t report[RTCP_MAX_PACKET];
    size_t len = audio_session_second(s->config.audio, report, now);
    if (len)
        s->config.ops->send_rtcp(s->config.ctx, true, report, len);
}

void stream_player_report(struct stream_player *s)
{
    video_receiver_report(s->receiver);
}

void stream_player_send_bye(struct stream_player *s, usec_t now)
{
    video_receiver_send_bye(s->receiver, now);
}

// ---- State ----

struct video_player *stream_player_video(const struct stream_player *s)
{
    return s->video;
}

uint64_t stream_player_packets(const struct stream_player *s)
{
    return video_receiver_packets(s->receiver) + audio_session_packets(s->config.audio);
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

static bool open_receiver(struct stream_player *s)
{
    struct video_receiver_config config = {.loop = s->config.loop,
                                           .sdp = s->config.sdp,
                                           .clock = &s->clock,
                                           .sink = {s->config.qoe, on_event, s},
                                           .random = s->config.random,
                                           .send_rtcp = send_video_rtcp,
                                           .on_packet = on_packet,
                                           .on_frame = on_frame,
                                           .on_nacked = on_nacked,
                                           .on_bye = on_bye,
                                           .on_given_up = on_given_up,
                                           .on_report = on_report,
                                           .ecn_marked = ecn_marked,
                                           .second_bytes = second_bytes,
                                           .ctx = s};
    s->receiver = video_receiver_new(&config);
    return s->receiver;
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
    audio_session_join(config->audio, sdp, config->random);
    stream_recording_open(config->recording, sdp, sdp->audio.present && !config->options->no_audio,
                          clock_now());
    bool has_frames = sdp_has_frames(sdp);
    if (open_receiver(s) &&
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
    video_receiver_free(s->receiver);
    free(s);
}
