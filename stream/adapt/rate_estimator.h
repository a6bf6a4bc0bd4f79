// SPDX-License-Identifier: GPL-2.0-or-later
// The bitrate for live media that follows its network: below the capacity of the transport, so that
// no queue grows at the sender or in the network.
//
//   The law. `delay` is the time by which a frame coded now is late: the age of the oldest waiting
//   frame, the time to send the transport's unsent bytes, and the round trip's excess over its min.
//   `rise` is `delay` minus its min of the last 5 s, because a standing queue of other traffic is
//   in both. All limits on `rise` are extended by the time of two packets, the resolution of a
//   delay. The delay grows where less arrives than was coded a round trip before: the difference is
//   the `lack`.
//     - Too much: rise > 50 ms and a lack of 15 % over 0.3 s, or 100 ms and 5 % over 1 s, or 250 ms
//       and 2 % over 1 s; and the arrival rate is below the target by as much. Then target = 0.9 of
//       the arrival rate of the last 0.3 s, which is remembered as the capacity. One step never
//       goes below 0.7 of the target: a loss may keep a window short for a moment. The next step
//       comes 200 ms later or more, and 2 round trips later unless the delay still grows.
//     - Drain: after a rise of 50 ms, for 0.3 s and 2 round trips at least, the encoder is given
//       less than the arrival rate at the beginning: by 5 %, and more the longer it lasts, until
//       the rise is below 20 ms. If meanwhile more arrived than was coded, the queue was this
//       stream's own: target = 0.95 of the arrival rate at the beginning.
//     - While a larger size's first frame is expected, for 0.5 s and 2 round trips, only a rise of
//       250 ms counts.
//     - Crowded: a queue that does not shrink after 0.6 s of draining, though no more arrived than
//       was coded, belongs to other traffic, which takes all that is left to it. It counts no
//       longer. For 5 s nothing is drained, and calm is a rise below 200 ms: otherwise the other
//       traffic would take the whole path.
//     - Calm, rise < 40 ms for half a second: the target grows by 120 kbit/s per second, as TCP
//       grows by a packet per round trip, which shares a path evenly (Chiu and Jain 1989); but by 6
//       to 30 %. Above 1.2 of the capacity, that estimate is stale: the target grows by 100 % per
//       second. Before the first `too much` it doubles every half second. The target does not grow
//       while the media does not use it. After a second of that it grows only to the media's next
//       step: media that comes in steps, or does not change, cannot use more before.
//     - A rate controller's own limit holds as well: at most 0.9 of the allowed rate, or all of it
//       before the first `too much`. Data that waits for the controller's start tells nothing about
//       the path until it has left, or until the limit grows by less than 10 % in a second.
//
// In spirit of SCReAM (RFC 8298, 4.1.2) and of delay-based congestion detectors; written for
// frames, that come in bursts, over any transport that reports what was delivered. Pure.
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
    double delivered;          // total bytes that the viewer's end has confirmed
    double made;               // total bytes coded for the viewer
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
    double step_bps;     // rate of the media's next step, set by the caller; 0: none
    double capacity_bps; // measured at the last `too much`; 0: never
    double took_bps;     // rates of the last sample
    double made_bps;
    usec_t least_rtt;
    usec_t delay, rise;
    usec_t decreased;    // last decrease; USEC_NEVER: none
    usec_t held_until;   // by its rate controller's start
    double held_bps;     // the highest limit so far
    usec_t delay_before; // delay at `decreased`
    usec_t calm_since;   // USEC_NEVER: not calm
    usec_t unused_since; // USEC_NEVER: the media uses its rate
    usec_t drain_since;  // USEC_NEVER: not draining
    usec_t drain_rise;   // rise at drain_since
    double drain_bps;    // arrival rate at drain_since
    usec_t least_since;  // delays before this time do not count
    usec_t crowded_until;
    usec_t burst_until; // a key frame is under way
    int first, count;   // ring
    struct rate_estimator_entry history[RATE_ESTIMATOR_HISTORY];
};

// `start`: bit/s.
void rate_estimator_init(struct rate_estimator *f, double start_bps, double floor_bps,
                         double ceiling_bps);
void rate_estimator_set_ceiling(struct rate_estimator *f, double ceiling_bps);
// Call about every frame. Returns true if the rate was too much.
bool rate_estimator_update(struct rate_estimator *f, const struct rate_estimator_sample *s,
                           usec_t now);
// The bitrate that the media may have, within floor and ceiling.
double rate_estimator_target(const struct rate_estimator *f);
// The bitrate for the encoder now, bit/s: lower than the target while a queue drains.
double rate_estimator_bps(const struct rate_estimator *f);
// Returns true if the media has not used its rate for a second: the path is unproven at that rate.
bool rate_estimator_is_idle(const struct rate_estimator *f, usec_t now);
// The next frame is a larger size's first one: it causes a short queue.
void rate_estimator_expect_key(struct rate_estimator *f, usec_t now);
// The interval for the viewer's reports, given the transport's own (`wished`). One report per round
// trip, as most transports want, is too rare where the round trip is long compared with a queue.
usec_t rate_estimator_report_interval(usec_t wished);
// After a time without media (a pause, no viewer): forgets the measurements before it.
void rate_estimator_restart(struct rate_estimator *f);

#ifdef __cplusplus
}
#endif
#endif
