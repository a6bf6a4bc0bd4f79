// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps the latency of live media where it is wanted, by steering the playout buffer's clock. Files
// have none: no viewer waits for them.
//
// All is measured on the line of best arrivals (arrival_jitter.h): base = the least of (arrival -
// media time) over the last 2 to 4 s is what the path takes at best, on whatever clock the sender's
// media time runs; so drift between the clocks moves base, and nothing else needs to know of it.
// How far playing is behind that line,
//
//     lag = (now - base) - playout_position(now),
//
// is the buffer's part of the latency up to the time when a frame is due, whether or not the clocks
// of both ends can be compared. latency_budget.h says what it should be, the wait:
//
//     LATENCY_AUTO    need - display: what jitter, repair and decoder need; at least what the audio
//                     needs, up to LATENCY_CONTROL_AUDIO
//     LATENCY_FIXED   target - path - display - SPEED_CONTROL_DEAD_BAND - LATENCY_MARGIN, so that
//                     the median of the latency is within the target; at least the decoder's time
//     LATENCY_START   the lag LATENCY_CONTROL_SETTLE after the start, or what AUTO says if more
//     LATENCY_LOW     none; playout has no clock, nothing is steered
//
// The excess is lag - wait. Below it by more than LATENCY_CONTROL_RAISE, the clock is postponed at
// once, by at most LATENCY_CONTROL_STEP a turn, so that no gap between pictures becomes visible; by
// all of it if it is more than LATENCY_CONTROL_ASTRAY. Above by more than LATENCY_CONTROL_SKIP,
// media is skipped as far as it is held. In between the speed does it (speed_control.h); but for
// LATENCY_CONTROL_EARLY after the start, an excess of more than LATENCY_CONTROL_RAISE is removed by
// steps of half a frame a turn, so that a start that took long is soon caught up.
//
// Repair: the wait includes one round, by which a resent packet arrives later than a first
// transmission, while the path loses packets frequently (recent_loss.h), or, if a round takes more
// than LATENCY_CONTROL_LATE at times, at all. Where losses are rare, as next to a TCP flow that
// fills a drop-tail queue now and then, a short round would make all frames late for the sake of a
// few: those are shown late, as playing waits for frames that others depend on. Next to a TCP flow
// a round takes as long as that flow's queue, and a packet is lost where the queue is longest: so
// the longest round of the last 15 to 30 s decides. The next loss comes when TCP's window has grown
// again, by a packet a round trip: a loss is remembered for LATENCY_CONTROL_ROUNDS of these rounds,
// for 15 s at least.
// Frames that were completed out of turn while a loss is remembered are no samples of the jitter:
// the round is what they need, and would count twice. Without repair, jitter has them all.
//
// A byte stream holds up all that follows a lost packet. At a random loss of 1 %, a round trip of
// 100 ms and 30 frames a second, a tenth of the frames is late so, each time a pause in the
// picture. So where such stalls are frequent (stream_stalls.h) the jitter is a higher quantile:
// LATENCY_CONTROL_STREAM_PART.
//
// B frames: what their order delays them by (reorder_delay.h) is part of the jitter from the first
// moments on.
//
// Not thread-safe. Feed what happens, then call latency_control_steer.
#ifndef WEIR_STREAM_LATENCY_LATENCY_CONTROL_H
#define WEIR_STREAM_LATENCY_LATENCY_CONTROL_H

#include "common/base/decls.h"
#include "stream/latency/arrival_jitter.h"
#include "stream/latency/latency_budget.h"
#include "stream/latency/recent_loss.h"
#include "stream/latency/reorder_delay.h"
#include "stream/latency/speed_control.h"
#include "stream/latency/stream_stalls.h"
#include "stream/playout/playout.h"

DECLS_BEGIN

