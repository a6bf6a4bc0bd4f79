// SPDX-License-Identifier: GPL-2.0-or-later
// The bitrate for live media that follows its network: below the capacity of the transport, so that
// no queue grows at the sender or in the network.
//
//   The law. Two things limit the media: what the path carries (the target), and what the
//   transport's congestion window or rate controller allows (the limit).
//
//   The path. `delay` is the time by which a frame coded now is late. While the transport reports
//   what it allows, this is the round trip's excess over its min alone, or the time since anything
//   arrived: what a window leaves waiting, as after a random loss, is no queue of the path.
//   Otherwise, and when for a second less than a quarter of a window was on the path though data
//   waits, the age of the oldest waiting frame and the time to send the transport's unsent bytes
//   are added. `rise` is `delay` minus its min of the last 5 s, because a standing queue of other
//   traffic is in both. All limits on `rise` are extended by the time of two packets, the
//   resolution of a delay. The delay grows where less arrives than was coded a round trip before:
//   the difference is the `lack`.
//     - Growing: the last two round trips are 10 ms longer than any of the last 1.5 s, and so are,
//       by 25 ms, the bytes on the path; or the last one is 20 ms longer and the bytes are 75 ms
//       more; 20 % less arrives than was sent, over 0.12 s. Then the rate dips below the arrival
//       rate by the queue over 0.2 s, by at most 80 %, until the queue is gone: for 0.3 s and 2
//       round trips at least. Afterwards the target is 0.9 of the highest rate that arrived
//       meanwhile. If the round trip did not prove to be longer, the target is as before.
//     - Too much: rise > 50 ms and a lack of 15 % over 0.3 s, or 100 ms and 5 % over 1 s, or 250 ms
//       and 2 % over 1 s, or, for 30 s after a dip, 30 ms and 8 % over 0.5 s;
//       and the arrival rate is below the target by as much. Then target = 0.9 of the arrival rate
//       of the last 0.3 s, which is remembered as the capacity. Where it is not known what is
//       allowed, one step never goes below 0.7 of the target: a loss may keep a window short for a
//       moment. The next step comes 200 ms later or more, and 2 round trips later unless the delay
//       still grows.
//     - Drain: after a rise of 20 ms, or of 12 ms for 30 s after a dip, but not just after it, when
//       less arrives than the path carries, for 0.3 s and 2 round trips at least, the encoder is
//       given less than the arrival rate at the beginning: by 5 %, and more the longer it lasts,
//       until the rise is below 20 ms. If meanwhile more arrived than was coded, the queue was this
//       stream's own: target = 0.95 of the arrival rate at the beginning.
//     - While a larger size's first frame is expected, for 0.5 s and 2 round trips, only a rise of
//       250 ms counts.
//     - Crowded: a queue that does not shrink after 0.6 s of draining, though no more arrived than
//       was coded, belongs to other traffic, which takes all that is left to it. It counts no
//       longer. For 5 s nothing is drained, and calm is a rise below 200 ms: otherwise the other
//       traffic would take the whole path.
//     - Calm, rise < 40 ms for half a second: the target grows by 120 kbit/s per second, as TCP
//       grows by a packet per round trip, which shares a path evenly (Chiu and Jain 1989); but by 6
//       to 30 %. From 0.88 to 1.04 of the capacity it grows by 6 %: the queue that begins there is
//       seen before it is long. Above 1.2 of the capacity, that estimate is stale: the target grows
//       by 100 % per second. While the capacity is not known, as at the start and after a time
//       without media, it doubles every half second. The target does not grow while the media does
//       not use it. After a second of that it grows only to the media's next step: media that comes
//       in steps, or does not change, cannot use more before.
//     - Led: where the rate controller keeps the queue short by itself, or takes its share of a
//     queue that others hold, nothing but its rate limits the media. Afterwards the capacity is not
//     known.
//
//   What is allowed. The encoder follows it at once, less what makes up for waiting bytes (beyond
//   one packet) within 0.1 s. Levels follow its mean over a second, over 2 s if it is a window, and
//   over 3 s where only losses make a window smaller, as MTP's: at 1 % loss and 100 ms they halve
//   it every second, and each switch costs a key frame. A rate controller allows bytes: all of them
//   are used. A window allows packets, full or not, or bytes with headers: what it counts beyond
//   the media is subtracted. The encoder is given 1.05 of a window, because it grows only if it is
//   full at times (RFC 7661). A window of which less than half is used does not limit.
//
// In spirit of SCReAM (RFC 8298, 4.1.2) and of delay-based congestion detectors; written for
// frames, that come in bursts, over any transport that reports what was delivered. Pure.
#ifndef WEIR_STREAM_ADAPT_RATE_ESTIMATOR_H
#define WEIR_STREAM_ADAPT_RATE_ESTIMATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { RATE_ESTIMATOR_HISTORY = 512 }; // samples, 10 ms apart at least: 5 s

