// SPDX-License-Identifier: GPL-2.0-or-later
// CUBIC's window in congestion avoidance (RFC 9438), in packets. Without HyStart (RFC 9406): slow
// start is the caller's.
//
//   The law. After a congestion at a window of w_max, the window is 0.7 of it, and then
//     W(t) = C (t - K)^3 + w_max,   K = cbrt((w_max - window after) / C),   C = 0.4, t in seconds
//   (4.2). Per acknowledged packet the window moves by a cwnd-th towards W(t + RTT), which counts
//   as at most 1.5 windows. Where Reno's growth gives more, it counts (4.3). A congestion below the
//   last w_max makes w_max smaller still, by 0.85 (fast convergence, 4.7).
#ifndef WEIR_SIM_CUBIC_H
#define WEIR_SIM_CUBIC_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct cubic {
    double w_max; // packets; 0: no congestion yet
    double k;     // s
    double w_est; // packets: the window with Reno's growth
    double prior; // packets: the window before the last congestion
    usec_t epoch; // when this growth began; USEC_NEVER: it has not yet
};

void cubic_init(struct cubic *c);
// A loss at window `cwnd`. Returns the window after it, at least 2.
double cubic_loss(struct cubic *c, double cwnd);
// A timeout: the next growth starts at the window of that time.
void cubic_timeout(struct cubic *c);
// An ACK of `packets` new packets in congestion avoidance. Returns the window after it.
double cubic_ack(struct cubic *c, double cwnd, int packets, usec_t rtt, usec_t now);

DECLS_END
#endif
