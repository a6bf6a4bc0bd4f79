// SPDX-License-Identifier: GPL-2.0-or-later
// MIN_BUF(A,B): when may the next packet be written to a kernel TCP socket? (Goel et al. 2002,
// section 2.2)
//
//   The law: a packet is admitted only while the send buffer holds fewer than
//        A * cwnd + min(B, cwnd) + sacked_out   packets.
//   The send buffer holds packets in flight (unacknowledged) and packets not sent yet. SACKed
//   packets are still in it but no longer fill the network, so they are added to the limit (the
//   paper's "SACK correction").
//
//   The law counts packets of one mss, as the paper's applications write (2.3). Of what is not sent
//   yet, shorter packets count by their bytes.
//
//   minbuf:auto,MS instead keeps the unsent part below MS milliseconds of the measured rate (the
//   paper's future work).
//
//   A connection's first window leaves spread over half a round trip, at most 5 ms a packet: the
//   first stream on it begins with a key frame, and a full drop-tail queue drops packets that
//   arrive together together. TCP repairs one of them in a round trip, several in two or three. The
//   kernel does not pace the first ten segments of a connection.
//
//   ",pace" asks the transport to have the kernel pace the connection (the paper's future work).
//
// Pure: the caller reads TCP_INFO and passes a snapshot.
#ifndef WEIR_PROTOCOL_MINBUF_H
#define WEIR_PROTOCOL_MINBUF_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

// The kernel's state of one TCP connection (struct tcp_info), named as in the RFCs.
struct tcp_snapshot {
    uint32_t cwnd;          // packets
    uint32_t ssthresh;      // packets
    uint32_t unacked;       // packets in flight or SACKed: packets_out
    uint32_t sacked;        // those packets that a SACK reported
    uint32_t lost;          // those packets that count as lost
    uint32_t mss;           // max bytes of a segment, without headers
    uint32_t notsent_bytes; // written, not sent yet
    usec_t srtt;            // 0 = not measured yet
    usec_t rtt_min;         // 0 = not measured yet
    double delivery_bps;    // the kernel's delivery rate estimate, bits per second; 0 = none yet
    uint64_t bytes_acked;
    uint64_t bytes_sent; // including retransmissions
    uint64_t bytes_retransmitted;
    uint64_t segments_out;
    uint64_t retransmissions; // segments
    bool ecn;                 // both ends agreed on ECN (RFC 3168)
};

enum {
    MINBUF_FIRST_WINDOW = 10, // segments (RFC 6928)
    MINBUF_MAX_A = 64,
    MINBUF_MAX_B = 10000,
    MINBUF_MAX_AUTO_MS = 10000,
};

struct minbuf {
    bool automatic;
    int a;               // >= 1; used if not automatic
    int b;               // >= 0; used if not automatic
    usec_t unsent_limit; // used if automatic: max time that unsent bytes wait
    bool pace;           // packets of a window leave spread over the round trip
};

// "" -> (1,3); "A,B"; "auto,MS"; "A,B,pace"; "auto,MS,pace". 0; ERR_MALFORMED; ERR_RANGE (1 <= A <=
// 64, 0 <= B <= 10000, 1 <= MS <= 10000).
int minbuf_parse(const char *params, struct minbuf *m);

// Returns how many packets of at most one mss may be written at once: as many as would be admitted
// one by one if none of them left the buffer meanwhile.
uint32_t minbuf_packets(const struct minbuf *m, const struct tcp_snapshot *s);
// Returns true if one more packet (at most one mss) may be written.
bool minbuf_admits(const struct minbuf *m, const struct tcp_snapshot *s);

// Returns true if nothing may wait unsent, as with (1,0): then only an acknowledgement makes room.
bool minbuf_waits_for_acks(const struct minbuf *m);
// Returns how many packets one write may have if the kernel reports acknowledgements of whole
// writes: 1 up to `most`. An acknowledgement of a part of a write makes room unnoticed, so a write
// is a small part of the window.
uint32_t minbuf_write_limit(const struct tcp_snapshot *s, uint32_t most);

// Whether the kernel shall report acknowledgements, and when to ask for room again. Each report
// costs a wake-up, so they are wanted only while media waits for acknowledgements: from a refusal
// on, until MINBUF_IDLE_ACKS reports in a row found no media waiting. All zero at first.
enum { MINBUF_IDLE_ACKS = 32 };
struct minbuf_acks {
    bool wanted;
    bool reported; // a report came since they are wanted: what is in flight is covered
    int idle;      // reports in a row that found no media waiting
};
// Media is refused until an acknowledgement comes. Returns how long to wait at most before asking
// for room again: SACKs and acknowledgements of parts of a write are not reported. Without reports,
// half of the mean spacing of acknowledgements, 0.1 to 2 ms.
usec_t minbuf_acks_refused(struct minbuf_acks *a, const struct tcp_snapshot *s, bool has_reports);
// An acknowledgement was reported.
void minbuf_acks_arrived(struct minbuf_acks *a, bool media_waits);

// Returns the time between the next packet and the one after it; 0: they may leave together.
usec_t minbuf_spacing(const struct tcp_snapshot *s);

// Returns the number of unsent bytes at which the kernel should wake us: the smallest amount that
// could still be refused; at least 1.
uint32_t minbuf_wake_below(const struct minbuf *m, const struct tcp_snapshot *s);

DECLS_END
#endif
