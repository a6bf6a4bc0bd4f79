// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/session.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/congestion/rto.h"
#include "common/net/clock.h"
#include "common/net/timer.h"
#include "common/protocol/rtp_sender.h"
#include "media/packetiser.h"
#include "sender/adaptation.h"
#include "sender/scheduler.h"
#include "sender/synthetic_feed.h"

enum {
    BATCH = 64,          // packets a wake-up: a greedy session must leave the loop to the others
    PEAK_FACTOR_X2 = 5,  // a picture stream's frames may leave at 2.5 times its mean rate: a key
                         // frame is many times the mean frame
    MAX_GAP = 1000,      // frames
    PACKET_HEADERS = 40, // of RTP with its extensions, and what frames it
};

// A viewer that shall report packets and has not reported one for so long is not there any more. A
// path that was away for 10 s has had its probe by then, and the probe its answer.
static const usec_t UNHEARD_AFTER = 10 * USEC_PER_SEC + RTO_MOST_LIVE + USEC_PER_SEC;

struct session {
    struct session_config config;
    struct transport *transport; // owned
    struct timer *timer;         // owned: the next batch
    struct synthetic_feed *feed; // owned; NULL: other media
    struct rtp_sender rtp;
    struct scheduler scheduler;
    char cname[64];
    bool playing;
    bool watching;    // the engine counts it: for size_id, and for wanted_size if that is another
    bool ending;      // the source ended: what waits still leaves
    int level;        // wanted now
    int sent_level;   // of size_id; differs from `level` until its key frame comes
    int size_id;      // sent now
    int wanted_size;  // of `level`; differs from size_id until its key frame comes
    int top;          // the highest temporal layer sent now
    bool waiting_key; // nothing of size_id decodes for this viewer yet
    int64_t newest;   // number of the newest frame of size_id that came
    uint64_t uncoded; // frames of the level that the encoder left out, being too slow
    bool follows;     // the network: `adaptation` says level and encoder's rate
    struct adaptation adaptation;
    double made;      // bytes for this viewer, with the headers of their packets
    int steered;      // the size whose encoder's rate is this session's; -1 none
    uint64_t thinned; // frames left out to be within the rate at once
    double speed;     // that the media comes at
    usec_t latency;
    usec_t last_progress; // a packet left, or there was nothing to send
    usec_t begun_at;      // when PLAY came
    int64_t filler;       // packets made
    usec_t due_at;        // steady: when the next one is written
    bool has_packet;      // `payload` waits to be sent
    struct rtp_payload payload;
    struct packetiser packets; // over the frame that leaves
    // The scheduler's begun frame, which holds the reference; NULL = none.
    const struct coded_frame *leaving;
    int leaving_level;
};

static bool is_filler(const struct session *s)
{
    return stream_is_filler(s->config.stream);
}

static bool is_greedy(const struct session *s)
{
    return s->config.stream->kind == SDP_SOURCE_GREEDY;
}

static const struct ladder *ladder_of(const struct session *s)
{
    return &s->config.stream->ladder;
}

static const struct level *level_of(const struct session *s)
{
    return &ladder_of(s)->levels[s->level];
}

static void on_room(void *ctx, usec_t now);

static void on_timer(void *ctx, usec_t now)
{
    on_room(ctx, now);
}

static void on_synthetic_frame(void *ctx, struct coded_frame *f, usec_t now)
{
    session_on_frame(ctx, f, now);
}

static void set_media_rate(struct session *s, usec_t now)
{
    if (!s->transport->ops->on_media_rate)
        return;
    double bps = level_of(s)->bitrate_bps * s->speed;
    bps = is_greedy(s) ? bps : bps / 2 * PEAK_FACTOR_X2;
    s->transport->ops->on_media_rate(s->transport, bps < INT_MAX ? (int)bps : INT_MAX, now);
}

