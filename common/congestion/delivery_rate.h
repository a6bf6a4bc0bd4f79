// SPDX-License-Identifier: GPL-2.0-or-later
// The rate at which packets arrive, from their arrival times on the receiver's clock.
//
//   rate over a window = bytes that arrived after its first instant / its length. While a queue
//   stands at the bottleneck, this is the share of the link that the flow receives.
#ifndef WEIR_CONGESTION_DELIVERY_RATE_H
#define WEIR_CONGESTION_DELIVERY_RATE_H

#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { DELIVERY_INSTANTS = 64 }; // 5 ms apart at least: the last 320 ms

struct delivery_rate { // initially zeroed
    struct {
        usec_t at;
        double bytes; // total up to this instant
    } instant[DELIVERY_INSTANTS];
    int count, newest;
    double bytes;
    double max, max_before; // of the present and the previous span
    usec_t max_since;       // when the present span began, on the sender's clock
};

// Packets are given in the order of sending; one that was overtaken counts at the newest arrival.
void delivery_rate_arrived(struct delivery_rate *d, uint32_t bytes, usec_t at);
// Bytes/s over the last `window` of arrivals, at most 300 ms; 0: not known yet.
double delivery_rate_over(const struct delivery_rate *d, usec_t window);
// Records the rate over 300 ms for delivery_rate_max.
void delivery_rate_note(struct delivery_rate *d, usec_t now);
// The largest recorded rate, bytes/s, of the last 3 to 6 s in which any was recorded; 0: none.
double delivery_rate_max(const struct delivery_rate *d);

DECLS_END
#endif
