// SPDX-License-Identifier: GPL-2.0-or-later
// The Goddard client's policy: which level to request, and at which speed (Chung, Claypool,
// Kinicki: MTP: A Streaming-Friendly Transport Protocol, 2005, section III). Requests use RTSP: the
// level is a parameter, the speed is PLAY's Speed header.
//
// The law, with the parameters of Figure 7:
//
//   PROBE        A packet pair measures the path's capacity = bytes of the second packet /
//                dispersion. If no pair arrives within pkp_timeout_interval, request another,
//                GODDARD_TRIES times in total; then the capacity is unknown and the first level is
//                the lowest. Otherwise the first level is the highest one with a bitrate below the
//                capacity.
//   BUFFERING    Media arrives at buf_factor x the bitrate. STREAMING begins when play_buf_thresh
//                of media is buffered.
//   STREAMING    Media arrives at its bitrate, and is played.
//   REBUFFERING  Playout ran out of frames: buffers again, at the highest level with a bitrate
//                below the throughput of the last loss_monitor_interval, and not above the level
//                that ran out. The limit on scaling up becomes one level below the level that ran
//                out.
//
//   Down   one level, when the loss since max(last decision, now - loss_monitor_interval) is above
//          downscale_frame_loss_rate and the last decision is at least loss_monitor_interval ago;
//          also while buffering. At the lowest level this is a decision to stay there: the loss
//          before it does not count any more, or one outage would rule out scaling up for minutes.
//   Up     one level, when STREAMING, the last decision is at least upscale_interval ago, the loss
//          since then is below upscale_frame_loss_rate, the next level's bitrate is at most the
//          capacity, and the next level is at most the limit.
//   Limit  rises by one level for each upscale_limit_time_factor x upscale_interval without scaling
//          down, counted from the rebuffering.
//   Capacity  of packet pairs stays. One that the first media told (see below), or any with
//          plays_early, rises to the bitrate of the next level after the same time without scaling
//          down. If that level is too much, the next trial comes after twice the time, at most 8
//          times.
//
// The decisions are the first level, rebuffering, and each step up or down. A frame that the
// sender skipped counts as lost: its number is missing, over TCP, too, because a kernel's send
// buffer has an end and the scheduler drops frames that waited too long behind it. Only the paper's
// TCP, with an unlimited send buffer, loses no frame (loses_frames): only rebuffering lowers its
// level, and it never goes up (Figure 11).
//
// Without datagrams (TCP alone) there is no packet pair. Instead the media starts at `start_level`
// at once, and the rate of its first 200 ms, or of a few round trips, is taken as the capacity
// (startup_rate.h). Only a level above the path's rate measures the path, so start with the highest
// level. If the measured rate is above the start level's bitrate, the path is faster than the media
// and its capacity stays unknown.
//
// How a session drives it (goddard_inputs.h makes the inputs from the session's events):
// goddard_init when the ladder and the transport are known, before PLAY, then goddard_poll until
// false, and so after every input:
//   the pair came (kernel's arrival times)      goddard_on_pair
//   the server refuses pairs                    goddard_on_no_pair
//   the rate of the first media is known        goddard_on_media_rate
//   a frame is whole, or is lost                goddard_on_frames; then goddard_on_buffer with
//                                               playout_held
//   PLAYOUT_STALL_BEGIN                         goddard_on_empty
//   seek                                        goddard_on_flush
//   pause and resume                            goddard_on_pause, goddard_on_resume
//   goddard_next_timeout is reached             goddard_on_timeout
// A frame is lost if it is not whole when a packet of a later frame arrives (frame_loss_counter.h).
// Do not wait for playout to miss it, which is one buffer later, nor for a later whole frame: on a
// path far too narrow no frame becomes whole. An action states the complete request; send only what
// differs from the previous action. Both thresholds of playout are params.play_buf_thresh, so that
// playing begins when the policy enters STREAMING. Events and switches in the report use
// goddard_reason_name.
//
// Pure, not thread-safe.
#ifndef WEIR_STREAM_GODDARD_GODDARD_H
#define WEIR_STREAM_GODDARD_GODDARD_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/base/usec.h"
#include "stream/goddard/goddard_params.h"
#include "stream/goddard/loss_window.h"

DECLS_BEGIN

enum { GODDARD_TRIES = 5 }; // waits for a pair, or for the first media

