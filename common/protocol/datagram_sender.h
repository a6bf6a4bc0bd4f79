// SPDX-License-Identifier: GPL-2.0-or-later
// The sending end of a datagram flow under a rate controller: remembers the packets sent, turns RFC
// 8888 reports into the controller's events, keeps the round-trip time, and never sends into a dead
// path.
//
//   room: the controller's next_send has come, and fewer than `history` packets are unresolved.
//   Without feedback for one RTO (RFC 6298, at least 1 s, doubling up to `max_rto`) while packets
//   are outstanding, one packet per RTO leaves as a probe, whatever the controller returns, until a
//   report covers a packet. If the scoreboard is full then, its oldest packet is removed for the
//   probe.
//
// Feedback is checked, not trusted: a report of packets never sent, or of an impossible time (made
// before it can have left, packets that arrived before they left) is counted in `lies`, and its
// impossible parts are ignored. A report is useful, and ends the silence, if it contains news of a
// packet, or if it covers a known packet and is newer than all before: not a repeated one.
//
// A round-trip sample is within 0.49 ms of the truth, without bias (ccfb.h); one that rounding
// makes zero or less counts as 1 us.
//
// Packets that no report ever covered (reports can be lost) are neither lost nor arrived; they are
// removed when a later report begins after them.
#ifndef WEIR_PROTOCOL_DATAGRAM_SENDER_H
#define WEIR_PROTOCOL_DATAGRAM_SENDER_H

#include "common/base/decls.h"
#include "common/base/windowed_min.h"
#include "common/congestion/controller.h"
#include "common/congestion/rto.h"
#include "common/wire/ccfb.h"

DECLS_BEGIN

enum {
    DATAGRAM_HISTORY = 16384, // max unresolved packets, by default
    DATAGRAM_REORDER = 3,     // later arrivals after which a hole is a loss (RFC 5348, 5.1)
};

struct datagram_sender_config {
    uint16_t first_seq; // RTP sequence number of packet 0
    size_t history;     // max unresolved packets; a power of two up to 32768; 0: DATAGRAM_HISTORY
    usec_t max_rto;     // max of a doubled RTO (rto.h); 0: 60 s
    bool goes_on;       // another sender sent the numbers before: reports may name them
};

struct datagram_counts {
    uint64_t packets, bytes; // sent
    uint64_t arrived, lost, ce, bytes_arrived;
    uint64_t late;          // arrived after having been declared lost
    uint64_t unreported;    // not covered by any report
    uint64_t reports, lies; // lies: reports with impossible content
    uint64_t rtos, probes;
    uint32_t largest_arrived; // bytes of the largest packet that was reported as arrived in time
    uint64_t large_lost; // packets above PACKET_SIZE_SAFE that were lost since one arrived in time
};

struct datagram_entry; // defined in datagram_sender.c

struct datagram_sender {
    struct controller *controller; // owned
    struct rto rto;
    struct windowed_min least_rtt, least_one_way; // of the last half minute to minute
    usec_t forward_rtt;                           // see datagram_sender_forward_rtt
    struct datagram_entry *entries;               // owned; a ring by number
    struct cc_packet *news;                       // owned; capacity `ring`
    size_t ring;             // number of entries, a power of two <= history: twice the open packets
    size_t history;          // a power of two, <= 32768
    int64_t next_number;     // number of the next packet
    int64_t oldest;          // oldest unresolved packet; == next_number: none
    int64_t highest_arrived; // -1: none
    int64_t told;            // datagram_sender_fate told of the packets below
    uint16_t first_seq;      // RTP sequence number of packet 0
    bool goes_on;            // as the config says
    bool blocked;            // true if room was refused to the application since the last packet
    int silent;              // RTOs since the last useful report
    bool probe;              // true during a silence until this RTO's packet has left
    usec_t rto_at;           // when the RTO expires; USEC_NEVER: nothing outstanding
    usec_t reported_at;      // time of the newest report on the receiver's clock; 0: none yet
    usec_t ahead_min, ahead_max; // range of the receiver's clock minus ours; USEC_NEVER: unknown
    usec_t ahead_at;             // when ahead_min and ahead_max were updated
    usec_t clock_step;           // sum of the jumps of the receiver's clock in silences
    int64_t flight_from;         // packets below were sent before the last RTO
    uint64_t flight_bytes; // unresolved bytes sent after highest_arrived and after the last RTO
    struct datagram_counts counts;
};

// Takes ownership of the controller, also on failure. Returns 0; ERR_NO_MEMORY.
int datagram_sender_init(struct datagram_sender *s, struct controller *controller,
                         const struct datagram_sender_config *config, usec_t now);
void datagram_sender_destroy(struct datagram_sender *s);

// Returns true if a packet may leave now; false also records that the application waits.
bool datagram_sender_room(struct datagram_sender *s, usec_t now);
// Returns when room may become true; <= now: now; USEC_NEVER: not before feedback or timeout.
usec_t datagram_sender_next_send(struct datagram_sender *s, usec_t now);
// Records that a packet left, with the RTP sequence number after the last one. Call only after room
// was true.
void datagram_sender_sent(struct datagram_sender *s, uint32_t bytes, usec_t now);
void datagram_sender_feedback(struct datagram_sender *s, const struct ccfb *report, usec_t now);
// Takes the fate of the next packet in the order of sending; packets that no report covered are
// left out. Returns false if the next one is unresolved.
bool datagram_sender_fate(struct datagram_sender *s, bool *lost);
// Returns the least round trip of the last 30 to 60 s plus what the newest packet waited on its way
// there, by the arrival times: without queues on the way back. 0: not known.
usec_t datagram_sender_forward_rtt(const struct datagram_sender *s);
usec_t datagram_sender_next_timeout(const struct datagram_sender *s);
void datagram_sender_timeout(struct datagram_sender *s, usec_t now);

// Returns the report frequency to request of the receiver, with both fields set (interval: the
// controller's request, or SRTT, within 5 ms .. 1 s; 20 ms before the first sample; packets: 0 for
// no bound).
struct feedback_wish datagram_sender_wish(const struct datagram_sender *s);

DECLS_END
#endif
