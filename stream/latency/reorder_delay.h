// SPDX-License-Identifier: GPL-2.0-or-later
// How much later than at best the frames of a stream with B frames arrive, by their order alone: a
// B frame is sent after frames that are shown after it. A run is a frame with a new newest media
// time and the frames after it up to the next such one. Of the last REORDER_DELAY_RUNS runs, each
// with the delay of its latest frame,
//
//     delay = the second largest
//
// So two runs tell it, where the quantile of arrival_jitter.h needs seconds, and one that the
// network delayed does not change it. 0 of a stream that is sent in the order in which it is shown.
// Pure.
#ifndef WEIR_STREAM_LATENCY_REORDER_DELAY_H
#define WEIR_STREAM_LATENCY_REORDER_DELAY_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { REORDER_DELAY_RUNS = 8 };

struct reorder_delay { // all zero at first
    bool begun;
    usec_t newest; // media time
    usec_t latest; // delay of the run's latest frame that is shown before another one; 0: none
    usec_t runs[REORDER_DELAY_RUNS]; // a ring
    int next;
};

// A frame arrived that is later in the order of decoding than all before it. `delay`: behind the
// best arrival.
void reorder_delay_add(struct reorder_delay *r, usec_t media, usec_t delay);
usec_t reorder_delay_read(const struct reorder_delay *r);

DECLS_END
#endif
