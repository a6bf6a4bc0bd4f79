// SPDX-License-Identifier: GPL-2.0-or-later
// One RTP packet of a viewer's media, video or audio, on its way to the transport: its number and
// time (rtp_sender.h), the feedback that it asks the viewer for, its header; and the copy that is
// kept in case it gets lost (retransmit_buffer.h).
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
    struct rtp_packet rtp;      // marker, ADU and capture time; the writer fills in the rest
    struct rtp_payload payload; // body: borrowed until the transport's flush
    int64_t number;             // of its frame; -1: none
    usec_t pts;                 // media time
    bool is_kept;               // it is sent again when it gets lost
    usec_t captured;            // when its media was, if it is kept
};

struct packet_writer {
    struct media_transport *transport; // borrowed
    struct rtp_sender rtp[TRACKS];
    bool has_audio;
    bool reports_often;             // the media follows the network (rate_estimator.h)
    uint16_t flow_number;           // of the next packet, of either track
    struct retransmit_buffer *kept; // owned; NULL: lost packets are not sent again
};

// `payload_type` of the video. A transport is attached before the first packet.
void packet_writer_init(struct packet_writer *w, uint8_t payload_type, struct rng *rng);
void packet_writer_destroy(struct packet_writer *w);
// `keeps`: packets whose loss is reported are sent again. 0, or ERR_NO_MEMORY.
int packet_writer_attach(struct packet_writer *w, struct media_transport *transport, bool keeps);
void packet_writer_add_audio(struct packet_writer *w, struct rng *rng);
// Bytes of payload that fit a packet whose header has these extensions. Packets are as large as
// they may be, all but the last of a frame of one size, so that several can leave in one go.
size_t packet_writer_payload_room(const struct packet_writer *w, const struct rtp_packet *shape);
// Completes the packet's header and hands it to the transport. 0; ERR_AGAIN, ERR_CLOSED: it was not
// taken.
int packet_writer_send(struct packet_writer *w, struct outgoing_packet *p, usec_t now);
// What the transport kept back leaves; until then it depends on the payloads.
void packet_writer_flush(struct packet_writer *w, usec_t now);

// The viewer lacks the video packet `seq`. Returns true if it will be sent again: it is kept, was
// captured at `oldest` or later, and was not sent again before.
bool packet_writer_resend(struct packet_writer *w, uint16_t seq, usec_t oldest);
// Returns true if a packet waits to be sent again.
bool packet_writer_has_lost(struct packet_writer *w, usec_t oldest);
// Sends it. 0, or as packet_writer_send.
int packet_writer_send_lost(struct packet_writer *w, usec_t oldest, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
