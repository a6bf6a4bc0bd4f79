// SPDX-License-Identifier: GPL-2.0-or-later
// What a viewer is sent so that it follows its network: the level, its encoder's rate, and for the
// instant after a fall of the rate how many temporal layers.
//
//   The law. rate_follow.h says the target. The level is the highest whose rate is below it.
//     - A viewer alone steers its size's encoder: its level is made at the very target, below its
//       own rate as long as it is the better picture: down to 0.3 of it where the next lower level
//       is smaller, to 0.4 where that has fewer frames, to 0.7 at the lowest; again from 0.45 and
//       0.55 on.
//     - Viewers who share the encoders get levels as they are.
//       Who shares the encoders wants 5 % more than a larger size's rate, as its first frame is a
//       key frame.
//     - Down at once; up, to the highest that fits, when the target has been enough for the next
//       level for 2 s (0.4 s before it was ever too much).
//     - Media that does not use its rate, as it comes in levels or the picture stands still, goes
//       up by trial: when it has to come down within 5 s, that level is not tried for 5 s, and for
//       twice as long, up to 80 s, each time that this follows another.
//     - When it was too much, the top layers are left out from the next frame on, until what is
//       coded is what was asked for: an encoder answers within some frames (notably its rate's
//       bucket, layer_rate.h).
//
// Pure.
#ifndef WEIR_STREAM_ADAPT_ADAPTATION_H
#define WEIR_STREAM_ADAPT_ADAPTATION_H

#include "common/base/level.h"
#include "stream/adapt/rate_estimator.h"

#ifdef __cplusplus
extern "C" {
#endif

struct adaptation {
    const struct ladder *ladder; // borrowed
    struct rate_estimator rate;
    bool keeps_size;   // the viewer does not know of sizes
    double beside_bps; // of the target, for what goes with the video
    int cap;           // the highest level
    int level;
    int encoder_bps; // of the level's size, all its layers; 0: the ladder's
    int top;         // the highest temporal layer that may leave now
    usec_t top_until;
    usec_t above_since; // the target is beyond the next level; USEC_NEVER: it is not
    usec_t tried_at;    // when it went up by trial; USEC_NEVER: that is decided
    int tried;          // the level
    int failed;         // one that did not stay
    usec_t wait_until;  // no trial of it and what is above before
    usec_t patience;    // for the next that fails
};

// Begins at the highest level whose rate is below `start_bps`, at most at `cap`. The ceiling is the
// rate of `cap`.
void adaptation_init(struct adaptation *a, const struct ladder *ladder, int cap, double start_bps,
                     bool keeps_size);
void adaptation_set_cap(struct adaptation *a, int cap);
// So much of the rate is for what goes with the video, on top of its ceiling.
void adaptation_set_beside(struct adaptation *a, double bps);
// About every frame. `alone`: nobody else watches what the encoders make. True: something changed.
bool adaptation_update(struct adaptation *a, const struct rate_estimator_sample *s, bool alone,
                       usec_t now);

// NaN where the viewer does not follow the network.
struct adaptation_stats {
    double target_bps, delivered_bps, capacity_bps, encoder_bps;
    double delay_ms, rise_ms;
};

struct adaptation_stats adaptation_read(const struct adaptation *a);

#ifdef __cplusplus
}
#endif
#endif
