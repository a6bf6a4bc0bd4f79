// SPDX-License-Identifier: GPL-2.0-or-later
// How much feedback of one viewer is looked at. A viewer cannot miss more packets than it was sent.
//
//   The law.
//     - A NACK that names n packets takes n credits. Each packet sent gives 2, so that a viewer may
//       name a packet twice; at most FEEDBACK_MAX_CREDIT are kept.
//     - A PLI takes one of 10 tokens; 10 more a second.
//   What finds none is dropped and counted.
//
// Pure.
#ifndef WEIR_STREAM_SEND_FEEDBACK_LIMIT_H
#define WEIR_STREAM_SEND_FEEDBACK_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FEEDBACK_MAX_CREDIT = 4096 }; // packets: of a path that was away for seconds

struct feedback_limit {
    uint64_t sent; // packets, when the credit was last counted
    uint64_t credit;
    double plis;
    usec_t plis_at;
    uint64_t dropped; // entries of NACKs, and PLIs
};

void feedback_limit_init(struct feedback_limit *l, usec_t now);
// Returns true if a NACK entry that names `named` packets is to be looked at; `sent` packets have
// left.
bool feedback_limit_nack(struct feedback_limit *l, int named, uint64_t sent);
bool feedback_limit_pli(struct feedback_limit *l, usec_t now); // the same of a PLI

#ifdef __cplusplus
}
#endif
#endif
