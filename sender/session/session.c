// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/session/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "sender/session/session_state.h"

static void on_room(void *ctx, usec_t now)
{
    session_pump(ctx, now);
}

static void on_timer(void *ctx, usec_t now)
{
    on_room(ctx, now);
}

static void on_synthetic_frame(void *ctx, struct coded_frame *f, usec_t now)
{
    session_on_frame(ctx, f, now);
}

static void on_stored_frame(void *ctx, struct coded_frame *f, usec_t now)
{
    session_on_frame(ctx, f, now);
}

static void on_stored_audio(void *ctx, struct coded_audio *c, usec_t now)
{
    session_on_audio(ctx, c, now);
}

static void on_stored_again(void *ctx, struct coded_frame *f, usec_t now)
{
    session_on_again(ctx, f, now);
}

static void on_stored_end(void *ctx, usec_t now)
{
    struct session *s = ctx;
    s->sink.ops->on_end(&s->sink, now);
}

static bool open_stored(struct session *s)
{
    static const struct stored_feed_events events = {.on_frame = on_stored_frame,
                                                     .on_audio = on_stored_audio,
                                                     .on_again = on_stored_again,
                                                     .on_end = on_stored_end};
    struct stored_feed_config config = {.cache = s->config.stream->stored,
                                        .loop = s->config.stream->loop,
                                        .exact = !s->config.keeps_size,
                                        .events = &events,
                                        .ctx = s};
    s->stored = stored_feed_new(s->config.path.loop, &config);
    return s->stored;
}

static const struct frame_sink_ops sink_ops;

struct session *session_new(const struct session_config *config, usec_t now)
{
    struct session *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->sink.ops = &sink_ops;
    s->config = *config;
    s->config.path.on_room = on_room;
    s->config.path.ctx = s;
    s->steered = -1;
    s->waiting_key = true;
    s->resumable = -1;
    s->speed = 1;
    s->rng = rng_seeded(config->seed);
    stored_retransmit_init(&s->repairs);
    feedback_limit_init(&s->feedback, now);
    s->latency = SESSION_LATENCY_DEFAULT_MS * USEC_PER_MSEC;
    s->last_progress = now;
    rtp_sender_init(&s->rtp, stream_has_pictures(config->stream) ? RTP_PT_H264 : RTP_PT_SYNTHETIC,
                    &s->rng);
    s->config.path.ssrc = s->rtp.ssrc;
    s->config.path.first_seq = s->flow_number = s->rtp.next_seq;
    s->transport = transport_open(config->transport, &s->config.path, now);
    if (!s->transport)
        goto free_session;
    s->follows = config->follows && session_can_follow(s);
    adaptation_init(&s->adaptation, session_ladder(s), config->level, config->start_bps,
                    config->keeps_size);
    s->level = s->follows ? s->adaptation.level : config->level;
    s->size_id = s->wanted_size = session_level_now(s)->size_id;
    s->timer = timer_new(config->path.loop, on_timer, s);
    if (!s->timer)
        goto free_transport;
    if (stream_is_synthetic(config->stream) &&
        !(s->feed = synthetic_feed_new(config->path.loop, &config->stream->synthetic,
                                       on_synthetic_frame, s)))
        goto free_timer;
    if (config->stream->stored && !open_stored(s))
        goto free_feed;
    // MTP's packets have numbers of their own: RTP's may come twice.
    if (s->transport->kind->repeats && config->stream->engine &&
        !(s->resend = retransmit_buffer_new()))
        goto free_feed;
    s->number = stream_add(config->stream, &s->sink);
    if (s->number < 0)
        goto free_feed;
    snprintf(s->cname, sizeof(s->cname), "weir-send-%s", config->id);
    scheduler_init(&s->scheduler, s->latency, session_ladder(s)->sizes[s->size_id].layers,
                   s->transport->kind->reliable);
    session_set_media_rate(s, now);
    return s;

free_feed:
    retransmit_buffer_free(s->resend);
    stored_feed_free(s->stored);
    synthetic_feed_free(s->feed);
free_timer:
    timer_free(s->timer);
free_transport:
    s->transport->ops->free(s->transport);
free_session:
    free(s);
    log_error("cannot set up a session");
    return NULL;
}

void session_report_track(struct session *s, enum transport_track track, bool bye, usec_t now)
{
    uint8_t out[RTCP_MAX_PACKET];
    const struct rtp_sender *rtp = track == TRACK_AUDIO ? &s->audio.rtp : &s->rtp;
    size_t len = rtp_sender_report(rtp, s->cname, clock_wall(), bye, out, sizeof(out));
    s->transport->ops->send_rtcp(s->transport, track, out, len, now);
}

