// SPDX-License-Identifier: GPL-2.0-or-later
// RTP packets of one video stream in, whole frames out: which packets are of the stream and new
// (rtp_receiver.h), their latency, and the frames that they make (depacketiser.h; of a third
// party's stream after frame_assembler.h). weir-play and the simulator build this object. Pure, not
// thread-safe.
#ifndef WEIR_STREAM_RECEIVE_FRAME_RECEIVER_H
#define WEIR_STREAM_RECEIVE_FRAME_RECEIVER_H

#include "common/protocol/rtp_receiver.h"
#include "media/rtp/depacketiser.h"
#include "stream/qoe/viewing_event.h"
#include "stream/receive/clock_sync.h"

#ifdef __cplusplus
extern "C" {
#endif

struct frame_receiver_config {
    struct rtp_ext_ids ext;
    int payload_type;               // packets of another one are counted and dropped
    bool frames;                    // the packets are of frames; else they only fill the path
    bool third_party;               // packets say nothing of their frames (frame_assembler.h)
    bool adus;                      // each packet is an ADU of its own: its event has times
    struct fps fps;                 // of a third party's stream, as its description says
    const struct clock_sync *clock; // borrowed
    struct viewing_sink sink;
    // A packet of a frame, with its adu, that did not arrive before; before the frame that it may
    // complete.
    void (*on_packet)(void *ctx, const struct rtp_packet *p, int64_t ext_seq, usec_t arrived,
                      usec_t now);
    void (*on_frame)(void *ctx, struct received_frame *f, usec_t now); // takes the frame
    void *ctx;
};

struct frame_receiver; // opaque

struct frame_receiver *frame_receiver_new(const struct frame_receiver_config *c); // NULL: no memory
void frame_receiver_free(struct frame_receiver *r);                               // NULL is fine

// A datagram arrived. `rtt` separates loss events, 0: unknown. `wall_ahead`: our wall clock minus
// the clock of `arrived`. Returns true if it is a new packet of this stream.
bool frame_receiver_packet(struct frame_receiver *r, const uint8_t *data, size_t len, usec_t rtt,
                           usec_t wall_ahead, usec_t arrived, usec_t now);

struct rtp_receiver *frame_receiver_rtp(struct frame_receiver *r); // counts, reports, holes
// The mean one-way delay of the packets since the last call above the least delay of all, seconds;
// NaN: no packet tells. The clocks of the two ends need not agree.
double frame_receiver_queue(struct frame_receiver *r);
uint64_t frame_receiver_packets(const struct frame_receiver *r);   // of this stream
usec_t frame_receiver_media_span(const struct frame_receiver *r);  // that their time stamps span
uint32_t frame_receiver_shift(const struct frame_receiver *r);     // frame_assembler_shift
uint64_t frame_receiver_malformed(const struct frame_receiver *r); // packets
uint64_t frame_receiver_strange(const struct frame_receiver *r);   // of another type or source

#ifdef __cplusplus
}
#endif
#endif
