// SPDX-License-Identifier: GPL-2.0-or-later
// The sending end of a simulated TCP connection: Reno, NewReno or SACK, counting in packets of one
// size. All data exists from the start, or is unlimited, or is added later.
//
//   slow start and congestion avoidance: + 1 and + 1/cwnd per ACK (RFC 5681, 3.1), or as
//   tcp_growth says;
//   third duplicate ACK: ssthresh = cwnd = max(2, min(cwnd, flight)
//   / 2), retransmit, inflate (3.2); whole packets if ACKs are counted;
//     Reno leaves recovery at the next new ACK, NewReno and SACK when all packets outstanding at
//     its
//     start are acknowledged (RFC 6582); SACK sends by its pipe (RFC 6675). Before recovery, the
//     first two duplicate ACKs each allow one new packet (RFC 3042).
//   timeout: cwnd = 1, all packets from the first unacknowledged one are sent again (RFC 5681, 3.1;
//   RFC 6298). One packet per round trip is timed, never a retransmitted one (Karn), unless there
//   are timestamps.
//
// After each ACK and timeout, the caller calls tcp_sender_pull until it returns -1.
#ifndef WEIR_SIM_TCP_SENDER_H
#define WEIR_SIM_TCP_SENDER_H

#include "common/base/decls.h"
#include "common/congestion/rto.h"
#include "lab/sim/cubic.h"
#include "lab/sim/tcp_linux.h"
#include "lab/sim/tcp_scoreboard.h"

DECLS_BEGIN

enum tcp_variant { TCP_RENO, TCP_NEWRENO, TCP_SACK };

enum tcp_growth {
    TCP_PER_ACK,       // + 1/cwnd per ACK, as ns-2
    TCP_COUNT_ACKS,    // + 1 per cwnd of ACKs
    TCP_COUNT_PACKETS, // + 1 per cwnd of acknowledged packets, as Linux's Reno; also in slow start
    TCP_CUBIC,         // cubic.h; slow start counts packets
};

struct tcp_sender_config {
    enum tcp_variant variant;
    int64_t packets;       // total number of packets; INT64_MAX: greedy
    double initial_window; // in packets, >= 1
    double max_window;     // in packets, 1 .. TCP_WINDOW_MAX; also the initial ssthresh
    usec_t min_rto;
    bool timestamps; // true: tcp_sender_echo times every ACK that makes progress (RFC 7323, 4)
    enum tcp_growth growth;
    bool validates; // true: cwnd grows only while half of it is used (RFC 7661); false: always, as
                    // in ns-2
    bool as_linux;  // true: as tcp_linux.h; requires TCP_SACK, takes precedence over `validates`;
                    // `growth` is TCP_CUBIC or counts as TCP_COUNT_PACKETS then
};

struct tcp_sender {
    struct tcp_sender_config config;
    double cwnd, ssthresh; // in packets
    int64_t una;           // the first unacknowledged packet
    int64_t next;          // the packet to send next; below `high` after a timeout
    int64_t high;          // the first packet never sent
    int64_t recover;       // the value of `high` when the last recovery or timeout began
    int64_t retransmit;    // packet to send at once, before all others; -1: none
    int dupacks;
    int acks; // ACKs or packets counted since cwnd grew
    struct cubic cubic;
    bool in_recovery;
    bool had_partial; // NewReno: true after a partial ACK in this recovery
    double inflation; // inflation of the window in recovery
    int64_t pipe;     // the RFC's pipe; used with SACK
    struct tcp_scoreboard board;
    struct tcp_linux kernel; // used if as_linux
    struct rto rto;
    usec_t rto_at;      // when the RTO expires; USEC_NEVER: nothing outstanding
    int64_t timed;      // packet being timed; -1: none
    usec_t timed_since; // when the packet `timed` left
    uint64_t sent, retransmits, fast_retransmits, timeouts;
};

int tcp_sender_init(struct tcp_sender *s,
                    const struct tcp_sender_config *config); // 0; ERR_NO_MEMORY
void tcp_sender_destroy(struct tcp_sender *s);
// The application wrote data: there are `packets` in total now, no fewer than before.
void tcp_sender_supply(struct tcp_sender *s, int64_t packets);
// Starts a new connection from packet 0; keeps only the counters.
void tcp_sender_restart(struct tcp_sender *s, int64_t packets);
// With timestamps, call before tcp_sender_ack: the ACK echoes a packet that left at `sent_at`.
void tcp_sender_echo(struct tcp_sender *s, const struct tcp_ack *ack, usec_t sent_at, usec_t now);
void tcp_sender_ack(struct tcp_sender *s, const struct tcp_ack *ack, usec_t now);
// Returns a packet that leaves now; -1: none may.
int64_t tcp_sender_pull(struct tcp_sender *s, usec_t now);
usec_t tcp_sender_next_timeout(const struct tcp_sender *s);
void tcp_sender_timeout(struct tcp_sender *s, usec_t now);
// Returns true if all packets are acknowledged.
bool tcp_sender_done(const struct tcp_sender *s);

DECLS_END
#endif
