// SPDX-License-Identifier: GPL-2.0-or-later
// How live media is played so that its latency stays at the target: the speed follows the excess of
// latency, without a jump that eye or ear would notice.
//
//     wanted speed - 1 = gain * (|excess| - dead band), at most 5 %, with the sign of the excess
//     gain = 0.25 / s; the speed changes by 2 % a second at most
//
// With these the last 0.2 s of an excess fade in an exponential of 4 s: the speed falls by 1.25 % a
// second there, less than it may, so the target is not overshot. An excess beyond max(1 s, 2 *
// target) is not played away but skipped.
//
// Drift of the sender's clock against ours is a steady push of some 100 ppm: it is held 1 ms beyond
// the dead band.
#ifndef WEIR_STREAM_LATENCY_SPEED_CONTROL_H
#define WEIR_STREAM_LATENCY_SPEED_CONTROL_H

#include <stdbool.h>

#include "common/base/usec.h"
#include "stream/playout/media_clock.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SPEED_CONTROL_MOST_PPM = MEDIA_CLOCK_UNIT / 20,
    SPEED_CONTROL_GAIN_PPM = MEDIA_CLOCK_UNIT / 4,  // a second of excess
    SPEED_CONTROL_SLEW_PPM = MEDIA_CLOCK_UNIT / 50, // a second
};
#define SPEED_CONTROL_DEAD_BAND   (15 * USEC_PER_MSEC)
#define SPEED_CONTROL_LEAST_SKIP  USEC_PER_SEC
#define SPEED_CONTROL_SKIP_FACTOR 2
#define SPEED_CONTROL_SKIP_APART  USEC_PER_SEC // between two skips

struct speed_control {
    int32_t speed_ppm;
    usec_t updated;
    usec_t skipped; // USEC_NEVER: not yet
};

void speed_control_init(struct speed_control *c, usec_t now); // at speed 1
// `excess`: latency above the target, negative below. Returns the speed from now on.
int32_t speed_control_update(struct speed_control *c, usec_t excess, usec_t now);
// A stall, a pause: the speed is 1 again, at once, for nothing plays.
void speed_control_rest(struct speed_control *c, usec_t now);
bool speed_control_wants_skip(const struct speed_control *c, usec_t excess, usec_t target,
                              usec_t now);
void speed_control_skipped(struct speed_control *c, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
