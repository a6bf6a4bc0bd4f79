// SPDX-License-Identifier: GPL-2.0-or-later
// The rounds in which a sender's packets left (Fiksdal 2003, 3.5: the sender counts rounds, and
// tells the receiver the round of each packet; losses of one round are one loss event).
//
//   The law: round 0 begins with the first packet; the next begins with the first packet that
//   leaves one R or more after the beginning of the current one.
//
// Pure. Packet numbers ascend.
#ifndef WEIR_CONGESTION_LOSS_ROUNDS_H
#define WEIR_CONGESTION_LOSS_ROUNDS_H

#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { LOSS_ROUNDS_KEPT = 32 }; // packets of earlier rounds count as of the oldest one kept

struct loss_rounds {
    int64_t first[LOSS_ROUNDS_KEPT]; // number of the first packet of round r, at r % KEPT
    int64_t round;                   // the current round; -1: no packet left yet
    usec_t began;                    // when it began
};

void loss_rounds_init(struct loss_rounds *r);
// A packet leaves. `rtt`: R; 0: unknown, the round continues.
void loss_rounds_sent(struct loss_rounds *r, int64_t number, usec_t rtt, usec_t now);
// Returns the round of a packet that left; 0 if none did.
int64_t loss_rounds_of(const struct loss_rounds *r, int64_t number);

DECLS_END
#endif
