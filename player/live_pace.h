// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps the latency of live media where it is wanted, by steering the playout buffer's clock. Files
// have none: nobody waits for them.
//
// All is measured on the line of best arrivals. base = the least of (arrival - media time) over the
// last 2 to 4 s is what the path takes at best, on whatever clock the sender's media time runs; so
// drift between the clocks moves base, and nothing else needs to know of it. How far playing is
// behind that line,
//
//     lag = (now - base) - playout_position(now),
//
// is the buffer's part of the latency, whether or not the clocks of both ends can be compared. It
// is held at the goal (buffer_goal.h) by speed and skips (catch_up.h). With a target for the whole
// way, the buffer's share is what encoder and transport leave of it (latency_budget.h). Without one
// it is the lag that the start gave, taken LIVE_PACE_SETTLE after it or at the first stall.
//
// Jitter is how far behind that line frames arrive, over the last 10 to 20 s. What comes after a
// stall was held up, and tells nothing of jitter until one frame is behind by no more than others
// were before.
//
// Not thread-safe. Feed what happens, then call live_pace_steer.
#ifndef WEIR_PLAYER_LIVE_PACE_H
#define WEIR_PLAYER_LIVE_PACE_H

#include "common/base/hist.h"
#include "player/buffer_goal.h"
#include "player/catch_up.h"
#include "player/latency_budget.h"
#include "player/playout.h"
#include "player/window_min.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LIVE_PACE_SETTLE   (3 * USEC_PER_SEC)
#define LIVE_PACE_INTERVAL (100 * USEC_PER_MSEC) // between two turns of the clock
#define LIVE_PACE_ASK_KEY  (3 * USEC_PER_SEC)    // between two wishes for a key frame

struct live_pace_config {
    usec_t target; // capture to shown; 0: what the start gives
    usec_t start;  // media to begin with; with a target, 0: the buffer's share
};

struct live_arrival { // a frame became whole
    usec_t media;     // its time
    usec_t encoder;   // QOE_UNKNOWN, as is
    usec_t transport;
};

struct live_pace {
    struct live_pace_config config;
    struct window_min base;
    struct window_min encoder;
    struct window_min transport;
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
    struct buffer_goal goal;
    usec_t wanted_lag; // the goal as steered to last
    struct catch_up catch_up;
};

void live_pace_init(struct live_pace *l, const struct live_pace_config *config, usec_t now);
void live_pace_set_rtt(struct live_pace *l, usec_t rtt);
// Of frames that the playout buffer took.
void live_pace_arrived(struct live_pace *l, const struct live_arrival *a, usec_t now);
// `decoder`: decoding took; `behind`: shown so long after it was due.
void live_pace_shown(struct live_pace *l, usec_t decoder, usec_t behind);
void live_pace_started(struct live_pace *l, usec_t now); // PLAYOUT_START
void live_pace_late(struct live_pace *l, usec_t now);
void live_pace_stalled(struct live_pace *l, const struct playout *p, usec_t at, usec_t now);
void live_pace_resumed(struct live_pace *l, usec_t now); // after a stall
void live_pace_paused(struct live_pace *l, usec_t now);  // by the viewer; a start follows

struct live_steer {
    double speed;
    usec_t skipped; // media left out; 0: none
    bool wants_key; // to skip to
};

// Sets speed and thresholds of the playout buffer and skips in it, once a LIVE_PACE_INTERVAL;
// false: it was not the time.
bool live_pace_steer(struct live_pace *l, struct playout *p, struct live_steer *out, usec_t now);

// The whole way, as configured or as the start gave it; 0: not known yet.
usec_t live_pace_target(const struct live_pace *l);
// How old a frame may be when it leaves the sender.
usec_t live_pace_sender(const struct live_pace *l);

#ifdef __cplusplus
}
#endif
#endif
