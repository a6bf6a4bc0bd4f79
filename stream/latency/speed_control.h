// SPDX-License-Identifier: GPL-2.0-or-later
// How live media is played so that its latency stays at the target: the speed follows the excess of
// latency, without a jump that eye or ear would notice.
//
//     wanted speed - 1 = gain * (|excess| - dead band), at most 5 %, with the sign of the excess
//     gain = 0.4 / s; the speed changes by 2 % a second at most
//
// With these the last 0.125 s of an excess fade in an exponential of 2.5 s: the speed falls by 2 %
// a second there, no more than it may, so the target is not overshot.
//
// Drift of the sender's clock against ours is a steady push of some 100 ppm: it is held less than
// 1 ms beyond the dead band.
#ifndef WEIR_STREAM_LATENCY_SPEED_CONTROL_H
#define WEIR_STREAM_LATENCY_SPEED_CONTROL_H

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "stream/playout/media_clock.h"

DECLS_BEGIN

enum {
    SPEED_CONTROL_MOST_PPM = MEDIA_CLOCK_UNIT / 20,
    SPEED_CONTROL_GAIN_PPM = 2 * MEDIA_CLOCK_UNIT / 5, // a second of excess
    SPEED_CONTROL_SLEW_PPM = MEDIA_CLOCK_UNIT / 50,    // a second
};
#define SPEED_CONTROL_DEAD_BAND (5 * USEC_PER_MSEC)

struct speed_control {
    int32_t speed_ppm;
    usec_t updated;
};

void speed_control_init(struct speed_control *c, usec_t now); // at speed 1
// `excess`: latency above the target, negative below. Returns the speed from now on.
int32_t speed_control_update(struct speed_control *c, usec_t excess, usec_t now);
// A pause, or a step of the clock: the speed is 1 again, at once.
void speed_control_rest(struct speed_control *c, usec_t now);

DECLS_END
#endif
