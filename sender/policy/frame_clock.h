// SPDX-License-Identifier: GPL-2.0-or-later
// When the frames of media that is made at will are due: numbers at a constant rate, at a speed
// that may change. Behind by more than half a second (a machine asleep), time goes on from now
// rather than in a rush. Pure.
#ifndef WEIR_SENDER_POLICY_FRAME_CLOCK_H
#define WEIR_SENDER_POLICY_FRAME_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/level.h"
#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FRAME_CLOCK_MIN_SPEED 0.25
#define FRAME_CLOCK_MAX_SPEED 4.0

struct frame_clock {
    double interval; // us of media time
    double speed;    // times the media's own pace
    int64_t number;  // the next
    double due;      // of it; fractions: most rates have no whole number of microseconds
};

// The speed is 1; frame_clock_start before the first tick.
void frame_clock_init(struct frame_clock *c, struct fps fps);
void frame_clock_start(struct frame_clock *c, usec_t now); // the next number is due now
// From the number after the next on.
void frame_clock_set_speed(struct frame_clock *c, double speed);
// Takes the next number if it is due; *due: since when. Call until false, then again at
// frame_clock_next.
bool frame_clock_tick(struct frame_clock *c, int64_t *number, usec_t *due, usec_t now);
usec_t frame_clock_next(const struct frame_clock *c);

#ifdef __cplusplus
}
#endif
#endif