struct session *session_new(const struct session_config *config, usec_t now)
{
    struct session *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->config = *config;
    s->config.path.on_room = on_room;
    s->config.path.ctx = s;
    s->follows = config->follows && config->stream->engine;
    s->steered = -1;
    adaptation_init(&s->adaptation, ladder_of(s), config->level, config->start_bps,
                    config->keeps_size);
    s->level = s->follows ? s->adaptation.level : config->level;
    s->size_id = s->wanted_size = level_of(s)->size_id;
    s->waiting_key = true;
    s->speed = 1;
    s->latency = SESSION_LATENCY_DEFAULT_MS * USEC_PER_MSEC;
    s->last_progress = now;
    rtp_sender_init(&s->rtp, config->stream->engine ? RTP_PT_H264 : RTP_PT_SYNTHETIC,
                    &config->stream->rng);
    s->config.path.ssrc = s->rtp.ssrc;
    s->config.path.first_seq = s->rtp.next_seq;
    s->transport = transport_open(config->transport, &s->config.path, now);
    if (!s->transport)
        goto free_session;
    s->timer = timer_new(config->path.loop, on_timer, s);
    if (!s->timer)
        goto free_transport;
    if (stream_is_synthetic(config->stream) &&
        !(s->feed = synthetic_feed_new(config->path.loop, &config->stream->synthetic,
                                       on_synthetic_frame, s)))
        goto free_timer;
    if (stream_add(config->stream, s) != 0)
        goto free_feed;
    snprintf(s->cname, sizeof(s->cname), "weir-send-%s", config->id);
    scheduler_init(&s->scheduler, s->latency, ladder_of(s)->sizes[s->size_id].layers,
                   s->transport->kind->reliable);
    set_media_rate(s, now);
    return s;

free_feed:
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

// Does a later frame lean on one of this layer? None does on the top layer, unless it is the only
// one.
static bool is_leaned_on(const struct session *s, int size_id, int temporal_id)
{
    int layers = ladder_of(s)->sizes[size_id].layers;
    return layers == 1 || temporal_id < layers - 1;
}

// Frees what the scheduler gave up, and has the encoder make later frames independent of it.
static void reap(struct session *s)
{
    struct scheduler_frame f;
    enum drop_cause cause;
    while (scheduler_dropped(&s->scheduler, &f, &cause)) {
        struct coded_frame *frame = f.data;
        if (frame == s->leaving) { // its rest went with it
            s->leaving = NULL;
            s->has_packet = false;
        }
        if (s->watching && s->config.stream->engine && cause != DROP_FLUSHED &&
            cause != DROP_BROKEN && is_leaned_on(s, frame->size_id, f.temporal_id))
            engine_repair(s->config.stream->engine, frame->size_id, f.number);
        coded_frame_unref(frame);
    }
}

static void send_report(struct session *s, bool bye, usec_t now)
{
    uint8_t out[RTCP_MAX_PACKET];
    size_t len = rtp_sender_report(&s->rtp, s->cname, clock_wall(), bye, out, sizeof(out));
    s->transport->ops->send_rtcp(s->transport, out, len, now);
}

static void watch(struct session *s, int size_id, int change)
{
    if (s->feed)
        synthetic_feed_watch(s->feed, size_id, change);
    else if (!is_filler(s))
        engine_watch(s->config.stream->engine, size_id, change);
}

// The encoder's rate of `size_id` is this session's from now on, and that of no other; -1: of none.
static void steer(struct session *s, int size_id, int bitrate_bps)
{
    struct engine *engine = s->config.stream->engine;
    if (s->steered >= 0 && s->steered != size_id)
        engine_set_bitrate(engine, s->steered, 0);
    if (size_id >= 0)
        engine_set_bitrate(engine, size_id, bitrate_bps);
    s->steered = size_id;
}

static void unwatch(struct session *s)
{
    if (!s->watching)
        return;
    s->watching = false;
    steer(s, -1, 0);
    rate_follow_restart(&s->adaptation.rate);
    watch(s, s->size_id, -1);
    if (s->wanted_size != s->size_id)
        watch(s, s->wanted_size, -1);
    s->size_id = s->wanted_size;
}

static void stop_playing(struct session *s)
{
    s->playing = s->ending = false;
    s->config.stream->playing--;
    unwatch(s);
}

void session_play(struct session *s, usec_t now)
{
    if (!s->playing) {
        s->playing = true;
        s->begun_at = s->last_progress = s->due_at = now;
        s->config.stream->playing++;
        send_report(s, false, now);
        if (is_filler(s))
            timer_set(s->timer, now);
    }
    if (s->watching)
        return;
    s->watching = true;
    s->ending = false;
    s->waiting_key = true;
    s->sent_level = s->level;
    s->top = level_of(s)->temporal_id;
    scheduler_set_layers(&s->scheduler, ladder_of(s)->sizes[s->size_id].layers);
    watch(s, s->size_id, +1);
}

void session_pause(struct session *s, usec_t now)
{
    (void)now;
    if (!s->playing)
        return;
    stop_playing(s);
    // A frame that began to go out on a stream still goes out whole; what waits behind it is of no
    // use later.
    scheduler_flush(&s->scheduler, 0);
    reap(s);
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
        send_report(s, true, now);
        stop_playing(s);
    }
    scheduler_clear(&s->scheduler);
    reap(s);
    stream_remove(s->config.stream, s);
    synthetic_feed_free(s->feed);
    timer_free(s->timer);
    s->transport->ops->free(s->transport);
    free(s);
}

