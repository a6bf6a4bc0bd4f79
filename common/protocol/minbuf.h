// SPDX-License-Identifier: GPL-2.0-or-later
// MIN_BUF(A,B): when may the next packet be written to a kernel TCP socket? (Goel et al. 2002,
// section 2.2)
//
//   The law: a packet is admitted only while the send buffer holds fewer than
//        A * cwnd + min(B, cwnd) + sacked_out   packets.
//   The send buffer holds what is in flight (unacknowledged) and what is not yet sent. SACKed
//   packets still sit in it but no longer fill the network, so they are added to the limit (the
//   paper's "SACK correction").
//
//   minbuf:auto,MS instead keeps the unsent part below MS milliseconds of the measured rate (the
//   paper's future work).
//
// Pure: the glue reads TCP_INFO and hands in a snapshot.
#ifndef WEIR_PROTOCOL_MINBUF_H
#define WEIR_PROTOCOL_MINBUF_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

// What the kernel says of one TCP connection (struct tcp_info), in the RFCs' words.
struct tcp_snapshot {
    uint32_t cwnd;          // packets
    uint32_t ssthresh;      // packets
    uint32_t unacked;       // packets in flight or SACKed: packets_out
    uint32_t sacked;        // packets of those that a SACK reported
    uint32_t lost;          // packets of those that are taken for lost
    uint32_t mss;           // bytes a segment, without headers
    uint32_t notsent_bytes; // written, never sent yet
    usec_t srtt;            // 0 = not measured yet
    usec_t rtt_min;         // 0 = not measured yet
    double delivery_bps;    // the kernel's delivery rate estimate, bits a second; 0 = none yet
    uint64_t bytes_acked;
    uint64_t bytes_sent; // with retransmissions
    uint64_t bytes_retransmitted;
    uint64_t segments_out;
    uint64_t retransmissions; // segments
};

enum {
    MINBUF_MAX_A = 64,
    MINBUF_MAX_B = 10000,
    MINBUF_MAX_AUTO_MS = 10000,
};

struct minbuf {
    bool automatic;
    int a;               // >= 1; when not automatic
    int b;               // >= 0; when not automatic
    usec_t unsent_limit; // when automatic: time that unsent bytes may wait
};

// "" -> (1,3); "A,B"; "auto,MS". 0; ERR_MALFORMED; ERR_RANGE (1 <= A <= 64, 0 <= B <= 10000, 1 <=
// MS <= 10000).
int minbuf_parse(const char *params, struct minbuf *m);

// So many packets of at most one mss may be written in one go: as many as would be admitted one by
// one if none of them left the buffer meanwhile.
uint32_t minbuf_packets(const struct minbuf *m, const struct tcp_snapshot *s);
// May one more packet (at most one mss) be written?
bool minbuf_admits(const struct minbuf *m, const struct tcp_snapshot *s);

// Bytes of unsent data at which the kernel should wake us: the smallest unsent amount that could
// still be refused. At least 1.
uint32_t minbuf_wake_below(const struct minbuf *m, const struct tcp_snapshot *s);

#ifdef __cplusplus
}
#endif
#endif
