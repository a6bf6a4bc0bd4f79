// SPDX-License-Identifier: GPL-2.0-or-later
// The sending end of a simulated TCP connection: Reno, NewReno or SACK, counting in packets of one
// size. It has everything to send from the start, or endlessly much, or is told of more.
//
//   slow start and congestion avoidance: + 1 and + 1/cwnd an ACK (RFC 5681, 3.1), or in congestion
//   avoidance + 1 a cwnd of ACKs
//   third duplicate ACK: ssthresh = cwnd = max(2, min(cwnd, flight) / 2), retransmit, inflate
//   (3.2); whole packets where ACKs are counted;
//     Reno leaves recovery at the next new ACK, NewReno when all that was out is acknowledged (RFC
//     6582), SACK likewise, sending by its pipe (RFC 6675). The first two send new packets
//     (RFC 3042).
//   timeout: cwnd = 1, all from the first unacknowledged packet is sent again (RFC 5681, 3.1; RFC
//     6298). One packet a round trip is timed, never a retransmitted one (Karn), unless there are
//     time stamps.
//
// Drain with tcp_sender_pull after each ACK and timeout.
#ifndef WEIR_SIM_TCP_SENDER_H
#define WEIR_SIM_TCP_SENDER_H

#include "common/congestion/rto.h"
#include "lab/sim/tcp_scoreboard.h"

#ifdef __cplusplus
extern "C" {
#endif

enum tcp_variant { TCP_RENO, TCP_NEWRENO, TCP_SACK };

struct tcp_sender_config {
    enum tcp_variant variant;
    int64_t packets;       // in all; INT64_MAX: greedy
    double initial_window; // packets, >= 1
    double max_window;     // packets, 1 .. TCP_WINDOW_MAX; ssthresh begins there
    usec_t min_rto;
    bool timestamps;  // tcp_sender_echo times every ACK that goes on (RFC 7323, 4)
    bool counts_acks; // + 1 a cwnd of ACKs, as Linux does it; else + 1/cwnd an ACK, as ns-2 does
    bool validates;   // cwnd grows only while half of it is used (RFC 7661); else always, as ns-2's
};

struct tcp_sender {
    struct tcp_sender_config config;
    double cwnd, ssthresh; // packets
    int64_t una;           // the first unacknowledged packet
    int64_t next;          // sent next; below `high` after a timeout
    int64_t high;          // never sent so far
    int64_t recover;       // `high` when the last recovery or timeout began
    int64_t retransmit;    // at once, before all else; -1: none
    int dupacks;
    int acks; // counted since cwnd grew
    bool in_recovery;
    bool had_partial; // NewReno: in this recovery
    double inflation; // of the window in recovery
    int64_t pipe;     // SACK
    struct tcp_scoreboard board;
    struct rto rto;
    usec_t rto_at;      // USEC_NEVER: nothing outstanding
    int64_t timed;      // for the round-trip time; -1: none
    usec_t timed_since; // when it left
    uint64_t sent, retransmits, fast_retransmits, timeouts;
};

int tcp_sender_init(struct tcp_sender *s,
                    const struct tcp_sender_config *config); // 0; ERR_NO_MEMORY
void tcp_sender_destroy(struct tcp_sender *s);
// The application wrote: there are `packets` in all now, no fewer than before.
void tcp_sender_supply(struct tcp_sender *s, int64_t packets);
// A new connection from packet 0: nothing of the old one but its counts stays.
void tcp_sender_restart(struct tcp_sender *s, int64_t packets);
// With time stamps, before the ACK itself: it echoes that a packet left at `sent_at`.
void tcp_sender_echo(struct tcp_sender *s, const struct tcp_ack *ack, usec_t sent_at, usec_t now);
void tcp_sender_ack(struct tcp_sender *s, const struct tcp_ack *ack, usec_t now);
// A packet that leaves now; -1: none may.
int64_t tcp_sender_pull(struct tcp_sender *s, usec_t now);
usec_t tcp_sender_next_timeout(const struct tcp_sender *s);
void tcp_sender_timeout(struct tcp_sender *s, usec_t now);
bool tcp_sender_done(const struct tcp_sender *s); // all packets are acknowledged

#ifdef __cplusplus
}
#endif
#endif