#define LATENCY_CONTROL_SETTLE      (3 * USEC_PER_SEC)
#define LATENCY_CONTROL_EARLY       (5 * USEC_PER_SEC)
#define LATENCY_CONTROL_INTERVAL    (100 * USEC_PER_MSEC) // between two turns of the clock
#define LATENCY_CONTROL_ASK_KEY     (3 * USEC_PER_SEC)    // between two wishes for a key frame
#define LATENCY_CONTROL_RAISE       (10 * USEC_PER_MSEC)
#define LATENCY_CONTROL_STEP        (30 * USEC_PER_MSEC)
#define LATENCY_CONTROL_ASTRAY      (400 * USEC_PER_MSEC)
#define LATENCY_CONTROL_SKIP        (300 * USEC_PER_MSEC)
#define LATENCY_CONTROL_LATE        (150 * USEC_PER_MSEC) // of a frame that others depend on
#define LATENCY_CONTROL_ROUNDS      64
#define LATENCY_CONTROL_STREAM_PART 0.95
#define LATENCY_CONTROL_AUDIO       (100 * USEC_PER_MSEC)

enum latency_mode { LATENCY_AUTO, LATENCY_FIXED, LATENCY_START, LATENCY_LOW };

struct latency_control_config {
    enum latency_mode mode;
    usec_t target; // FIXED: capture to shown
    usec_t start;  // media to begin with; FIXED, 0: the buffer's share of the target
};

struct live_arrival { // a frame became whole
    usec_t media;     // its time
    bool in_turn;     // no later frame became whole before
    usec_t encoder;   // QOE_UNKNOWN: not known
    usec_t transport;
};

struct latency_control {
    struct latency_control_config config;
    struct arrival_jitter jitter;
    struct reorder_delay reorder;
    struct recent_loss losses;
    struct stream_stalls stalls;
    bool is_stream;
    struct windowed_min encoder;
    struct windowed_min transport;
    struct windowed_min path; // both together
    double decoder;           // means, us
    double display;
    usec_t rtt;                  // 0: unknown
    usec_t repair;               // a round; 0: losses are not repaired
    struct windowed_min longest; // negated: the longest round
    usec_t audio;                // the least line for the audio; USEC_NEVER: none
    bool playing;
    bool settled;
    usec_t started;
    usec_t steered;
    usec_t asked_key; // USEC_NEVER: not yet
    usec_t start_lag;
    struct latency_parts parts;
    struct latency_shares shares;
    usec_t wait; // as steered to last
    struct speed_control speed;
};

const char *latency_mode_name(enum latency_mode mode); // "auto", "fixed", "start", "low"

void latency_control_init(struct latency_control *l, const struct latency_control_config *config,
                          usec_t now);
void latency_control_set_rtt(struct latency_control *l, usec_t rtt);
void latency_control_set_repair(struct latency_control *l, usec_t round);
// `is_stream`: the media arrives over a byte stream, which resends lost packets and keeps order.
void latency_control_set_stream(struct latency_control *l, bool is_stream);
// The audio needs a line of the clock, now - the media time due now, of so much; USEC_NEVER: none.
void latency_control_set_audio(struct latency_control *l, usec_t line);
// A packet of media arrived. `way`: its arrival minus the time at which it was written, on clocks
// that need not agree; QOE_UNKNOWN: not known.
void latency_control_packet(struct latency_control *l, int64_t ext_seq, usec_t way, usec_t now);
// Of frames that the playout buffer took.
void latency_control_arrived(struct latency_control *l, const struct live_arrival *a, usec_t now);
// `decoder`: decoding took; `behind`: shown so long after it was due.
void latency_control_shown(struct latency_control *l, usec_t decoder, usec_t behind);
void latency_control_started(struct latency_control *l, usec_t now); // PLAYOUT_START
void latency_control_paused(struct latency_control *l,
                            usec_t now); // by the viewer; a start follows

struct live_steer {
    double speed;
    usec_t skipped; // media left out; 0: none
    bool wants_key; // to skip to
};

// Sets speed and thresholds of the playout buffer, and postpones and skips in it, once a
// LATENCY_CONTROL_INTERVAL; false: it was not the time.
bool latency_control_steer(struct latency_control *l, struct playout *p, struct live_steer *out,
                           usec_t now);

// The whole way, from capture to shown, as it is aimed at now; 0: not known yet.
usec_t latency_control_target(const struct latency_control *l);
// How long after the best arrival a frame is due; 0: not known yet, or LATENCY_LOW.
usec_t latency_control_wait(const struct latency_control *l);
// How long a frame may wait at the sender.
usec_t latency_control_sender(const struct latency_control *l);

DECLS_END
#endif
