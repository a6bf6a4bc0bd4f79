// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/stream_server.h"

#include "common/wire/rtp.h"

enum {
    FU_HEAD = 2,
    PEAK_FACTOR_X2 = 5
}; // frames may leave at 2.5 times the mean rate, as session.c's

static const struct ladder *ladder_of(const struct stream_server *s)
{
    return &s->config.media->ladder;
}

void stream_server_init(struct stream_server *s, const struct stream_server_config *config,
                        struct rng *rng)
{
    *s = (struct stream_server){.config = *config, .level = -1, .sent_size = -1};
    rtp_sender_init(&s->rtp, RTP_PT_SYNTHETIC, rng);
    frame_clock_init(&s->clock, ladder_of(s)->source_fps);
}

void stream_server_set_carrier(struct stream_server *s, struct stream_carrier *carrier)
{
    s->carrier = carrier;
    scheduler_init(&s->scheduler, s->config.latency, 1, carrier->reliable);
}

static void reap(struct stream_server *s)
{
    struct scheduler_frame f;
    enum drop_cause cause;
    while (scheduler_dropped(&s->scheduler, &f, &cause)) {
        if (f.data == s->leaving) { // its rest went with it
            s->leaving = NULL;
            s->has_packet = false;
        }
        coded_frame_unref(f.data);
    }
}

void stream_server_destroy(struct stream_server *s)
{
    scheduler_clear(&s->scheduler);
    reap(s);
}

void stream_server_wish(struct stream_server *s, int level, double speed, usec_t now)
{
    if (level < 0 || level >= ladder_of(s)->level_count || s->over)
        return;
    if (s->level < 0)
        frame_clock_start(&s->clock, now);
    s->level = level;
    frame_clock_set_speed(&s->clock, speed);
    double bps = ladder_of(s)->levels[level].bitrate_bps * speed / 2 * PEAK_FACTOR_X2;
    if (s->carrier->ops->media_rate)
        s->carrier->ops->media_rate(s->carrier, (int)bps, now);
}

static void push(struct stream_server *s, struct coded_frame *f, usec_t due, usec_t now)
{
    if (f->size_id != s->sent_size) { // nothing of the old size from here on
        scheduler_flush(&s->scheduler, f->number);
        reap(s);
        scheduler_set_layers(&s->scheduler, ladder_of(s)->sizes[f->size_id].layers);
        s->sent_size = f->size_id;
    }
    f->captured = due;
    f->capture_wall = STREAM_WALL + due;
    struct scheduler_frame entry = {.number = f->number,
                                    .depends_on = f->depends_on,
                                    .temporal_id = f->temporal_id,
                                    .captured = due,
                                    .bytes = f->bytes,
                                    .data = f};
    scheduler_push(&s->scheduler, &entry, now);
    reap(s);
}

static struct coded_frame *make(const struct stream_server *s, int size_id, int64_t number)
{
    struct synthetic media = *s->config.media;
    struct synthetic_size *size = &media.sizes[size_id];
    int64_t index =
        size_index_of_frame(media.ladder.sizes[size_id].fps, media.ladder.source_fps, number);
    if (s->config.sizes && index >= 0)
        size->nal_bytes = frame_sizes_scale(s->config.sizes, index, size->nal_bytes);
    return synthetic_frame(&media, size_id, number);
}

// A wanted size begins with its next frame; until then the one before goes on.
static void produce(struct stream_server *s, int64_t number, usec_t due, usec_t now)
{
    struct coded_frame *f = make(s, ladder_of(s)->levels[s->level].size_id, number);
    if (!f && s->sent_size >= 0)
        f = make(s, s->sent_size, number);
    if (f)
        push(s, f, due, now);
}

void stream_server_end(struct stream_server *s)
{
    s->over = true;
}