static void serve_level(struct session *s, int level, usec_t now)
{
    if (level == s->level)
        return;
    int before = s->wanted_size;
    s->level = level;
    s->wanted_size = level_of(s)->size_id;
    set_media_rate(s, now);
    if (!s->watching) {
        s->size_id = s->wanted_size;
        return;
    }
    // The old size is watched until the new one's key frame comes; a size asked for in between is
    // let go.
    if (s->wanted_size != before) {
        if (s->wanted_size != s->size_id)
            watch(s, s->wanted_size, +1);
        if (before != s->size_id)
            watch(s, before, -1);
    }
}

int session_set_level(struct session *s, int level, usec_t now)
{
    if (level < 0 || level >= ladder_of(s)->level_count)
        return ERR_RANGE;
    adaptation_set_cap(&s->adaptation, level);
    serve_level(s, s->follows ? s->adaptation.level : level, now);
    return 0;
}

void session_set_follows(struct session *s, bool follows, usec_t now)
{
    s->follows = follows && s->config.stream->engine;
    if (s->follows)
        return;
    steer(s, -1, 0);
    serve_level(s, s->adaptation.cap, now);
}

// Does what the network's state calls for; about every frame.
static void follow(struct session *s, usec_t now)
{
    struct transport_info info;
    session_info(s, &info, now);
    if (isnan(info.delivered_bytes))
        return;
    // A smoothed one lags behind queues; the kernel's, taken of each ACK, does so little.
    double rtt_ms = isnan(info.latest_rtt_ms) ? info.rtt_ms : info.latest_rtt_ms;
    struct rate_follow_sample sample = {
        .delivered = info.delivered_bytes,
        .made = s->made,
        .unsent = isnan(info.unsent_bytes) ? 0 : info.unsent_bytes,
        .allowed_bps = s->transport->kind->responsive ? info.allowed_bps : NAN,
        .rtt = isnan(rtt_ms) ? 0 : (usec_t)(rtt_ms * USEC_PER_MSEC),
        .waiting = scheduler_waiting(&s->scheduler, now),
    };
    bool alone = s->config.stream->playing == 1;
    if (!adaptation_update(&s->adaptation, &sample, alone, now))
        return;
    serve_level(s, s->adaptation.level, now);
    if (s->adaptation.encoder_bps)
        steer(s, s->wanted_size, s->adaptation.encoder_bps);
    else
        steer(s, -1, 0);
}

void session_set_speed(struct session *s, double speed, usec_t now)
{
    s->speed = speed;
    set_media_rate(s, now);
    if (s->feed)
        synthetic_feed_set_speed(s->feed, speed);
}

