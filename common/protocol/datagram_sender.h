// SPDX-License-Identifier: GPL-2.0-or-later
// The sending end of a datagram flow under a rate controller: remembers what was sent, turns RFC
// 8888 reports into the controller's events, keeps the round-trip time, and never sends into a dead
// path.
//
//   room: the controller's next_send has come, and fewer than `history` packets are unresolved.
//   Without feedback for one RTO (RFC 6298, at least 1 s, doubling up to `most_rto`) while packets
//   are outstanding, one packet an RTO leaves as a probe, whatever the controller; the next report
//   that tells of a packet ends that. If the books are full then, their oldest packet leaves them
//   for the probe.
//
// Feedback is checked, not trusted: a report of packets never sent, or of a time that cannot be
// (made before it can have left, packets that arrived before they left) is counted in `lies` and
// what is impossible in it is ignored. A report is useful, and ends the silence, when a packet is
// news in it, or when it tells of a known one and is newer than all before: not a repeated one.
//
// A round-trip sample is within 0.49 ms of the truth, without bias (ccfb.h); one that rounding
// makes zero or less counts as 1 us.
//
// Packets that no report ever spoke of (reports get lost,
// too) are neither lost nor arrived; they leave the books when a later report begins after them.
#ifndef WEIR_PROTOCOL_DATAGRAM_SENDER_H
#define WEIR_PROTOCOL_DATAGRAM_SENDER_H

#include "common/congestion/controller.h"
#include "common/congestion/rto.h"
#include "common/wire/ccfb.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    DATAGRAM_HISTORY = 16384, // packets under way at most, by default
    DATAGRAM_REORDER = 3,     // later arrivals before a hole is a loss (RFC 5348, 5.1)
};

struct datagram_sender_config {
    uint16_t first_seq; // RTP sequence number of packet 0
    size_t history;     // packets under way; a power of two up to 32768; 0: DATAGRAM_HISTORY
    usec_t most_rto;    // of a doubled one (rto.h); 0: 60 s
};

struct datagram_counts {
    uint64_t packets, bytes; // sent
    uint64_t arrived, lost, ce, bytes_arrived;
    uint64_t late;          // arrived after they were declared lost
    uint64_t unreported;    // no report spoke of them
    uint64_t reports, lies; // lies: reports with something impossible in them
    uint64_t rtos, probes;
};

struct datagram_entry; // datagram_books.h

struct datagram_sender {
    struct controller *controller; // owned
    struct rto rto;
    struct datagram_entry *entries; // owned; a ring by number
    struct cc_packet *news;         // owned; room for `ring`
    size_t ring;             // entries there are, a power of two <= history: twice what is open
    size_t history;          // a power of two, <= 32768
    int64_t next_number;     // of the next packet
    int64_t oldest;          // not resolved yet; == next_number: none
    int64_t highest_arrived; // -1: none
    uint16_t first_seq;      // RTP sequence number of packet 0
    bool blocked;            // the application was refused since the last packet
    int silent;              // RTOs since the last useful report
    bool probe;              // silent, and this RTO's packet has not left yet
    usec_t rto_at;           // USEC_NEVER: nothing outstanding
    usec_t reported_at;      // the receiver's clock, of the newest report; 0: none yet
    usec_t ahead_least, ahead_most; // the receiver's clock less ours; USEC_NEVER: unknown
    usec_t ahead_at;                // when that was
    usec_t clock_step;              // what its clock jumped by in silences
    uint64_t flight_bytes;          // not resolved, after highest_arrived
    struct datagram_counts counts;
};

// Takes the controller over, whatever comes. 0; ERR_NO_MEMORY.
int datagram_sender_init(struct datagram_sender *s, struct controller *controller,
                         const struct datagram_sender_config *config, usec_t now);
void datagram_sender_destroy(struct datagram_sender *s);

// May a packet leave now? False also notes that the application waits.
bool datagram_sender_room(struct datagram_sender *s, usec_t now);
// When room is worth asking for again; <= now: now; USEC_NEVER: not before feedback or timeout.
usec_t datagram_sender_next_send(struct datagram_sender *s, usec_t now);
// A packet leaves; its RTP sequence number is the one after the last. Only after room was true.
void datagram_sender_sent(struct datagram_sender *s, uint32_t bytes, usec_t now);
void datagram_sender_feedback(struct datagram_sender *s, const struct ccfb *report, usec_t now);
usec_t datagram_sender_next_timeout(const struct datagram_sender *s);
void datagram_sender_timeout(struct datagram_sender *s, usec_t now);

// What the receiver is to be asked for: both fields are set (interval: the controller's wish, or
// SRTT, within 5 ms .. 1 s; 20 ms before the first sample; packets: 0 for no bound).
struct feedback_wish datagram_sender_wish(const struct datagram_sender *s);

#ifdef __cplusplus
}
#endif
#endif