// Where there are two tracks, a report before the first packet would tell what the other's does
// not: a player brings them together by it.
void session_send_report(struct session *s, bool bye, usec_t now)
{
    bool both = s->audio.is_set_up;
    if (!s->config.audio_only && (!both || bye || s->rtp.packets))
        session_report_track(s, TRACK_VIDEO, bye, now);
    if (both && (bye || s->audio.rtp.packets))
        session_report_track(s, TRACK_AUDIO, bye, now);
}

void session_stop_playing(struct session *s)
{
    s->playing = s->ending = false;
    s->config.stream->playing--;
    session_unwatch(s);
}

void session_play(struct session *s, usec_t now)
{
    if (!s->playing) {
        s->playing = true;
        s->begun_at = s->last_progress = s->due_at = now;
        s->config.stream->playing++;
        session_send_report(s, false, now);
        if (session_is_filler(s))
            timer_set(s->timer, now);
    }
    if (s->watching)
        return;
    s->watching = true;
    s->ending = false;
    // What the viewer has all of goes on as it was, until a frame comes with which its level may
    // change.
    s->waiting_key = s->size_id != s->resumable;
    if (s->waiting_key) {
        s->size_id = s->wanted_size;
        s->sent_level = s->level;
        s->top = session_level_now(s)->temporal_id;
    }
    scheduler_set_layers(&s->scheduler, session_ladder(s)->sizes[s->size_id].layers);
    session_watch_size(s, s->size_id, +1);
    if (s->wanted_size != s->size_id)
        session_watch_size(s, s->wanted_size, +1);
    session_hear(s, true);
}

void session_pause(struct session *s, usec_t now)
{
    (void)now;
    if (!s->playing)
        return;
    session_stop_playing(s);
    const struct scheduler_frame *first = scheduler_first_waiting(&s->scheduler);
    const struct coded_frame *frame = first ? first->data : NULL;
    if (s->stored && frame)
        stored_feed_rewind(s->stored, frame->number + frame->reorder);
    // An encoder that nobody else watches stands still meanwhile.
    bool whole = s->stored || (!frame && s->config.stream->duration >= 0);
    s->resumable = s->waiting_key || !whole ? -1 : s->size_id;
    // A frame that began to go out on a stream still goes out whole; what waits behind it is of no
    // use later.
    scheduler_flush(&s->scheduler, 0);
    session_reap(s);
    session_clear_audio(s);
}

// What is on its way to the viewer is of the place that is left.
static void leave_place(struct session *s, int64_t from)
{
    s->from = from;
    s->resumable = -1;
    if (s->watching && s->wanted_size != s->size_id)
        session_watch_size(s, s->size_id, -1);
    s->size_id = s->wanted_size;
    s->waiting_key = true;
    scheduler_flush(&s->scheduler, 0);
    session_reap(s);
    session_clear_audio(s);
}

static void place_stored(struct session *s, double seconds, struct stored_place_told *out,
                         usec_t now)
{
    if (isnan(seconds)) {
        stored_feed_told(s->stored, out);
        return;
    }
    stored_feed_seek(s->stored, seconds, session_level_now(s), now);
    stored_feed_told(s->stored, out);
    leave_place(s, out->frames.first);
}

bool session_place(struct session *s, double seconds, struct stored_place_told *out, usec_t now)
{
    struct live_feed *engine = s->config.stream->engine;
    if (s->stored)
        place_stored(s, seconds, out, now);
    if (s->stored)
        return true;
    if (!engine || s->config.stream->duration < 0)
        return false;
    // More than the network takes would be lost, but for a transport that holds it back.
    bool ahead = s->transport->kind->holds_back;
    int64_t number;
    out->seconds = usec_to_sec(live_feed_position(engine, &number));
    int64_t first = ERR_UNSUPPORTED;
    if (!isnan(seconds) && fabs(seconds - out->seconds) > 0.001)
        first = live_feed_seek(engine, (usec_t)(seconds * 1e6), ahead);
    if (first >= 0) {
        leave_place(s, first);
        live_feed_begin(engine, s->size_id, s->number, first);
        out->seconds = seconds;
        number = first;
    }
    out->frames =
        (struct rtsp_frames){.first = number, .show = number, .ahead = first >= 0 && ahead};
    return true;
}

bool session_is_playing(const struct session *s)
{
    return s->playing;
}

