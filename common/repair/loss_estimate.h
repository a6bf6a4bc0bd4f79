// SPDX-License-Identifier: GPL-2.0-or-later
// How a path loses packets: how many, and in bursts of which length. Fitted to Gilbert's model
// (1960), a chain of a good state, in which packets arrive, and a bad one, in which they are lost:
//
//   loss  = lost / packets                 the fraction of time in the bad state
//   burst = lost / runs of lost packets    its mean length in packets, >= 1
//
// Random loss has bursts of 1 / (1 - loss). Counts fade with a time constant of
// LOSS_ESTIMATE_WINDOW packets, so that the estimate follows the path.
//
// Pure.
#ifndef WEIR_REPAIR_LOSS_ESTIMATE_H
#define WEIR_REPAIR_LOSS_ESTIMATE_H

#include <stdbool.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum { LOSS_ESTIMATE_WINDOW = 1000 };

struct loss_estimate {
    double packets, lost, runs; // faded counts
    bool in_run;                // the last packet was lost
};

// Begins with what 100 packets at 1 % random loss would have left.
void loss_estimate_init(struct loss_estimate *e);
// The fate of the next packet, in the order of sending. A packet that is sent again counts, too.
void loss_estimate_add(struct loss_estimate *e, bool lost);
double loss_estimate_loss(const struct loss_estimate *e);  // 0 .. 1
double loss_estimate_burst(const struct loss_estimate *e); // >= 1

// Returns the probability that a packet is lost that leaves `apart` packets after a lost one.
double loss_after_loss(double loss, double burst, int apart);

DECLS_END
#endif
