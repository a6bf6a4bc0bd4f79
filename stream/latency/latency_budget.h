// SPDX-License-Identifier: GPL-2.0-or-later
// One budget, from capture to shown, divided among its parts:
//
//     target = encoder + transport + buffer + decoder + display
//
// Encoder (capture to first write) and transport take what they take at best; decoder and display
// must have their time before a picture is due. The rest is slack, and a frame spends it once: what
// it waited for in the sender's queue, or was late on the way, it does not wait for in the buffer.
// So both ends are told where the slack ends:
//
//     buffer = max(target - encoder - transport, floor)            from the best arrival to shown
//     floor  = p99 of jitter + decoder + display + LATENCY_MARGIN
//     sender = encoder + buffer - decoder - display - LATENCY_MARGIN
//
// The sender's is how old a frame may be when it leaves there; a later one would miss its time.
// When the floor is more than the target leaves, the buffer gets the floor: pictures that stall are
// worse than late ones.
#ifndef WEIR_STREAM_LATENCY_LATENCY_BUDGET_H
#define WEIR_STREAM_LATENCY_LATENCY_BUDGET_H

#include <stdbool.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LATENCY_MARGIN       (10 * USEC_PER_MSEC)
#define LATENCY_SENDER_LEAST (20 * USEC_PER_MSEC) // what weir-send takes
#define LATENCY_SENDER_MOST  (60 * USEC_PER_SEC)

struct latency_parts { // measured; 0 while unknown
    usec_t encoder;
    usec_t transport;
    usec_t jitter; // p99 of arrivals behind the best ones
    usec_t decoder;
    usec_t display; // shown after it was due
};

struct latency_shares {
    usec_t sender;
    usec_t buffer;
    usec_t floor; // of the buffer, which cannot be less
    bool kept;    // the target can be
};

void latency_budget_divide(usec_t target, const struct latency_parts *parts,
                           struct latency_shares *out);

#ifdef __cplusplus
}
#endif
#endif
