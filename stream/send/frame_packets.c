// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/frame_packets.h"

#include <assert.h>

void frame_packets_of(struct frame_packets *p, const struct coded_frame *frame, int level)
{
    if (p->frame == frame)
        return;
    packetiser_init(&p->packets, frame->data, frame->nals, frame->nal_count);
    p->frame = frame;
    p->level = level;
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

// Counts the packets that follow once a frame, and again if another transport has another room.
static void count_left(struct frame_packets *p, const struct packet_writer *w,
                       struct rtp_packet *shape)
{
    shape->has_capture = false;
    size_t room = packet_writer_payload_room(w, shape);
    p->left = p->left_bytes == room ? p->left - 1 : packetiser_left(&p->packets, room);
    p->left_bytes = room;
}

static void take_payload(struct frame_packets *p, const struct packet_writer *w)
{
    struct rtp_packet shape = {.has_adu = true,
                               .adu = {.reorder = (int16_t)p->frame->reorder, .has_left = true},
                               .has_capture = packetiser_is_at_first(&p->packets)};
    p->has_payload =
        packetiser_next(&p->packets, packet_writer_payload_room(w, &shape), &p->payload);
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
        .rtp = {.marker = p->payload.last,
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
                .has_capture = p->payload.first,
                .capture_wall = f->capture_wall},
        .payload = p->payload,
        .number = f->number,
        // Media time on the wire counts frames, so it advances evenly through seeks and pauses.
        .pts = usec_of_frames(f->number, fps.num, fps.den),
        .is_kept = is_kept,
        .captured = f->captured,
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
