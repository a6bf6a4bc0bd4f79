// SPDX-License-Identifier: GPL-2.0-or-later
// Limits how much feedback of one viewer the sender processes. A viewer cannot miss more packets
// than it was sent.
//
//   The law.
//     - A NACK that names n packets takes n credits. Each packet sent adds 2 credits, so that a
//       viewer may name a packet twice. Of a film, which the viewer waits for, each second adds
//       FEEDBACK_CREDIT_PER_SEC: when all is sent, it may still lack some. The credit is at most
//       FEEDBACK_MAX_CREDIT, and nothing before the first packet.
//     - A PLI takes one token. The bucket holds 10 tokens and gains 10 a second.
//   Feedback without credit or token is dropped and counted.
//
// Pure.
#ifndef WEIR_STREAM_SEND_FEEDBACK_LIMIT_H
#define WEIR_STREAM_SEND_FEEDBACK_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum {
    FEEDBACK_MAX_CREDIT = 4096, // packets; enough for a path that was interrupted for seconds
    FEEDBACK_CREDIT_PER_SEC = 256,
};

struct feedback_limit {
    uint64_t sent; // packets sent when the credit was last updated
    uint64_t credit;
    bool is_film; // set by the owner after feedback_limit_init; as above
    usec_t credit_at;
    double plis;
    usec_t plis_at;
    uint64_t dropped; // NACK entries and PLIs
};

void feedback_limit_init(struct feedback_limit *l, usec_t now);
// Returns true if the sender shall process a NACK entry that names `named` packets. `sent`: packets
// sent so far.
bool feedback_limit_nack(struct feedback_limit *l, int named, uint64_t sent, usec_t now);
bool feedback_limit_pli(struct feedback_limit *l, usec_t now); // true: process the PLI

DECLS_END
#endif
