// SPDX-License-Identifier: GPL-2.0-or-later
// TFRC, RFC 5348: the smooth rate that a TCP would have on this path.
//
//   The law: before the first loss, X doubles each round-trip time, up to twice the receive rate
//   (4.3); after it, X = min(tcp_equation(s, R, p), 2 X_recv); without feedback for max(4 R, 2 s /
//   X) it halves (4.4). s / 64 s <= X <= config.max_rate_bps / 8; the upper bound takes precedence.
//   A packet of n bytes delays the next one by n / X (4.6); a late caller may catch up on at most
//   min(R, 10 ms) of it, and idle time earns nothing.
//
// s is the mean size of the packets (4.1): of about the last 256; before them the nominal size S.
//
// Small packets (after RFC 4828, TFRC-SP): the equation counts packets. Bytes that wait for a TCP's
// window share its segments, so a TCP with the same media sends full ones. So a flow of packets of
// s bytes has almost the bytes of a flow of full ones: S / (s + 40) times the packets of the
// equation, but at most half as many again, or 100 a second if that is more:
//
//   X = s n, n = max(f, min(f S / (s + 40), max(1.5 f, 100))), f = tcp_equation / s
//
// It is never less than RFC 5348 gives, and the same for full packets. RFC 4828 differs: its S is
// 1460 bytes, here it is the most that a packet of this media has; and it has at most 100 packets a
// second (10 ms between two) in any case, so it would not help media above some 0.5 Mbit/s. QUIC,
// which counts bytes (RFC 9002, 7), has no such bound, and RFC 7141 asks transports to take a
// packet's size into account when they respond to its loss. The limit is that of RFC 4828: where
// small packets are dropped more seldom than large ones, as in a queue that counts bytes, the flow
// gets more than a TCP; the bound keeps that in limits. The word `mean` switches the rule off, and
// so do the other words, which are there to compare with papers.
//
// This file also contains the receiver of section 6: p, X_recv and R are computed from the feedback
// on each packet.
//
// Parameters, words: `mean` is RFC 5348 alone; `damp` lowers the rate while the RTT is above its
// mean (4.5); `selfclock` limits it to X_recv after a loss in the last R and otherwise to 1.1
// X_recv (Bansal et al. 2001, as TFRC's option conservative_ in ns-2); `komssys` is Fiksdal
// 2003, 3.5: b = 2, s = 1460, the equation's R is the newest sample, t_RTO = max(4 max(mean,
// newest), 0.5 s) with a mean that moves by 0.01; `rounds` has that thesis's loss events: the
// sender begins a round every R, and the losses of one round are one event (loss_rounds.h).
#ifndef WEIR_CONGESTION_TFRC_H
#define WEIR_CONGESTION_TFRC_H

#include "common/base/decls.h"
#include "common/congestion/controller.h"
#include "common/congestion/loss_intervals.h"
#include "common/congestion/loss_rounds.h"
#include "common/congestion/recv_rate.h"
#include "common/congestion/tcp_equation.h"

DECLS_BEGIN

struct tfrc {
    struct controller base;
    bool damp;
    bool selfclock;
    bool rounds;      // true: loss events are told apart by the round in which the packet left
    bool is_komssys;  // true: the equation's R is the newest sample
    bool fixed_size;  // true: s is a constant
    bool by_bytes;    // true: the rule of small packets applies
    usec_t min_rto;   // lower bound of t_RTO
    double rtt_decay; // 1 - q of 4.3

    double rate;          // X, bytes/s
    double usec_per_byte; // 1e6 / X_inst
    double equation_rate; // X_Bps; 0 while p is 0
    double p;
    usec_t rtt; // R of all but komssys's equation; 0: no sample yet
    usec_t rtt_mean;
    int sizes;            // packets that the mean size covers
    double rtt_sqmean;    // R_sqmean of 4.5, sqrt(us)
    struct tcp_path path; // s, R, t_RTO, b
    struct loss_intervals losses;
    struct loss_rounds sent_rounds; // with `rounds`
    int64_t event_round;            // round of the newest loss event; -1: none
    struct recv_rate recv;

    // Instants of 8.2.1, on the sender's clock.
    usec_t not_limited1, not_limited2, t_new, t_next;

    usec_t doubled_at;   // tld
    usec_t last_loss_at; // when feedback last reported a loss
    usec_t reported_at;  // when the last report came
    usec_t report_gap;   // time between the last two reports, at most 1 s
    usec_t timer;        // when the nofeedback timer expires
    bool sent_since_timer;
    double nominal;    // t_(i-1) of 4.6: when the last packet was due, us
    double last_bytes; // size of the last packet
};

int tfrc_init(struct controller *c, const char *params, usec_t now);

#define CONTROLLER_TFRC                                                                            \
    {                                                                                              \
        .name = "tfrc",                                                                            \
        .help = "TFRC (RFC 5348): the smooth rate that a TCP would have. Words: mean, damp, "      \
                "selfclock, komssys, rounds; default none",                                        \
        .bytes = sizeof(struct tfrc), .init = tfrc_init                                            \
    }

DECLS_END
#endif
