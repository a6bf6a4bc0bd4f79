// SPDX-License-Identifier: GPL-2.0-or-later
// How much media the playout buffer is to hold back, beyond what the path takes at best:
//
//     least = max(share, floor)
//     goal = min(least * caution, least + 1 s),  1 <= caution <= 4
//
// share: the buffer's part of the latency budget; floor: what the network's jitter and the decoder
// need. Each stall multiplies the caution by 1.5. When no frame was late for 10 s it falls by 5 % a
// second.
#ifndef WEIR_STREAM_LATENCY_BUFFER_TARGET_H
#define WEIR_STREAM_LATENCY_BUFFER_TARGET_H

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BUFFER_TARGET_GROWTH 1.5
#define BUFFER_TARGET_MOST   4.0
#define BUFFER_TARGET_EXTRA  USEC_PER_SEC
#define BUFFER_TARGET_SHRINK 0.05 // a second
#define BUFFER_TARGET_CALM   (10 * USEC_PER_SEC)

struct buffer_target {
    usec_t share;
    usec_t floor;
    double caution;
    usec_t troubled; // when a frame was late last, or a stall ended
    usec_t updated;
};

void buffer_target_init(struct buffer_target *g, usec_t now);
void buffer_target_set(struct buffer_target *g, usec_t share, usec_t floor);
void buffer_target_on_stall(struct buffer_target *g, usec_t now);
void buffer_target_on_late(struct buffer_target *g, usec_t now);
// Lets the caution fall as far as the time since the last call allows, and returns the goal.
usec_t buffer_target_update(struct buffer_target *g, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
