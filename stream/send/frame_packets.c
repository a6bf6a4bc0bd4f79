// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/frame_packets.h"

#include <assert.h>

void frame_packets_init(struct frame_packets *p, const struct frame_packets_config *config)
{
    *p = (struct frame_packets){.config = *config};
}

static int64_t index_of(const struct ladder *l, int size_id, int64_t number)
{
    return size_index_of_frame(l->sizes[size_id].fps, l->source_fps, number);
}

static void write_structure(struct frame_packets *p, struct vp9_descriptor *d)
{
    const struct ladder *l = p->config.ladder;
    struct vp9_structure s = {.sizes = l->size_count};
    for (int i = 0; i < l->size_count; i++) {
        s.width[i] = (uint16_t)l->sizes[i].width;
        s.height[i] = (uint16_t)l->sizes[i].height;
    }
    d->structure = p->structure;
    d->structure_len = vp9_structure_write(&s, p->structure);
}

static void begin_vp9(struct frame_packets *p, const struct coded_frame *f)
{
    const struct ladder *l = p->config.ladder;
    bool predicted = f->depends_on >= 0;
    int64_t reference = predicted ? index_of(l, f->size_id, f->depends_on) : -1;
    struct vp9_descriptor d = vp9_descriptor_of(index_of(l, f->size_id, f->number), reference);
    if (p->config.plain) {
        d.flexible = false; // no differences: the references of a single size are obvious
        d.diff_count = 0;
    } else {
        d.has_layers = true;
        d.temporal_id = (uint8_t)f->temporal_id;
        d.size_id = (uint8_t)f->size_id;
        d.on_lower = f->on_lower;
        d.unused_above = f->size_id == l->size_count - 1;
        if (f->key)
            write_structure(p, &d);
    }
    vp9_packetiser_init(&p->vp9, f->data, f->bytes, &d);
}

void frame_packets_of(struct frame_packets *p, const struct coded_frame *frame, int level,
                      int largest)
{
    if (p->frame == frame)
        return;
    if (p->config.codec == SDP_VP9)
        begin_vp9(p, frame);
    else if (p->config.codec == SDP_HEVC)
        packetiser_init_hevc(&p->packets, frame->data, frame->nals, frame->nal_count);
    else
        packetiser_init(&p->packets, frame->data, frame->nals, frame->nal_count);
    p->frame = frame;
    p->level = level;
    p->ends_picture = frame->size_id >= largest;
    p->sent = 0;
    p->has_payload = false;
    p->left_bytes = 0;
}

void frame_packets_forget(struct frame_packets *p)
{
    p->frame = NULL;
    p->has_payload = false;
    p->sent = 0;
}

static bool is_at_first(const struct frame_packets *p)
{
    return p->config.codec == SDP_VP9 ? p->vp9.sent == 0 : packetiser_is_at_first(&p->packets);
}

static bool next_payload(struct frame_packets *p, size_t max)
{
    return p->config.codec == SDP_VP9 ? vp9_packetiser_next(&p->vp9, max, &p->payload)
                                      : packetiser_next(&p->packets, max, &p->payload);
}

static int payloads_left(const struct frame_packets *p, size_t max)
{
    return p->config.codec == SDP_VP9 ? vp9_packetiser_left(&p->vp9, max)
                                      : packetiser_left(&p->packets, max);
}

// Counts the packets that follow once a frame, and again if another transport has another room.
static void count_left(struct frame_packets *p, const struct packet_writer *w,
                       struct rtp_packet *shape)
{
    shape->has_capture = shape->has_made = false;
    size_t room = packet_writer_payload_room(w, shape);
    p->left = p->left_bytes == room ? p->left - 1 : payloads_left(p, room);
    p->left_bytes = room;
}

// Returns true if the first packet says when the frame was made.
static bool has_made(const struct coded_frame *f)
{
    return f->made > 0 && !f->hides_capture;
}

static void take_payload(struct frame_packets *p, const struct packet_writer *w)
{
    struct rtp_packet shape = {.has_adu = true,
                               .adu = {.reorder = (int16_t)p->frame->reorder, .has_left = true},
                               .has_capture = is_at_first(p) && !p->frame->hides_capture,
                               .has_made = is_at_first(p) && has_made(p->frame)};
    p->has_payload = next_payload(p, packet_writer_payload_room(w, &shape));
    assert(p->has_payload);
    count_left(p, w, &shape);
}

void frame_packets_next(struct frame_packets *p, const struct packet_writer *w, struct fps fps,
                        usec_t written_wall, bool is_kept, struct outgoing_packet *out)
{
    const struct coded_frame *f = p->frame;
    if (!p->has_payload)
        take_payload(p, w);
    *out = (struct outgoing_packet){
        .track = TRACK_VIDEO,
        .rtp = {.marker = p->payload.last && p->ends_picture,
                .has_adu = true,
                .adu = {.frame = (uint32_t)f->number,
                        .written_us = (uint32_t)written_wall,
                        .size_id = (uint8_t)f->size_id,
                        .on_lower = f->on_lower,
                        .temporal_id = (uint8_t)f->temporal_id,
                        .key = f->key,
                        .first = p->payload.first,
                        .last = p->payload.last,
                        .level = (uint8_t)p->level,
                        .depends = f->depends_on >= 0 ? (int16_t)(f->number - f->depends_on) : 0,
                        .reorder = (int16_t)f->reorder,
                        .has_left = true,
                        .left = (uint8_t)(p->left < UINT8_MAX ? p->left : UINT8_MAX)},
                .has_capture = p->payload.first && !f->hides_capture,
                .capture_wall = f->capture_wall,
                .has_made = p->payload.first && has_made(f),
                .made = {.ms = (uint16_t)usec_min(f->made / USEC_PER_MSEC, RTP_MADE_MAX_MS),
                         .is_slow = f->is_slow}},
        .payload = p->payload,
        .number = f->number,
        // Media time on the wire counts frames, so it advances evenly through seeks and pauses.
        .pts = usec_of_frames(f->number, fps.num, fps.den),
        .is_kept = is_kept,
        .captured = f->captured,
        .behind =
            f->bytes > p->sent + p->payload.body_len ? f->bytes - p->sent - p->payload.body_len : 0,
    };
}

bool frame_packets_sent(struct frame_packets *p)
{
    p->has_payload = false;
    p->sent += p->payload.body_len;
    if (!p->payload.last)
        return false;
    p->frame = NULL;
    p->sent = 0;
    return true;
}
