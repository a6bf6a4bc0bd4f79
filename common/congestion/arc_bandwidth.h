// SPDX-License-Identifier: GPL-2.0-or-later
// The bandwidth that a flow uses, as ARC estimates it (Grieco, Mascolo 2004, section 4.2).
//
//   The law (Eq. 7): time is cut into intervals of one SRTT on the receiver's clock, from the first
//   arrival on; B(k) = D(k) / T(k), D the bytes that arrived in the k-th interval (may be 0). (Eq.
//   8): B^ += gain (B(k) + B(k-1) - 2 B^),  gain = T / (2 tau + T). The first sample sets B^ and
//   B(k-1). A sample with T >= tau/4 counts as floor(4T/tau) samples of tau/4 and one of the rest;
//   the first of them is averaged with B(k-1), the others with B(k). (Where the paper says "the
//   filter in Eq. 7" it means Eq. 8.)
#ifndef WEIR_CONGESTION_ARC_BANDWIDTH_H
#define WEIR_CONGESTION_ARC_BANDWIDTH_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct arc_bandwidth {
    double tau; // s, > 0
    bool from_arrival;
    double mean;     // B^, bytes/s
    double last;     // B(k-1), bytes/s
    bool any;        // true after the first sample
    bool running;    // true if `from` is set
    usec_t from;     // when the current interval began, on the receiver's clock
    uint64_t gained; // bytes that arrived in the current interval
};

void arc_bandwidth_init(struct arc_bandwidth *b, double tau, bool from_arrival);
// Reports that bytes arrived at `arrived_at`; an interval is `srtt` (> 0) long.
void arc_bandwidth_arrived(struct arc_bandwidth *b, uint32_t bytes, usec_t arrived_at, usec_t srtt);
// The path is silent: B^ halves, and the silence is no sample, as the halving stands for it.
void arc_bandwidth_halve(struct arc_bandwidth *b);

DECLS_END
#endif