int session_level(const struct session *s)
{
    return s->level;
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

// Has the packet ask for the feedback that the transport wants.
static void ask_feedback(const struct session *s, struct rtp_packet *p)
{
    struct feedback_wish wish;
    p->has_feedback = s->transport->ops->wish && s->transport->ops->wish(s->transport, &wish);
    if (!p->has_feedback)
        return;
    usec_t units = usec_min(wish.interval / RTP_FEEDBACK_UNIT_US, UINT16_MAX);
    p->feedback.interval = (uint16_t)usec_max(units, 1);
    p->feedback.packets = (uint8_t)(wish.packets < UINT8_MAX ? wish.packets : UINT8_MAX);
}

// Hands one packet to the transport. 0, ERR_AGAIN, ERR_CLOSED.
static int send_packet(struct session *s, struct rtp_packet *p, const struct rtp_payload *payload,
                       int64_t number, usec_t pts, usec_t capture_wall, usec_t now)
{
    rtp_sender_stamp(&s->rtp, pts, p);
    ask_feedback(s, p);
    uint8_t head[RTP_MAX_HEADER + sizeof(payload->head)];
    size_t len = rtp_encode(p, head);
    memcpy(head + len, payload->head, payload->head_len);
    struct iovec parts[2] = {{head, len + payload->head_len}, {NULL, payload->body_len}};
    parts[1].iov_base = (uint8_t *)(uintptr_t)payload->body; // read only
    int err = s->transport->ops->send(s->transport, parts, 2, now);
    if (err)
        return err;
    rtp_sender_sent(&s->rtp, p, number, capture_wall, payload->head_len + payload->body_len);
    s->last_progress = now;
    return 0;
}

// The next packet of the frame that leaves, or of the one the scheduler picks now. False: none.
static bool prepare(struct session *s, const struct coded_frame **frame, usec_t now)
{
    const struct scheduler_frame *f = scheduler_next(&s->scheduler, now);
    reap(s);
    if (!f)
        return false;
    *frame = f->data;
    if (s->leaving != *frame) {
        packetiser_init(&s->packets, (*frame)->data, (*frame)->nals, (*frame)->nal_count);
        s->leaving = *frame;
        s->leaving_level = f->level;
        s->has_packet = false;
    }
    if (!s->has_packet) {
        size_t room = s->transport->max_packet - RTP_MAX_HEADER;
        s->has_packet = packetiser_next(&s->packets, room, &s->payload);
        assert(s->has_packet);
    }
    return true;
}

static int send_media(struct session *s, usec_t now)
{
    const struct coded_frame *f;
    if (!prepare(s, &f, now))
        return ERR_NOT_FOUND;
    struct rtp_packet p = {
        .marker = s->payload.last,
        .has_adu = true,
        .adu = {.frame = (uint32_t)f->number,
                .written_us = (uint32_t)clock_wall(),
                .size_id = (uint8_t)f->size_id,
                .temporal_id = (uint8_t)f->temporal_id,
                .key = f->key,
                .first = s->payload.first,
                .last = s->payload.last,
                .level = (uint8_t)s->leaving_level,
                .depends = f->depends_on >= 0 ? (uint16_t)(f->number - f->depends_on) : 0},
        .has_capture = s->payload.first,
        .capture_wall = f->capture_wall,
    };
    // Media time on the wire counts frames, so it goes on evenly through seeks and pauses.
    usec_t pts =
        usec_of_frames(f->number, ladder_of(s)->source_fps.num, ladder_of(s)->source_fps.den);
    int err = send_packet(s, &p, &s->payload, f->number, pts, f->capture_wall, now);
    if (err)
        return err;
    s->has_packet = false;
    if (p.adu.last) {
        scheduler_done(&s->scheduler);
        s->leaving = NULL;
        coded_frame_unref((struct coded_frame *)(uintptr_t)f);
    }
    return 0;
}

// Between two packets of steady filler; 0: greedy.
static usec_t filler_interval(const struct session *s)
{
    if (is_greedy(s))
        return 0;
    usec_t bits = (usec_t)s->transport->max_packet * 8;
    return usec_max(bits * USEC_PER_SEC / level_of(s)->bitrate_bps, 1);
}

// Of steady filler the oldest are left out, once they waited for the viewer's latency.
static void drop_stale_filler(struct session *s, usec_t interval, usec_t now)
{
    usec_t late = now - s->latency - s->due_at;
    if (late <= 0)
        return;
    int64_t count = late / interval + 1;
    s->filler += count;
    s->due_at += count * interval;
}

static int send_filler(struct session *s, usec_t now)
{
    static const uint8_t zeros[65536];
    size_t len = s->transport->max_packet - RTP_MAX_HEADER;
    usec_t interval = filler_interval(s);
    if (interval > 0)
        drop_stale_filler(s, interval, now);
    struct rtp_payload payload = {.body = zeros,
                                  .body_len = len < sizeof(zeros) ? len : sizeof(zeros)};
    usec_t written_at = interval > 0 ? s->due_at : now;
    usec_t wall = clock_wall() - (now - written_at);
    struct rtp_packet p = {
        .marker = true,
        .has_adu = true,
        .adu = {.frame = (uint32_t)s->filler,
                .written_us = (uint32_t)wall,
                .key = true,
                .first = true,
                .last = true},
        .has_capture = true,
        .capture_wall = wall,
    };
    int err = send_packet(s, &p, &payload, s->filler, written_at - s->begun_at, wall, now);
    if (err)
        return err;
    s->filler++;
    s->due_at += interval;
    return 0;
}

// At the end of the media a session goes back to Ready (RFC 2326, A.2): PLAY begins again.
static void tell_end(struct session *s, usec_t now)
{
    if (!s->ending || s->scheduler.count)
        return;
    send_report(s, true, now);
    stop_playing(s);
}

static bool has_packets(const struct session *s, usec_t now)
{
    if (is_filler(s))
        return s->playing && (is_greedy(s) || now >= s->due_at);
    return s->scheduler.count > 0 && (s->playing || s->leaving);
}

// Sends while the transport has room. It is not asked for room that nothing needs: it would take
// the session for one that it holds back.
static void pump(struct session *s, usec_t now)
{
    int sent = 0;
    bool more = has_packets(s, now);
    while (more && sent < BATCH && s->transport->ops->room(s->transport, now)) {
        int err = is_filler(s) ? send_filler(s, now) : send_media(s, now);
        if (err == ERR_NOT_FOUND)
            s->last_progress = now;
        if (err == ERR_CLOSED)
            s->config.on_stuck(s->config.ctx, "its connection is gone");
        more = !err && has_packets(s, now);
        sent += !err;
    }
    if (s->transport->ops->flush)
        s->transport->ops->flush(s->transport, now);
    if (sent == BATCH)
        timer_set(s->timer, now);
    else if (is_filler(s) && s->playing && s->due_at > now)
        timer_set(s->timer, s->due_at);
    tell_end(s, now);
}

static void on_room(void *ctx, usec_t now)
{
    pump(ctx, now);
}

size_t session_packet_bytes(const struct session *s)
{
    return s->transport->max_packet;
}

void session_writable(struct session *s, usec_t now)
{
    if (s->transport->ops->on_writable)
        s->transport->ops->on_writable(s->transport, now);
}

// The wanted size begins with this key frame: nothing of the old size from here on.
static void switch_size(struct session *s, const struct coded_frame *f)
{
    watch(s, s->size_id, -1);
    s->size_id = f->size_id;
    scheduler_flush(&s->scheduler, f->number);
    reap(s);
    scheduler_set_layers(&s->scheduler, ladder_of(s)->sizes[s->size_id].layers);
    s->newest = f->number - 1;
}

// Frames of the level between the newest and this one never came from the encoder.
static void count_uncoded(struct session *s, int64_t number)
{
    if (s->size_id != s->wanted_size)
        return;
    int64_t from = number - s->newest > MAX_GAP ? number - MAX_GAP : s->newest + 1;
    for (int64_t n = from; n < number; n++)
        s->uncoded += level_has_frame(ladder_of(s), s->level, n);
}

uint64_t session_skipped(const struct session *s)
{
    uint64_t skipped = s->uncoded + s->thinned;
    for (int cause = 0; cause < DROP_CAUSES; cause++)
        if (cause != DROP_FLUSHED)
            skipped += s->scheduler.counters.by_cause[cause];
    return skipped;
}

void session_on_frame(struct session *s, struct coded_frame *f, usec_t now)
{
    if (!s->watching || is_filler(s))
        return;
    if (f->size_id == s->wanted_size && s->size_id != s->wanted_size && f->key)
        switch_size(s, f);
    if (f->size_id != s->size_id || (s->waiting_key && !f->key))
        return;
    if (!s->waiting_key)
        count_uncoded(s, f->number);
    s->waiting_key = false;
    s->newest = f->number;
    if (s->follows)
        follow(s, now);
    // More layers from a base frame on only: before it they lean on what was left out. While
    // another size is awaited, the old one goes on at its level.
    if (s->size_id == s->wanted_size)
        s->sent_level = s->level;
    int whole = ladder_of(s)->levels[s->sent_level].temporal_id;
    int top = s->follows && s->adaptation.top < whole ? s->adaptation.top : whole;
    if (f->temporal_id == 0 || top < s->top)
        s->top = top;
    if (f->temporal_id > s->top) {
        s->thinned += f->temporal_id <= whole && top < whole;
        return;
    }
    s->made += (double)(f->bytes + (f->bytes / s->transport->max_packet + 1) * PACKET_HEADERS);
    struct scheduler_frame entry = {
        .number = f->number,
        .depends_on = f->depends_on,
        .temporal_id = f->temporal_id,
        .captured = f->captured,
        .bytes = f->bytes,
        .level = s->sent_level,
        .data = coded_frame_ref(f),
    };
    scheduler_push(&s->scheduler, &entry, now);
    reap(s);
    pump(s, now);
}

void session_on_end(struct session *s, usec_t now)
{
    if (!s->playing)
        return;
    // Who still has frames to get does not keep the source from beginning again for others.
    unwatch(s);
    s->ending = true;
    tell_end(s, now);
}

static void on_nack(struct session *s, const struct rtcp_item *item)
{
    int layers = ladder_of(s)->sizes[s->size_id].layers;
    for (int i = 0; i < item->nack_count; i++) {
        int64_t frames[17];
        int count = rtp_sender_frames_of_nack(&s->rtp, item->nacks[i], frames, 17);
        for (int k = 0; k < count; k++) {
            int64_t index = size_index_of_frame(ladder_of(s)->sizes[s->size_id].fps,
                                                ladder_of(s)->source_fps, frames[k]);
            if (index >= 0 && is_leaned_on(s, s->size_id, layer_temporal_id(index, layers)))
                engine_repair(s->config.stream->engine, s->size_id, frames[k]);
        }
    }
}

static void on_reports(struct session *s, const struct rtcp_item *item, usec_t now)
{
    for (int i = 0; i < item->report_count; i++) {
        const struct rtcp_report *r = &item->reports[i];
        if (r->ssrc != s->rtp.ssrc || !s->transport->ops->on_report)
            continue;
        struct transport_report report = {.fraction_lost = r->fraction_lost / 256.0,
                                          .rtt = rtp_sender_rtt(&s->rtp, r, clock_wall())};
        s->transport->ops->on_report(s->transport, &report, now);
    }
}

void session_rtcp(struct session *s, const uint8_t *data, size_t len, usec_t now)
{
    struct rtcp_item item;
    size_t at = 0;
    int got;
    while ((got = rtcp_next(data, len, &at, &item)) == 1) {
        bool ours = item.media_ssrc == s->rtp.ssrc;
        if (item.kind == RTCP_IS_RR || item.kind == RTCP_IS_SR)
            on_reports(s, &item, now);
        else if (item.kind == RTCP_IS_NACK && ours && s->config.stream->engine)
            on_nack(s, &item);
        else if (item.kind == RTCP_IS_PLI && ours && s->config.stream->engine)
            engine_request_key(s->config.stream->engine, s->size_id);
    }
    if (s->transport->ops->on_rtcp)
        s->transport->ops->on_rtcp(s->transport, data, len, now);
    if (got < 0)
        log_debug("session %s: malformed RTCP was dropped", s->config.id);
}

void session_media(struct session *s, const uint8_t *data, size_t len, usec_t now)
{
    if (s->transport->ops->on_media)
        s->transport->ops->on_media(s->transport, data, len, now);
}

// Ends without a BYE, which would tell of the media's end.
static bool is_unheard(struct session *s, usec_t now)
{
    struct transport_info info;
    session_info(s, &info, now);
    if (usec_min(info.unheard, now - s->begun_at) < UNHEARD_AFTER)
        return false;
    stop_playing(s);
    s->config.on_stuck(s->config.ctx, "no report of a received packet came from it for 13 s");
    return true;
}

static bool is_unproved(const struct session *s)
{
    return s->config.address && s->config.address->peer[0].ss_family == AF_UNSPEC;
}

void session_second(struct session *s, usec_t now)
{
    if (!s->playing || is_unheard(s, now))
        return;
    send_report(s, false, now);
    // Nothing to send is no sign of being stuck; but an empty queue is also what is left when
    // nothing could leave and all was dropped.
    if (s->scheduler.count == 0 && !is_filler(s) && s->transport->ops->room(s->transport, now))
        s->last_progress = now;
    if (now - s->last_progress <= s->config.stream->viewer_timeout)
        return;
    char why[80];
    snprintf(why, sizeof(why), "%s for %.0f s",
             is_unproved(s) ? "its media port has not shown its token" : "it has not taken a byte",
             usec_to_sec(s->config.stream->viewer_timeout));
    s->config.on_stuck(s->config.ctx, why);
}

void session_info(struct session *s, struct transport_info *out, usec_t now)
{
    s->transport->ops->info(s->transport, out, now);
}

void session_view(struct session *s, struct session_view *out, usec_t now)
{
    *out = (struct session_view){
        .id = s->config.id,
        .transport = s->transport->name,
        .playing = s->playing,
        .level = s->level,
        .size_id = s->size_id,
        .stream = s->config.stream,
        .scheduler = &s->scheduler,
        .packets = s->rtp.packets,
        .octets = s->rtp.octets,
        .adaptation = s->follows ? &s->adaptation : NULL,
        .thinned = s->thinned,
        .wrong_tokens = s->config.address ? s->config.address->wrong_tokens : 0,
    };
    session_info(s, &out->info, now);
}
