// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the RTP packets of one viewer's video and audio to the transport. Adds sequence number and
// time stamp (rtp_sender.h), the feedback request and the header, and keeps a copy for
// retransmission (retransmit_buffer.h).
//
// Pure.
#ifndef WEIR_STREAM_SEND_PACKET_WRITER_H
#define WEIR_STREAM_SEND_PACKET_WRITER_H

#include "common/protocol/media_transport.h"
#include "common/protocol/rtp_sender.h"
#include "media/rtp/packetiser.h"

#ifdef __cplusplus
extern "C" {
#endif

struct retransmit_buffer;

struct outgoing_packet {
    enum media_track track;
    struct rtp_packet rtp;      // marker, ADU and capture time; the writer fills in the other
                                // fields
    struct rtp_payload payload; // its body is borrowed until the transport's flush
    int64_t number;             // number of its frame; -1: none
    usec_t pts;                 // media time
    bool is_kept;               // it is retransmitted if it gets lost
    usec_t captured;            // if it is kept: capture time of its media
};

struct packet_writer {
    struct media_transport *transport; // borrowed
    struct rtp_sender rtp[TRACKS];
    bool has_audio;
    bool reports_often;             // the media adapts to the network (rate_estimator.h)
    uint16_t flow_number;           // number of the next packet, counted over both tracks
    struct retransmit_buffer *kept; // owned; NULL: lost packets are not retransmitted
};

// `payload_type`: of the video. Call packet_writer_attach before the first packet.
void packet_writer_init(struct packet_writer *w, uint8_t payload_type, struct rng *rng);
void packet_writer_destroy(struct packet_writer *w);
// `transport` is borrowed. `keeps`: packets that are reported lost are retransmitted. Returns 0, or
// ERR_NO_MEMORY.
int packet_writer_attach(struct packet_writer *w, struct media_transport *transport, bool keeps);
void packet_writer_add_audio(struct packet_writer *w, struct rng *rng);
// Bytes of payload that fit into a packet with the header extensions of `shape`. Packets are as
// large as the path allows, and all packets of a frame but the last have the same size, so that the
// kernel can send several in one call.
size_t packet_writer_payload_room(const struct packet_writer *w, const struct rtp_packet *shape);
// Completes the packet's header and hands the packet to the transport. Returns 0, or ERR_AGAIN or
// ERR_CLOSED: the transport did not accept it.
int packet_writer_send(struct packet_writer *w, struct outgoing_packet *p, usec_t now);
// Sends the packets that the transport has batched. Until then their payloads must stay valid.
void packet_writer_flush(struct packet_writer *w, usec_t now);

// The viewer lacks the video packet `seq`. Returns true if it will be retransmitted: it is kept,
// was captured at `oldest` or later, and was not retransmitted before.
bool packet_writer_resend(struct packet_writer *w, uint16_t seq, usec_t oldest);
// Returns true if a packet waits for retransmission.
bool packet_writer_has_lost(struct packet_writer *w, usec_t oldest);
// Retransmits that packet. Returns the codes of packet_writer_send, or ERR_NOT_FOUND: none waits.
int packet_writer_send_lost(struct packet_writer *w, usec_t oldest, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
