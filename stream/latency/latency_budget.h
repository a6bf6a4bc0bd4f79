// SPDX-License-Identifier: GPL-2.0-or-later
// The latency from capture to shown, divided among its parts:
//
//     latency = path + buffer,    path = encoder + transport
//
// The path is what encoder (capture to first write) and transport take at best. The buffer reaches
// from the best arrival to shown. It needs
//
//     need = max(jitter - LATENCY_TOLERATED, 0) + repair + decoder + display
//
// so that frames are shown in time: the jitter of arrivals, a round of repair where lost packets
// are sent again, and the time of decoder and display. A frame that is late by LATENCY_TOLERATED is
// shown in the next refresh of the screen, which no viewer notices. Without a target the buffer is
// what it needs. With a target it is the rest of it:
//
//     buffer = max(target - path, decoder + display)
//
// however large the jitter is: a target is kept, and frames that are later are shown late.
//
// A frame spends the buffer once: what it waited for in the sender's queue, or was late on the way,
// it does not wait for here. So the sender is told how long a frame may wait there:
//
//     with a target:     buffer - decoder - display - LATENCY_MARGIN
//     without a target:  max(LATENCY_SENDER_AUTO, 2 * (repair + decoder + display))
//
// With a target a later one misses its time. Without one it is shown at once, if it is not too old.
// Jitter is not part of the share: what frames wait at the sender arrives as jitter, and would
// lengthen its own limit.
#ifndef WEIR_STREAM_LATENCY_LATENCY_BUDGET_H
#define WEIR_STREAM_LATENCY_LATENCY_BUDGET_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define LATENCY_TOLERATED    (10 * USEC_PER_MSEC)
#define LATENCY_MARGIN       (3 * USEC_PER_MSEC)
#define LATENCY_SENDER_AUTO  (400 * USEC_PER_MSEC)
#define LATENCY_SENDER_LEAST (20 * USEC_PER_MSEC) // what weir-send takes
#define LATENCY_SENDER_MOST  (60 * USEC_PER_SEC)

struct latency_parts { // measured; 0 while unknown
    usec_t encoder;
    usec_t transport;
    usec_t jitter; // high quantile of arrivals behind the best ones
    usec_t repair; // a resent packet arrives so much later; 0: there were no losses to repair
    usec_t decoder;
    usec_t display; // shown after it was due
};

struct latency_shares {
    usec_t sender;
    usec_t buffer;
    usec_t need; // of the buffer, to show frames in time
    bool kept;   // the target can be
};

void latency_budget_divide(usec_t target, const struct latency_parts *parts, // 0: no target
                           struct latency_shares *out);

DECLS_END
#endif
