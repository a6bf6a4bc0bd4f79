// SPDX-License-Identifier: GPL-2.0-or-later
// Turns the RTP packets of one video stream into whole frames. Accepts the new packets of the
// stream (rtp_receiver.h), measures their latency, and assembles frames (depacketiser.h; for a
// third party's stream after frame_assembler.h). weir-play and the simulator build this object.
//
// Repair (repair_receiver.h): a packet that was sent again, or that parity recovers, takes part in
// its frame like any other, and the path's counters (frame_receiver_rtp) know it as lost. Only its
// latency is the viewer's, of sending it again included; a recovered one has none.
//
// Pure, not thread-safe.
#ifndef WEIR_STREAM_RECEIVE_FRAME_RECEIVER_H
#define WEIR_STREAM_RECEIVE_FRAME_RECEIVER_H

#include "common/base/decls.h"
#include "common/protocol/rtp_receiver.h"
#include "common/wire/sdp.h"
#include "media/rtp/depacketiser.h"
#include "stream/qoe/viewing_event.h"
#include "stream/receive/clock_sync.h"
#include "stream/receive/repair_receiver.h"

DECLS_BEGIN

struct frame_receiver_config {
    struct rtp_ext_ids ext;
    int payload_type;               // packets of another type are counted and dropped
    enum sdp_codec codec;           // SDP_SYNTHETIC: NAL units, as H.264
    bool frames;                    // packets carry frames; false: they are filler
    bool third_party;               // packets carry no adu_ext (frame_assembler.h)
    bool adus;                      // each packet is an ADU of its own; its event carries its times
    struct fps fps;                 // third party: frame rate in the stream's description
    const struct clock_sync *clock; // borrowed
    struct viewing_sink sink;
    // A packet of a frame arrived, with its adu; it is not a duplicate. Called before on_frame for
    // the frame that the packet completes.
    void (*on_packet)(void *ctx, const struct rtp_packet *p, int64_t ext_seq, usec_t arrived,
                      usec_t now);
    void (*on_frame)(void *ctx, struct received_frame *f, usec_t now); // takes over the frame
    void *ctx;
};

struct frame_receiver; // opaque

struct frame_receiver *frame_receiver_new(const struct frame_receiver_config *c); // NULL: no memory
void frame_receiver_free(struct frame_receiver *r);                               // NULL is fine

// Borrowed until another is set; NULL, as at first: lost packets stay lost. Call it before media
// arrives.
void frame_receiver_set_repair(struct frame_receiver *r, struct repair_receiver *repair);
// The media waits for its packets: they may arrive long after later ones. Call it before media
// arrives. 0, or ERR_NO_MEMORY.
int frame_receiver_wait(struct frame_receiver *r);

// A datagram arrived. `rtt`: separates loss events; 0: unknown. `wall_ahead`: our wall clock minus
// the clock of `arrived`. Returns true if it is a new packet of this stream; parity is none.
bool frame_receiver_packet(struct frame_receiver *r, const uint8_t *data, size_t len, usec_t rtt,
                           usec_t wall_ahead, usec_t arrived, usec_t now);

struct rtp_receiver *frame_receiver_rtp(struct frame_receiver *r); // for counters, report blocks
                                                                   // and holes
// Mean queueing delay since the last call in seconds: the one-way delay of the packets minus the
// smallest delay of all packets. NaN: no packet carried a time. The clocks of the two ends need not
// agree.
double frame_receiver_queue(struct frame_receiver *r);
uint64_t frame_receiver_packets(const struct frame_receiver *r);   // packets of this stream
usec_t frame_receiver_media_span(const struct frame_receiver *r);  // span of the frames' time
                                                                   // stamps
uint32_t frame_receiver_shift(const struct frame_receiver *r);     // frame_assembler_shift
uint64_t frame_receiver_malformed(const struct frame_receiver *r); // malformed packets
uint64_t frame_receiver_strange(const struct frame_receiver *r);   // packets of another payload
                                                                   // type or source

DECLS_END
#endif