struct rate_estimator_sample { // of one instant
    double delivered;          // total bytes that the viewer's end has confirmed
    double made;               // total bytes coded for the viewer
    double unsent;             // bytes that the transport holds
    double flight;             // bytes on the path; NaN: not known
    double queued;             // bytes that wait for the transport
    double padding;            // total bytes by which a window counts packets beyond their own
    double allowed_bps;        // rate of the controller or window now; NaN: not known
    bool is_window;            // it is a window, of packets or bytes
    double packets_ps; // packets a second that a window allows; NaN: not known, or a byte stream
    bool is_kept;      // is_window, and time without media does not make the window smaller (MTP's)
    bool leads;        // the rate controller's rate is the media's (controller.h)
    usec_t rtt;        // the last, without queues on the way back if they are known; 0: not known
    usec_t waiting;    // age of the oldest frame that waits
};

struct rate_estimator_entry {
    usec_t at;
    double delivered, made, padding;
    usec_t rtt, delay;
    usec_t ahead; // time to deliver the bytes on the path
};

struct rate_estimator {
    double floor_bps, ceiling_bps;
    double target_bps;
    double limit_bps;    // by the controller or window, averaged
    double now_bps;      // by the controller or window now, less what has to catch up
    double allowed_bps;  // average of what is allowed; NaN: not known
    double step_bps;     // rate of the media's next step, set by the caller; 0: none
    double capacity_bps; // measured at the last `too much`; 0: not known
    bool is_narrow;      // it was too much since the target was last at the ceiling
    double took_bps;     // rates of the last sample
    double made_bps;
    usec_t least_rtt;
    usec_t delay, rise;
    usec_t ahead;          // of what is coded now by what is on the path, above its min: the queue
    usec_t decreased;      // last decrease; USEC_NEVER: none
    usec_t unfilled_since; // the window is mostly empty though data waits
    usec_t progress_at;    // when something arrived last, or nothing was under way
    double progress_made;  // what was made until then
    usec_t delay_before;   // delay at `decreased`
    usec_t calm_since;     // USEC_NEVER: not calm
    usec_t unused_since;   // USEC_NEVER: the media uses its rate
    usec_t drain_since;    // USEC_NEVER: not draining
    usec_t drain_rise;     // rise at drain_since
    double drain_bps;      // arrival rate at drain_since, or now while it dips
    usec_t proved_until;   // a dip has shown that the queue is this stream's
    bool dips;             // drains a queue that was seen growing
    double dip_target, dip_capacity; // before it
    bool dip_narrow;                 // is_narrow before it
    usec_t usual_rtt, peak_rtt;      // before it, and since
    double dip_bps;                  // the highest arrival rate since
    usec_t refill_until; // after it: the arrival rate is lower than what the path carries
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
// The bitrate that the network leaves the media, at least the floor; INFINITY: nothing shows that
// it carries less than the ceiling. A target that is low because the media has not used more shows
// nothing. `dips`: also what is left while a queue drains, or the window is small for a moment.
double rate_estimator_carried(const struct rate_estimator *f, bool dips);
// Returns true if the media has not used its rate for a second: the path is unproven at that rate.
bool rate_estimator_is_idle(const struct rate_estimator *f, usec_t now);
// The next frame is a larger size's first one: it causes a short queue.
void rate_estimator_expect_key(struct rate_estimator *f, usec_t now);
// The interval for the viewer's reports, given the transport's own (`wished`). One report per round
// trip, as most transports want, is too rare where the round trip is long compared with a queue.
usec_t rate_estimator_report_interval(usec_t wished);
// After a time without media (a pause, no viewer): forgets the measurements before it, and the
// capacity.
void rate_estimator_restart(struct rate_estimator *f);

DECLS_END
#endif
