// SPDX-License-Identifier: GPL-2.0-or-later
// TFRC's receive rate X_recv and X_recv_set, RFC 5348 sections 6.2 and 4.3.
//
//   The law: X_recv = the bytes of the last R up to the newest arrival, by R. A packet's bytes came
//   evenly since the one before it, or in the last R after a longer silence. X_recv_set is what was
//   measured in the last 2 R, or the newest RECV_SET of that.
#ifndef WEIR_CONGESTION_RECV_RATE_H
#define WEIR_CONGESTION_RECV_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RECV_BINS = 16, RECV_SET = 8 };

struct recv_bin { // what arrived in a while of the receiver's clock
    usec_t span;
    double bytes;
};

struct recv_item {
    double rate;
    usec_t at; // our clock
};

struct recv_rate {                  // zeroed: nothing arrived, the set is {infinity}
    double rate;                    // X_recv, bytes/s; 0: none yet
    struct recv_bin bin[RECV_BINS]; // a ring; [newest] is still filling
    unsigned newest;
    bool arrived;                   // anything so far
    usec_t last_arrival;            // the receiver's clock
    struct recv_item set[RECV_SET]; // the oldest first
    unsigned count;
};

// `rtt` is R, > 0.
void recv_rate_arrived(struct recv_rate *r, uint32_t bytes, usec_t at, usec_t rtt);
void recv_rate_measure(struct recv_rate *r, usec_t rtt); // sets `rate`

double recv_set_max(const struct recv_rate *r);
void recv_set_halve(struct recv_rate *r);
void recv_set_only(struct recv_rate *r, double rate, usec_t now);     // replaces all
void recv_set_maximize(struct recv_rate *r, double rate, usec_t now); // "Maximize X_recv_set"
void recv_set_update(struct recv_rate *r, double rate, usec_t rtt, usec_t now); // "Update ..."

#ifdef __cplusplus
}
#endif
#endif