void stream_server_run(struct stream_server *s, usec_t now)
{
    int64_t number;
    usec_t due;
    struct fps fps = ladder_of(s)->source_fps;
    while (s->level >= 0 && !s->over && frame_clock_tick(&s->clock, &number, &due, now)) {
        s->over = usec_of_frames(number, fps.num, fps.den) >= s->config.length;
        if (!s->over)
            produce(s, number, due, now);
    }
    stream_server_pump(s, now);
}

usec_t stream_server_next(const struct stream_server *s)
{
    return s->level >= 0 && !s->over ? frame_clock_next(&s->clock) : USEC_NEVER;
}

// The next packet of the frame that leaves, or of the one that the scheduler picks now.
static const struct coded_frame *prepare(struct stream_server *s, usec_t now)
{
    const struct scheduler_frame *next = scheduler_next(&s->scheduler, now);
    reap(s);
    if (!next)
        return NULL;
    const struct coded_frame *f = next->data;
    if (s->leaving != f) {
        packetiser_init(&s->packets, f->data, f->nals, f->nal_count);
        s->leaving = f;
        s->has_packet = false;
    }
    if (!s->has_packet)
        s->has_packet =
            packetiser_next(&s->packets, s->config.fragment_bytes + FU_HEAD, &s->payload);
    assert(s->has_packet);
    return f;
}

static void ask_feedback(const struct stream_server *s, struct rtp_packet *p)
{
    struct feedback_wish wish;
    p->has_feedback = s->carrier->ops->wish && s->carrier->ops->wish(s->carrier, &wish);
    if (!p->has_feedback)
        return;
    usec_t units = usec_min(wish.interval / RTP_FEEDBACK_UNIT_US, UINT16_MAX);
    p->feedback.interval = (uint16_t)usec_max(units, 1);
    p->feedback.packets = (uint8_t)(wish.packets < UINT8_MAX ? wish.packets : UINT8_MAX);
}

static void send_packet(struct stream_server *s, const struct coded_frame *f, usec_t now)
{
    uint8_t bytes[STREAM_MAX_RTP];
    const struct rtp_payload *payload = &s->payload;
    struct rtp_packet p = {
        .marker = payload->last,
        .has_adu = true,
        .adu = {.frame = (uint32_t)f->number,
                .written_us = (uint32_t)(STREAM_WALL + now),
                .size_id = (uint8_t)f->size_id,
                .temporal_id = (uint8_t)f->temporal_id,
                .level = (uint8_t)f->size_id, // of synthetic media each level is a size
                .key = f->key,
                .first = payload->first,
                .last = payload->last},
        .has_capture = payload->first,
        .capture_wall = f->capture_wall,
    };
    rtp_sender_stamp(&s->rtp, f->pts, &p);
    ask_feedback(s, &p);
    size_t len = rtp_encode(&p, bytes);
    assert(len + payload->head_len + payload->body_len <= sizeof(bytes));
    memcpy(bytes + len, payload->head, payload->head_len);
    memcpy(bytes + len + payload->head_len, payload->body, payload->body_len);
    size_t payload_len = payload->head_len + payload->body_len;
    rtp_sender_sent(&s->rtp, &p, f->number, f->capture_wall, payload_len);
    s->carrier->ops->send(s->carrier, bytes, len + payload_len, now);
}

// The carrier is not asked for room that nothing needs: it would take the session for one that it
// holds back.
void stream_server_pump(struct stream_server *s, usec_t now)
{
    const struct coded_frame *f;
    while (s->scheduler.count > 0 && s->carrier->ops->room(s->carrier, now) &&
           (f = prepare(s, now))) {
        bool last = s->payload.last;
        s->has_packet = false;
        send_packet(s, f, now);
        if (!last)
            continue;
        scheduler_done(&s->scheduler);
        s->leaving = NULL;
        coded_frame_unref((struct coded_frame *)(uintptr_t)f);
    }
}

bool stream_server_is_done(const struct stream_server *s)
{
    return s->over && s->scheduler.count == 0;
}
