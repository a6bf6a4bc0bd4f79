// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps the latency of live media where it is wanted, by steering the playout buffer's clock. Files
// have none: no viewer waits for them.
//
// All is measured on the line of best arrivals. base = the least of (arrival - media time) over the
// last 2 to 4 s is what the path takes at best, on whatever clock the sender's media time runs; so
// drift between the clocks moves base, and nothing else needs to know of it. How far playing is
// behind that line,
//
//     lag = (now - base) - playout_position(now),
//
// is the buffer's part of the latency, whether or not the clocks of both ends can be compared. It
// is held at the goal (buffer_target.h) by speed and skips (speed_control.h). With a target for the
// whole way, the buffer's share is what encoder and transport leave of it (latency_budget.h).
// Without one it is the lag that the start gave, taken LATENCY_CONTROL_SETTLE after it or at the
// first stall.
//
// Jitter is how far behind that line frames arrive, over the last 10 to 20 s. What comes after a
// stall was held up, and tells nothing of jitter until one frame is behind by no more than others
// were before.
//
// Not thread-safe. Feed what happens, then call latency_control_steer.
#ifndef WEIR_STREAM_LATENCY_LATENCY_CONTROL_H
#define WEIR_STREAM_LATENCY_LATENCY_CONTROL_H

#include "common/base/hist.h"
#include "common/base/windowed_min.h"
#include "stream/latency/buffer_target.h"
#include "stream/latency/latency_budget.h"
#include "stream/latency/speed_control.h"
#include "stream/playout/playout.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LATENCY_CONTROL_SETTLE   (3 * USEC_PER_SEC)
#define LATENCY_CONTROL_INTERVAL (100 * USEC_PER_MSEC) // between two turns of the clock
#define LATENCY_CONTROL_ASK_KEY  (3 * USEC_PER_SEC)    // between two wishes for a key frame

struct latency_control_config {
    usec_t target; // capture to shown; 0: what the start gives
    usec_t start;  // media to begin with; with a target, 0: the buffer's share
};

struct live_arrival { // a frame became whole
    usec_t media;     // its time
    usec_t encoder;   // QOE_UNKNOWN: not known
    usec_t transport;
};

struct latency_control {
    struct latency_control_config config;
    struct windowed_min base;
    struct windowed_min encoder;
    struct windowed_min transport;
    struct hist jitter[2]; // of the window that is open, and of the one before
    usec_t jitter_since;
    usec_t jitter_read; // when the quantile was taken last
    usec_t jitter_p99;
    double decoder; // means, us
    double display;
    usec_t rtt; // 0: unknown
    bool playing;
    bool settled;
    bool recovering; // from a stall
    usec_t started;
    usec_t steered;
    usec_t asked_key; // USEC_NEVER: not yet
    usec_t start_lag;
    struct latency_parts parts;
    struct latency_shares shares;
    struct buffer_target goal;
    usec_t wanted_lag; // the goal as steered to last
    struct speed_control catch_up;
};

void latency_control_init(struct latency_control *l, const struct latency_control_config *config,
                          usec_t now);
void latency_control_set_rtt(struct latency_control *l, usec_t rtt);
// Of frames that the playout buffer took.
void latency_control_arrived(struct latency_control *l, const struct live_arrival *a, usec_t now);
// `decoder`: decoding took; `behind`: shown so long after it was due.
void latency_control_shown(struct latency_control *l, usec_t decoder, usec_t behind);
void latency_control_started(struct latency_control *l, usec_t now); // PLAYOUT_START
void latency_control_late(struct latency_control *l, usec_t now);
void latency_control_stalled(struct latency_control *l, const struct playout *p, usec_t at,
                             usec_t now);
void latency_control_resumed(struct latency_control *l, usec_t now); // after a stall
void latency_control_paused(struct latency_control *l,
                            usec_t now); // by the viewer; a start follows

struct live_steer {
    double speed;
    usec_t skipped; // media left out; 0: none
    bool wants_key; // to skip to
};

// Sets speed and thresholds of the playout buffer and skips in it, once a LATENCY_CONTROL_INTERVAL;
// false: it was not the time.
bool latency_control_steer(struct latency_control *l, struct playout *p, struct live_steer *out,
                           usec_t now);

// The whole way, as configured or as the start gave it; 0: not known yet.
usec_t latency_control_target(const struct latency_control *l);
// How old a frame may be when it leaves the sender.
usec_t latency_control_sender(const struct latency_control *l);

#ifdef __cplusplus
}
#endif
#endif
