// SPDX-License-Identifier: GPL-2.0-or-later
// Computes when the frames of synthetic media are due: numbers at a constant rate, at a speed that
// may change. If it is late by more than half a second (for example after a suspend), the time line
// restarts now, to avoid a burst. Pure.
#ifndef WEIR_SERVER_POLICY_FRAME_CLOCK_H
#define WEIR_SERVER_POLICY_FRAME_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define FRAME_CLOCK_MIN_SPEED 0.25
#define FRAME_CLOCK_MAX_SPEED 4.0

struct frame_clock {
    double interval; // us of media time
    double speed;    // as a multiple of the media's own pace
    int64_t number;  // the next number
    double due;      // time at which it is due; a double, because most intervals are not a whole
                     // number of us
};

// The initial speed is 1. Call frame_clock_start before the first tick.
void frame_clock_init(struct frame_clock *c, struct fps fps);
void frame_clock_start(struct frame_clock *c, usec_t now); // the next number is due now
// Takes effect after the next number.
void frame_clock_set_speed(struct frame_clock *c, double speed);
// If the next number is due, takes it, sets *due to its time and returns true. The caller repeats
// the call until it returns false, then waits until frame_clock_next.
bool frame_clock_tick(struct frame_clock *c, int64_t *number, usec_t *due, usec_t now);
usec_t frame_clock_next(const struct frame_clock *c);

DECLS_END
#endif