enum goddard_probe { GODDARD_BY_PAIR, GODDARD_BY_MEDIA };

enum goddard_state { GODDARD_PROBE, GODDARD_BUFFERING, GODDARD_STREAMING, GODDARD_REBUFFERING };

enum goddard_reason {
    GODDARD_WHY_PROBE,       // the capacity is being measured
    GODDARD_WHY_CAPACITY,    // first level: the capacity is known
    GODDARD_WHY_NO_CAPACITY, // first level: the capacity could not be measured
    GODDARD_WHY_BUFFERED,    // play_buf_thresh is reached
    GODDARD_WHY_LOSS,        // one level down, because of loss
    GODDARD_WHY_UPSCALE,     // one level up
    GODDARD_WHY_REBUFFER,    // playout ran out of frames
    GODDARD_WHY_FLUSH,       // the buffer was emptied on purpose
};

struct goddard_config {
    const struct ladder *ladder;         // borrowed for the call; valid, with levels
    const struct goddard_params *params; // borrowed for the call; within their ranges
    enum goddard_probe probe;
    int start_level;   // GODDARD_BY_MEDIA: level at which the media starts
    bool loses_frames; // frames may be lost, so scale by loss
    // Playing begins before play_buf_thresh of media is buffered, so that playout may run out of
    // frames while the buffer fills.
    bool plays_early;
};

struct goddard_action {
    enum goddard_state state;
    enum goddard_reason reason;
    bool ask_pair; // two packets back to back, to measure the capacity
    int level;     // level to request; -1: none yet, do not play
    int from;      // previous level; -1: none
    double speed;  // speed to request, as a multiple of real time
};

// A pair of packets as it arrived, in the order it was sent.
struct goddard_pair {
    usec_t arrived[2];
    size_t bytes[2]; // with all headers of the network layer
};

struct goddard { // only goddard.c uses the fields
    struct goddard_params params;
    enum goddard_probe probe;
    bool loses_frames;
    bool plays_early;
    int level_count;
    int bitrates_bps[LADDER_MAX_LEVELS];
    enum goddard_state state;
    int level;             // -1 none
    int limit;             // highest level that scaling up may reach
    int tries;             // number of waits for a pair or for media so far
    double capacity_bps;   // INFINITY = unknown
    usec_t capacity_since; // time at which it was measured or raised, or scaling down postponed it
    int patience;          // multiple of the usual wait for it to be raised
    int tried;             // level for which it was raised last; -1: none, or that failed
    usec_t tried_at;
    usec_t decided_at;
    usec_t limit_since; // time at which the limit was set or raised, or scaling down postponed it
    usec_t paused_at;   // USEC_NEVER: not paused
    usec_t paused;      // total pause time; the policy's time stops during pauses
    struct loss_window monitor;
    bool pending;
    struct goddard_action action;
};

void goddard_init(struct goddard *g, const struct goddard_config *config, usec_t now);

// Fetches the new action. Returns false if there is none. A later input replaces an action that was
// not fetched.
bool goddard_poll(struct goddard *g, struct goddard_action *out);
usec_t goddard_next_timeout(const struct goddard *g); // USEC_NEVER: only inputs matter
void goddard_on_timeout(struct goddard *g, usec_t now);

// If the second packet of a pair arrives first, the pair is useless and another is requested, as
// after a loss. A pair that arrives after the probe has ended still sets the capacity.
void goddard_on_pair(struct goddard *g, const struct goddard_pair *pair, usec_t now);
// The server sends no pairs: the policy stops waiting for one.
void goddard_on_no_pair(struct goddard *g, usec_t now);
// Ignored after the probe, and when not positive.
void goddard_on_media_rate(struct goddard *g, double bps, usec_t now);
void goddard_on_frames(struct goddard *g, const struct goddard_frames *frames, usec_t now);
void goddard_on_buffer(struct goddard *g, usec_t held, usec_t now); // media time in the buffer
void goddard_on_empty(struct goddard *g, usec_t now);
void goddard_on_flush(struct goddard *g, usec_t now);
void goddard_on_pause(struct goddard *g, usec_t now); // calling pause or resume twice is harmless
void goddard_on_resume(struct goddard *g, usec_t now);

double goddard_capacity_bps(const struct goddard *g); // NaN = unknown
const char *goddard_state_name(enum goddard_state state);
const char *goddard_reason_name(enum goddard_reason reason);

DECLS_END
#endif
