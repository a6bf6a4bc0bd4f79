// SPDX-License-Identifier: GPL-2.0-or-later
// Cuts the frame that is leaving into packets, one after the other: a packet that the transport
// refused is offered again. Pure.
#ifndef WEIR_STREAM_SEND_FRAME_PACKETS_H
#define WEIR_STREAM_SEND_FRAME_PACKETS_H

#include "common/base/level.h"
#include "media/coded/coded_frame.h"
#include "stream/send/packet_writer.h"

#ifdef __cplusplus
extern "C" {
#endif

struct frame_packets { // all zero to begin with; frame_packets.c alone writes the fields
    const struct coded_frame *frame; // borrowed; NULL: none is leaving
    int level;
    struct packetiser packets;
    bool has_payload; // it waits to be sent
    struct rtp_payload payload;
};

// `frame`, of that level, is leaving; its packets begin unless it is so already.
void frame_packets_of(struct frame_packets *p, const struct coded_frame *frame, int level);
void frame_packets_forget(struct frame_packets *p); // the frame is dropped
// The next packet, its payload as large as the writer has room for. `fps`: of the source;
// `written_wall`: the wall clock now; `is_kept`: as in struct outgoing_packet.
void frame_packets_next(struct frame_packets *p, const struct packet_writer *w, struct fps fps,
                        usec_t written_wall, bool is_kept, struct outgoing_packet *out);
// That packet was sent. Returns true if it was the frame's last: no frame is leaving now.
bool frame_packets_sent(struct frame_packets *p);

#ifdef __cplusplus
}
#endif
#endif
