// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the RTP packets of one viewer's video and audio to the transport. Adds sequence number and
// time stamp (rtp_sender.h), the feedback request and the header. With repair (repair_sender.h) it
// also sends copies of lost packets, and parity packets.
//
// A copy is the same RTP packet. Where the viewer's reports would confuse both, packets carry flow
// numbers, which count each transmission; kept packets have the number 0, which parity covers.
//
// If the transport drops packets that it took, packets are renumbered as they leave
// (queue_drops.h). Numbers of the viewer's requests are converted with packet_writer_written_seq;
// all others here are those as written. Parity packets name numbers, so there are none.
//
// Pure.
#ifndef WEIR_STREAM_SEND_PACKET_WRITER_H
#define WEIR_STREAM_SEND_PACKET_WRITER_H

#include "common/base/decls.h"
#include "common/protocol/media_transport.h"
#include "common/protocol/rtp_sender.h"
#include "common/repair/repair_sender.h"
#include "media/rtp/packetiser.h"
#include "stream/send/queue_drops.h"
#include "stream/send/repair_planner.h"

DECLS_BEGIN

struct outgoing_packet {
    enum media_track track;
    struct rtp_packet rtp;      // marker, ADU and capture time; the writer fills in the other
                                // fields
    struct rtp_payload payload; // its body is borrowed until the transport's flush
    int64_t number;             // number of its frame; -1: none
    usec_t pts;                 // media time, on one line for both tracks
    bool is_copy;               // of the packet rtp.seq, which left before
    bool is_kept;               // it is repaired if it gets lost
    usec_t captured;            // capture time of its media; 0: not known
    size_t behind;              // bytes of its frame that follow
    bool is_depended_on;        // if it is kept: other frames depend on its frame
};

struct packet_writer {
    struct media_transport *transport; // borrowed
    struct rtp_sender rtp[TRACKS];
    struct rtp_instant instant; // of the newest frame; of the newest audio until there is one
    bool has_begun[TRACKS];     // a packet, or a frame from its start, since packet_writer_begin
    bool has_audio;
    bool reports_often;   // the media adapts to the network (rate_estimator.h)
    bool has_gaps;        // the video's sequence numbers do not count the packets that left
    uint16_t flow_number; // number of the next packet, counted over all transmissions

    // Owned; NULL: the transport drops nothing that it took.
    struct queue_drops *drops[TRACKS];

    struct repair_sender *repair;  // owned; NULL: lost packets are not repaired
    struct repair_planner planner; // used with `repair`
    bool is_numbered;              // packets carry flow numbers for repair
    size_t parity_room;            // bytes by which packets are shorter, so that their parity fits
    size_t max_payload;            // bytes of payload of a packet; 0: what the path allows
    usec_t useful;                 // how long after the capture a packet may arrive
    uint32_t parity_ssrc;
    uint16_t parity_seq; // of the next parity packet
};

// `payload_type`: of the video. Call packet_writer_attach before the first packet.
void packet_writer_init(struct packet_writer *w, uint8_t payload_type, struct rng *rng);
void packet_writer_destroy(struct packet_writer *w);
// `transport` is borrowed. Returns 0, or ERR_NO_MEMORY.
int packet_writer_attach(struct packet_writer *w, struct media_transport *transport);

// How lost packets are repaired.
struct packet_writer_repair {
    enum repair_mode mode;
    bool is_known;     // the viewer knows flow numbers, and parity packets
    size_t kept_bytes; // these as struct repair_sender_config has them
    int kept_packets;
    bool repairs_all; // repair_policy.h
    usec_t useful;    // how long after its capture a packet may arrive
};
// Call it after packet_writer_attach and before the first packet; a second call replaces the first.
// Repair stays off if the transport loses nothing, or if `is_known` is false and the viewer's
// reports would confuse a packet and its copy. Returns 0, or ERR_NO_MEMORY.
int packet_writer_set_repair(struct packet_writer *w, const struct packet_writer_repair *repair,
                             struct rng *rng);
// Returns 0, or ERR_NO_MEMORY: then the viewer counts audio that the transport drops as lost.
int packet_writer_add_audio(struct packet_writer *w, struct rng *rng);
// Media begins, or continues elsewhere: what is known of its capture times does not hold any more.
void packet_writer_begin(struct packet_writer *w);
// Bytes of payload that fit into a packet with the header extensions of `shape`. Packets are as
// large as the path and `max_payload` allow, and all packets of a frame but the last have the same
// size, so that the kernel can send several in one call.
size_t packet_writer_payload_room(const struct packet_writer *w, const struct rtp_packet *shape);
// Completes the packet's header and hands the packet to the transport. Returns 0, or ERR_AGAIN or
// ERR_CLOSED: the transport did not accept it.
int packet_writer_send(struct packet_writer *w, struct outgoing_packet *p, usec_t now);
// Sends the packets that the transport has batched. Until then their payloads must stay valid.
void packet_writer_flush(struct packet_writer *w, usec_t now);

// ---- What the transport's queue reports (media_queue_events)

// The packet leaves: renumbers it. Returns false if it must not leave.
bool packet_writer_leaves(struct packet_writer *w, uint8_t *rtp, size_t len);
// The queue dropped the packet. Returns true, with the packet's number as written, if it was not a
// copy.
bool packet_writer_dropped(struct packet_writer *w, const uint8_t *rtp, size_t len,
                           enum media_track *track, uint16_t *seq);
// Returns the number as written of the packet that the viewer calls `wire`.
uint16_t packet_writer_written_seq(const struct packet_writer *w, enum media_track track,
                                   uint16_t wire);
// Returns the number that the next packet has on the wire, if the queue drops nothing before.
uint16_t packet_writer_next_wire_seq(const struct packet_writer *w, enum media_track track);

// A frame is about to leave: plans its repair.
void packet_writer_plan(struct packet_writer *w, const struct repair_planner_frame *frame,
                        usec_t now);
// The viewer requests the video packet `seq`. Without repair: REPAIR_NOTHING, REPAIR_DISABLED.
struct repair_decision packet_writer_lost(struct packet_writer *w, uint16_t seq, usec_t now);
// The least round trip of late; 0: unknown, or without repair.
usec_t packet_writer_min_rtt(const struct packet_writer *w);
// Returns true if a copy or a parity packet of the video is due.
bool packet_writer_has_repair(struct packet_writer *w, usec_t now);
// Sends it. Returns the codes of packet_writer_send, or ERR_NOT_FOUND: none is due.
int packet_writer_send_repair(struct packet_writer *w, usec_t now);

DECLS_END
#endif
