// SPDX-License-Identifier: GPL-2.0-or-later
// From lost packets to the loss event rate p, RFC 5348 section 5.
//
//   The law: losses whose nominal arrivals lie within one round-trip time of the first of them are
//   one event (5.2); an interval is the distance in packets from one event's first loss to the
//   next one's (5.3); p = 1 / (weighted mean of the last eight intervals), where the open one
//   counts only if it makes the mean larger (5.4), and an open one of more than twice the mean
//   makes the older ones count less (5.5).
//
// It is told of packets as a receiver would see them: numbers ascending, but for losses, which may
// come up to three arrivals late. Instants are the receiver's.
#ifndef WEIR_CONGESTION_LOSS_INTERVALS_H
#define WEIR_CONGESTION_LOSS_INTERVALS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LOSS_INTERVALS_HISTORY = 8, // n of 5.4
    LOSS_INTERVALS_ARRIVALS = 4 // a loss is told of after at most three later arrivals, and one
                                // before it
};

struct loss_arrival {
    int64_t number;
    usec_t at;
};

struct loss_intervals {
    struct loss_arrival arrival[LOSS_INTERVALS_ARRIVALS]; // a ring
    unsigned arrivals;                                    // ever
    int64_t pending_first; // losses that wait for an arrival after them; -1: none
    int64_t pending_last;
    int64_t highest;      // number arrived; -1: none
    uint64_t events;      // ever
    int64_t event_number; // the first loss of the newest event
    usec_t event_at;      // its nominal arrival
    unsigned count;       // closed intervals, at most LOSS_INTERVALS_HISTORY
    // [0] unused: I_0 follows from `highest`. [1] is the newest closed one.
    double length[LOSS_INTERVALS_HISTORY + 1];
    double discount[LOSS_INTERVALS_HISTORY + 1]; // DF_i of 5.5
};

void loss_intervals_init(struct loss_intervals *l);

// A packet arrived, or was lost. `rtt` > 0 is R of 5.2. `events` tells whether one began.
void loss_intervals_arrived(struct loss_intervals *l, int64_t number, usec_t at, bool ce,
                            usec_t rtt);
void loss_intervals_lost(struct loss_intervals *l, int64_t number, usec_t rtt);

// What the interval before the very first event shall count as (6.3.1), >= 1; later calls than
// LOSS_INTERVALS_HISTORY events do nothing.
void loss_intervals_seed(struct loss_intervals *l, double packets);

double loss_intervals_rate(const struct loss_intervals *l); // p; 0 before the first event

#ifdef __cplusplus
}
#endif
#endif
