// SPDX-License-Identifier: GPL-2.0-or-later
// One outgoing RTP stream: sequence numbers and timestamps with random offsets (RFC 3550, 5.1),
// counters and sender reports (6.4.1), round-trip time from report blocks (6.4.1, LSR and DLSR),
// and which frame each recent packet belonged to, so that a NACK names frames.
#ifndef WEIR_PROTOCOL_RTP_SENDER_H
#define WEIR_PROTOCOL_RTP_SENDER_H

#include "common/base/decls.h"
#include "common/base/rng.h"
#include "common/base/usec.h"
#include "common/wire/rtcp.h"
#include "common/wire/rtp.h"

DECLS_BEGIN

// Number of packets whose frame is remembered, a power of two: with a film's viewer that waits for
// what it lacks these are more than those that are kept (repair_sender.h).
enum { RTP_SENDER_HISTORY = 16384 };

struct rtp_sender {
    uint32_t ssrc;
    uint8_t payload_type;
    int clock_rate; // of timestamps: Opus's for RTP_PT_OPUS, else 90 kHz
    uint16_t next_seq;
    uint32_t timestamp_offset;
    uint32_t last_timestamp; // timestamp of the last packet, with the offset
    uint64_t packets;
    uint64_t octets;                        // payload bytes
    uint64_t unsent_packets, unsent_octets; // of both: dropped before they left
    int64_t last_frame;                     // that a packet was of
    // By sequence number: the low bits of its frame's number, and its size, or
    // that it has none.
    uint16_t frame_of[RTP_SENDER_HISTORY];
    uint8_t size_of[RTP_SENDER_HISTORY];
};

// An instant on the wall clock of a session's media. All its tracks have one: their sender reports
// must agree, since players synchronise the tracks by them (RFC 3550, 6.4.1).
struct rtp_instant {
    bool known;
    usec_t media; // media with this time ...
    usec_t wall;  // ... was captured then
};

void rtp_sender_init(struct rtp_sender *s, uint8_t payload_type, struct rng *rng);

// Fills header fields for the next packet of frame `number`, media time `pts`: seq, timestamp,
// ssrc, payload type. The caller fills marker and extensions, and calls rtp_sender_sent once the
// packet was taken by the transport.
void rtp_sender_stamp(const struct rtp_sender *s, usec_t pts, struct rtp_packet *p);
void rtp_sender_sent(struct rtp_sender *s, const struct rtp_packet *p, int64_t number,
                     size_t payload_len);

// A packet that rtp_sender_sent counted was dropped before it left: sender reports leave it out.
void rtp_sender_unsent(struct rtp_sender *s, size_t payload_len);

// Leaves out the next `packets` sequence numbers. The receiver takes them for lost packets.
void rtp_sender_skip(struct rtp_sender *s, uint16_t packets);

// Writes SR and SDES as one compound to `out`, also a BYE if `bye` is not NULL, which has that
// reason unless it is empty; returns its length. `clock_wall`: the wall clock now. As long as `of`
// is not known, the report's timestamp is the last one that left.
size_t rtp_sender_report(const struct rtp_sender *s, const struct rtp_instant *of,
                         const char *cname, usec_t clock_wall, const char *bye, uint8_t *out,
                         size_t cap);

// Returns the round-trip time from a report block about this stream (RFC 3550, 6.4.1: now - LSR -
// DLSR); 0 if the block has none.
usec_t rtp_sender_rtt(const struct rtp_sender *s, const struct rtcp_report *r, usec_t clock_wall);

// Returns the frame of the packet with this number; -1: it has none, was not sent yet or is
// forgotten.
int64_t rtp_sender_frame_of(const struct rtp_sender *s, uint16_t seq);
// Returns the size of that frame; undefined if it is not known.
int rtp_sender_size_of(const struct rtp_sender *s, uint16_t seq);

DECLS_END
#endif
