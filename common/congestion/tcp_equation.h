// SPDX-License-Identifier: GPL-2.0-or-later
// The rate of a Reno TCP in its steady state.
//
//   The law (Padhye et al. 1998; RFC 5348, 3.1): X = s / (R sqrt(2bp/3) + t_RTO F p (1 + 32 p^2)),
//   F = 3 sqrt(3bp/8), or min(1, F) as in Padhye's own; X in bytes/s, s in bytes, R and t_RTO in
//   seconds, 0 < p <= 1 the loss event rate, b the packets that one acknowledgement covers. X falls
//   as p grows, so the inverse is unique.
#ifndef WEIR_CONGESTION_TCP_EQUATION_H
#define WEIR_CONGESTION_TCP_EQUATION_H

#include <stdbool.h>

#include "common/base/decls.h"

DECLS_BEGIN

struct tcp_path {
    double packet_bytes; // s > 0
    double rtt_s;        // R > 0
    double rto_s;        // t_RTO > 0
    double b;            // 1, or 2 with delayed acknowledgements
    bool capped;         // true: min(1, F) replaces F
};

// Returns bytes per second. p is clamped to 1e-12 .. 1.
double tcp_equation_rate(const struct tcp_path *path, double p);

// Returns the p that gives `rate` (bytes/s, > 0) to a relative error of 1e-9, by bisection; 1e-12
// or 1 if none does.
double tcp_equation_loss(const struct tcp_path *path, double rate);

DECLS_END
#endif
