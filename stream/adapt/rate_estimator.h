// SPDX-License-Identifier: GPL-2.0-or-later
// The bitrate that live media should have so that it follows its network: below what the transport
// takes, so that no queue grows, neither at the sender nor in the network.
//
//   The law. A frame coded now is late by `delay`: the age of the oldest frame that waits, the
//   time that what the transport holds unsent takes, and the round trip's excess over its least.
//   `rise` is delay over its least of the last 5 s, as other people's standing queue is in both.
//   All limits on it have the time of two packets more: a delay is no finer than that.
//   The delay grows where less comes through than was made a round trip before: the `lack`.
//     - Too much: rise > 50 ms and a lack of 15 % over 0.3 s, or 100 ms and 5 % over 1 s, or 250 ms
//       and 2 % over 1 s; and what came is less than the target by as much. Then target = 0.9 of
//       what came in the last 0.3 s, which is remembered as the capacity, but never below 0.7 of
//       itself at once: a loss may keep a window short for a moment. Not again within 200 ms, nor
//       within 2 round trips unless the delay still grows.
//     - A rise of 50 ms is drained: for 0.3 s and 2 round trips at least the encoder is asked for
//       less than what came when that began, by 5 % and more the longer it lasts, until the rise is
//       below 20 ms. If more came meanwhile than was made, the queue was ours: target = 0.95 of
//       what came when that began.
//     - While a larger size's first frame is expected, for 0.5 s and 2 round trips, only a rise of
//       250 ms counts.
//     - Crowded: a queue that stands still after 0.6 s of that, though no more came than was made,
//       is other people's, who take what is left to them. It counts no longer, and for 5 s there is
//       no draining, and calm is a rise below 200 ms: else they would have it all.
//     - Calm, rise < 40 ms for half a second: the target grows by 120 kbit/s a second, as TCP does
//       by a packet a round trip, which is what shares a path evenly (Chiu and Jain 1989); but by 6
//       to 30 %. Beyond 1.2 of the capacity, which has changed or never was it, by 100 % a second.
//       Before the first time it doubles every half second. Not while the media does not use it,
//       but up to what its next step wants, once it has not for a second: media that comes in
//       steps, or stands still, cannot use more before.
//     - A rate controller's own limit holds besides: at most 0.9 of what it allows, or all of it
//       before it was ever too much. What waits for its start says nothing of the path, until it
//       has left, or for a second in which the limit grows by less than 10 %.
//
// In spirit of SCReAM (RFC 8298, 4.1.2) and of delay-based congestion detectors; written for
// frames, that come in bursts, over any transport that tells what was delivered. Pure.
#ifndef WEIR_STREAM_ADAPT_RATE_ESTIMATOR_H
#define WEIR_STREAM_ADAPT_RATE_ESTIMATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RATE_ESTIMATOR_HISTORY = 256 }; // samples, 20 ms apart at least: 5 s

struct rate_estimator_sample { // of one instant
    double delivered;          // bytes in all that the viewer's end has confirmed
    double made;               // bytes in all that were coded for it
    double unsent;             // bytes that the transport holds
    double allowed_bps;        // NaN: no rate controller
    usec_t rtt;                // the last; 0: not known
    usec_t waiting;            // age of the oldest frame that waits
};

struct rate_estimator_entry {
    usec_t at;
    double delivered, made;
    usec_t rtt, delay;
};

struct rate_estimator {
    double floor_bps, ceiling_bps;
    double target_bps;
    double limit_bps;    // by the rate controller
    double step_bps;     // what the media's next step wants, set by who takes it; 0: there is none
    double capacity_bps; // when it was too much last; 0: never
    double took_bps;     // figures of the last sample
    double made_bps;
    usec_t least_rtt;
    usec_t delay, rise;
    usec_t decreased;    // when last; USEC_NEVER: never
    usec_t held_until;   // by its rate controller's start
    double held_bps;     // the highest limit so far
    usec_t delay_before; // then
    usec_t calm_since;   // USEC_NEVER: it is not
    usec_t unused_since; // USEC_NEVER: the media uses its rate
    usec_t drain_since;  // USEC_NEVER: it is not
    usec_t drain_rise;   // then
    double drain_bps;    // what came through then
    usec_t least_since;  // delays before do not count
    usec_t crowded_until;
    usec_t burst_until; // a key frame is under way
    int first, count;   // ring
    struct rate_estimator_entry history[RATE_ESTIMATOR_HISTORY];
};

// `start`: bit/s.
void rate_estimator_init(struct rate_estimator *f, double start_bps, double floor_bps,
                         double ceiling_bps);
void rate_estimator_set_ceiling(struct rate_estimator *f, double ceiling_bps);
// About every frame. True: it was too much.
bool rate_estimator_update(struct rate_estimator *f, const struct rate_estimator_sample *s,
                           usec_t now);
// What the media may have, bit/s, within floor and ceiling.
double rate_estimator_target(const struct rate_estimator *f);
// What the encoder should make now, to drain a queue besides.
double rate_estimator_bps(const struct rate_estimator *f);
// The media has not used its rate for a second: nobody knows whether all of it would come through.
bool rate_estimator_is_idle(const struct rate_estimator *f, usec_t now);
// The next frame is a larger size's first one: it makes a queue that passes.
void rate_estimator_expect_key(struct rate_estimator *f, usec_t now);
// How often the viewer's end should report, when the transport would have it every `wished`: with
// the round trip, as most of them, is too rare where that was long for a queue.
usec_t rate_estimator_report_interval(usec_t wished);
// Media stood still (pause, nobody watches): what was measured before says nothing.
void rate_estimator_restart(struct rate_estimator *f);

#ifdef __cplusplus
}
#endif
#endif