void session_free(struct session *s, usec_t now)
{
    if (!s)
        return;
    if (s->playing) {
        session_send_report(s, true, now);
        session_stop_playing(s);
    }
    scheduler_clear(&s->scheduler);
    session_reap(s);
    session_clear_audio(s);
    stream_remove(s->config.stream, &s->sink, now);
    retransmit_buffer_free(s->resend);
    stored_feed_free(s->stored);
    synthetic_feed_free(s->feed);
    timer_free(s->timer);
    s->transport->ops->free(s->transport);
    free(s);
}

static void sink_end(struct frame_sink *sink, usec_t now)
{
    struct session *s = (struct session *)sink;
    if (!s->playing)
        return;
    // Who still has frames to get does not keep the source from beginning again for others.
    session_unwatch(s);
    s->resumable = -1;
    s->ending = true;
    session_tell_end(s, now);
}

void session_set_speed(struct session *s, double speed, usec_t now)
{
    s->speed = speed;
    session_set_media_rate(s, now);
    if (s->feed)
        synthetic_feed_set_speed(s->feed, speed);
    if (s->stored)
        stored_feed_set_speed(s->stored, speed);
}

int session_set_latency(struct session *s, int ms)
{
    if (ms < SESSION_LATENCY_MIN_MS || ms > SESSION_LATENCY_MAX_MS)
        return ERR_RANGE;
    s->latency = ms * USEC_PER_MSEC;
    scheduler_set_bound(&s->scheduler, s->latency);
    return 0;
}

void session_rtp_info(const struct session *s, uint16_t *seq, uint32_t *timestamp, uint32_t *ssrc)
{
    *seq = s->rtp.next_seq;
    *timestamp = s->rtp.packets ? s->rtp.last_timestamp : s->rtp.timestamp_offset;
    *ssrc = s->rtp.ssrc;
}

size_t session_packet_bytes(const struct session *s)
{
    return s->transport->max_packet;
}

const char *session_transport(const struct session *s)
{
    return s->transport->name;
}

void session_writable(struct session *s, usec_t now)
{
    if (s->transport->ops->on_writable)
        s->transport->ops->on_writable(s->transport, now);
}

void session_info(struct session *s, struct transport_info *out, usec_t now)
{
    s->transport->ops->info(s->transport, out, now);
}

static struct adaptation_stats adaptation_stats(const struct session *s)
{
    const struct adaptation *a = &s->adaptation;
    if (!s->follows)
        return (struct adaptation_stats){NAN, NAN, NAN, NAN, NAN, NAN};
    return (struct adaptation_stats){.target_bps = rate_estimator_bps(&a->rate),
                                     .delivered_bps = a->rate.took_bps,
                                     .capacity_bps = a->rate.capacity_bps,
                                     .encoder_bps = a->encoder_bps,
                                     .delay_ms = usec_to_msec(a->rate.delay),
                                     .rise_ms = usec_to_msec(a->rate.rise)};
}

static int sink_stats(struct frame_sink *sink, struct session_stats *out, usec_t now)
{
    struct session *s = (struct session *)sink;
    *out = (struct session_stats){
        .number = s->number,
        .playing = s->playing,
        .level = s->level,
        .size_id = s->size_id,
        .layers = session_ladder(s)->sizes[s->size_id].layers,
        .packets = s->rtp.packets,
        .octets = s->rtp.octets,
        .has_audio = s->audio.is_set_up,
        .audio_packets = s->audio.rtp.packets,
        .audio_octets = s->audio.rtp.octets,
        .audio_dropped = s->audio.queue.dropped,
        .wrong_tokens = s->config.address ? s->config.address->wrong_tokens : 0,
        .feedback_dropped = s->feedback.dropped,
        .thinned = s->thinned,
        .waiting_frames = s->scheduler.count,
        .waiting_bytes = s->scheduler.bytes,
        .waiting_ms = usec_to_msec(scheduler_waiting(&s->scheduler, now)),
        .frames = s->scheduler.counters,
        .follows = s->follows,
        .adaptation = adaptation_stats(s),
    };
    snprintf(out->id, sizeof(out->id), "%s", s->config.id);
    snprintf(out->transport, sizeof(out->transport), "%s", s->transport->name);
    session_info(s, &out->info, now);
    return transport_number(s->transport->kind);
}

static void sink_frame(struct frame_sink *sink, struct coded_frame *f, usec_t now)
{
    session_on_frame((struct session *)sink, f, now);
}

static void sink_audio(struct frame_sink *sink, struct coded_audio *c, usec_t now)
{
    session_on_audio((struct session *)sink, c, now);
}

static const struct frame_sink_ops sink_ops = {
    .on_frame = sink_frame, .on_audio = sink_audio, .on_end = sink_end, .stats = sink_stats};
