// SPDX-License-Identifier: GPL-2.0-or-later
// Computes TFRC's receive rate X_recv and the set X_recv_set (RFC 5348, sections 6.2 and 4.3).
//
//   The law: X_recv = the bytes of the last R up to the newest arrival, divided by R. A packet's
//   bytes count as spread evenly since its predecessor's arrival, but over at most R. X_recv_set
//   holds the measurements of the last 2 R, at most the RECV_SET newest ones; those of
//   less than R/4 share one, the highest of them.
#ifndef WEIR_CONGESTION_RECV_RATE_H
#define WEIR_CONGESTION_RECV_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { RECV_BINS = 16, RECV_SET = 9 };

struct recv_bin { // arrivals of one span of the receiver's clock
    usec_t span;
    double bytes;
};

struct recv_item {
    double rate;
    usec_t at; // on the sender's clock
};

struct recv_rate {                  // initially zeroed: nothing arrived, the set is {infinity}
    double rate;                    // X_recv, bytes/s; 0: none yet
    struct recv_bin bin[RECV_BINS]; // a ring; [newest] is not complete
    unsigned newest;
    bool arrived;                   // true after the first arrival
    usec_t last_arrival;            // on the receiver's clock
    struct recv_item set[RECV_SET]; // oldest first
    unsigned count;
};

// `rtt` is R, > 0.
void recv_rate_arrived(struct recv_rate *r, uint32_t bytes, usec_t at, usec_t rtt);
// Updates `rate`. `rtt` is R, > 0.
void recv_rate_measure(struct recv_rate *r, usec_t rtt);

double recv_set_max(const struct recv_rate *r);
void recv_set_halve(struct recv_rate *r);
// Replaces all items.
void recv_set_only(struct recv_rate *r, double rate, usec_t now);
void recv_set_maximize(struct recv_rate *r, double rate, usec_t now); // "Maximize X_recv_set"
void recv_set_update(struct recv_rate *r, double rate, usec_t rtt, usec_t now); // "Update ..."

DECLS_END
#endif
