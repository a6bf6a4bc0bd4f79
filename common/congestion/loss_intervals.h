// SPDX-License-Identifier: GPL-2.0-or-later
// Computes the loss event rate p from lost packets (RFC 5348, section 5).
//
//   The law: losses whose nominal arrivals lie within one round-trip time of the first of them are
//   one event (5.2); an interval is the distance in packets from one event's first loss to the next
//   one's (5.3); p = 1 / (weighted mean of the last eight intervals), where the open one counts
//   only if it makes the mean larger (5.4), and an open one of more than twice the mean reduces the
//   weight of the older ones (5.5).
//
// Small packets, with `full` > 1: so many of them have the bytes of a full one, which counts as one
// loss. So the losses of an event count, up to `full`, each as an event of its own: its interval is
// divided by their number (RFC 4828 divides short intervals, whatever the size).
//
// Input is packets as a receiver sees them: numbers ascend, except for losses, which may be
// reported up to three arrivals late. Instants are on the receiver's clock.
#ifndef WEIR_CONGESTION_LOSS_INTERVALS_H
#define WEIR_CONGESTION_LOSS_INTERVALS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum {
    LOSS_INTERVALS_HISTORY = 8, // n of 5.4
    LOSS_INTERVALS_ARRIVALS =
        4 // a loss is reported after at most three later arrivals; one more before it
};

struct loss_arrival {
    int64_t number;
    usec_t at;
};

struct loss_intervals {
    struct loss_arrival arrival[LOSS_INTERVALS_ARRIVALS]; // a ring
    unsigned arrivals;                                    // number of arrivals ever
    int64_t pending_first; // losses reported before any arrival after them; -1: none
    int64_t pending_last;
    int64_t highest;       // highest number that arrived; -1: none
    uint64_t events;       // number of loss events ever
    int64_t event_number;  // first loss of the newest event
    usec_t event_at;       // nominal arrival of that loss
    double full;           // see above; the owner may change it
    unsigned event_losses; // of the newest event
    double closed;         // length of the interval before it
    unsigned count;        // number of closed intervals, at most LOSS_INTERVALS_HISTORY
    // [0] is unused: I_0 follows from `highest`. [1] is the newest closed interval.
    double length[LOSS_INTERVALS_HISTORY + 1];
    double discount[LOSS_INTERVALS_HISTORY + 1]; // DF_i of 5.5
};

void loss_intervals_init(struct loss_intervals *l);

// Reports that a packet arrived, or was lost. `rtt` > 0 is R of 5.2. `events` shows whether an
// event began.
void loss_intervals_arrived(struct loss_intervals *l, int64_t number, usec_t at, bool ce,
                            usec_t rtt);
void loss_intervals_lost(struct loss_intervals *l, int64_t number, usec_t rtt);

// Begins an event at the loss of `number`, whatever its arrival time would have been; no effect if
// the newest event began at `number` or later.
void loss_intervals_begin(struct loss_intervals *l, int64_t number);

// Sets the length (>= 1) that the interval before the very first event counts as (6.3.1). Calls
// after more than LOSS_INTERVALS_HISTORY events have no effect.
void loss_intervals_seed(struct loss_intervals *l, double packets);

// Returns p; 0 before the first event.
double loss_intervals_rate(const struct loss_intervals *l);

DECLS_END
#endif
