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
#ifndef WEIR_PLAYER_CATCH_UP_H
#define WEIR_PLAYER_CATCH_UP_H

#include <stdbool.h>

#include "common/base/usec.h"
#include "player/media_clock.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CATCH_UP_MOST_PPM = MEDIA_CLOCK_UNIT / 20,
    CATCH_UP_GAIN_PPM = MEDIA_CLOCK_UNIT / 4,  // a second of excess
    CATCH_UP_SLEW_PPM = MEDIA_CLOCK_UNIT / 50, // a second
};
#define CATCH_UP_DEAD_BAND   (15 * USEC_PER_MSEC)
#define CATCH_UP_LEAST_SKIP  USEC_PER_SEC
#define CATCH_UP_SKIP_FACTOR 2
#define CATCH_UP_SKIP_APART  USEC_PER_SEC // between two skips

struct catch_up {
    int32_t speed_ppm;
    usec_t updated;
    usec_t skipped; // USEC_NEVER: not yet
};

void catch_up_init(struct catch_up *c, usec_t now); // at speed 1
// `excess`: latency above the target, negative below. Returns the speed from now on.
int32_t catch_up_update(struct catch_up *c, usec_t excess, usec_t now);
// A stall, a pause: the speed is 1 again, at once, for nothing plays.
void catch_up_rest(struct catch_up *c, usec_t now);
bool catch_up_wants_skip(const struct catch_up *c, usec_t excess, usec_t target, usec_t now);
void catch_up_skipped(struct catch_up *c, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
