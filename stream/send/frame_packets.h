// SPDX-License-Identifier: GPL-2.0-or-later
// Cuts the frame that is being sent into packets of its codec's payload format, one at a time. A
// packet that the transport refused is offered again. Pure.
#ifndef WEIR_STREAM_SEND_FRAME_PACKETS_H
#define WEIR_STREAM_SEND_FRAME_PACKETS_H

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/wire/sdp.h"
#include "media/coded/coded_frame.h"
#include "media/rtp/vp9_payload.h"
#include "stream/send/packet_writer.h"

DECLS_BEGIN

struct frame_packets_config {
    enum sdp_codec codec;        // SDP_SYNTHETIC: NAL units, as H.264
    const struct ladder *ladder; // borrowed; not needed for H.264
    bool plain; // VP9: frames of one size, whose payload descriptors say nothing of layers
};

struct frame_packets { // frame_packets.c alone writes the fields
    struct frame_packets_config config;
    const struct coded_frame *frame; // borrowed; NULL: no frame is being sent
    int level;
    bool ends_picture; // no larger size of the picture follows
    struct packetiser packets;
    struct vp9_packetiser vp9;
    uint8_t structure[VP9_MAX_STRUCTURE]; // that `vp9` borrows
    bool has_payload;                     // `payload` waits to be sent
    struct rtp_payload payload;
    int left;          // packets after `payload`
    size_t left_bytes; // of payload in each that `left` was counted with; 0: not counted
    size_t sent;       // bytes of the frame that have left; 0: no frame is being sent
};

// All zero without this call: H.264.
void frame_packets_init(struct frame_packets *p, const struct frame_packets_config *config);
// Sets the frame to send, and its level. Starts with its first packet, unless this frame is already
// being sent. `largest`: the largest size that is sent; the last packet of its frame ends the
// picture (RTP marker).
void frame_packets_of(struct frame_packets *p, const struct coded_frame *frame, int level,
                      int largest);
void frame_packets_forget(struct frame_packets *p); // the caller dropped the frame
// Writes the next packet to `out`, with as much payload as the writer has room for. `fps`: frame
// rate of the source; `written_wall`: the wall clock now; `is_kept`: see struct outgoing_packet.
void frame_packets_next(struct frame_packets *p, const struct packet_writer *w, struct fps fps,
                        usec_t written_wall, bool is_kept, struct outgoing_packet *out);
// Call after the packet of frame_packets_next was sent. Returns true if it was the last packet of
// the frame; no frame is being sent then.
bool frame_packets_sent(struct frame_packets *p);

DECLS_END
#endif
