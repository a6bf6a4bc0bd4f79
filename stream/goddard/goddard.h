// SPDX-License-Identifier: GPL-2.0-or-later
// The Goddard client's policy: which level to ask for, and how fast it shall come (Chung, Claypool,
// Kinicki: MTP: A Streaming-Friendly Transport Protocol, 2005, section III). What it asks for goes
// over RTSP: the level as a parameter, the speed as PLAY's Speed.
//
// The law it keeps, with the parameters of Figure 7:
//
//   PROBE        A pair of packets tells the path's capacity = bytes of the second / dispersion. No
//                pair within pkp_timeout_interval: ask again, GODDARD_TRIES times in all; then the
//                capacity is unknown and the lowest level is taken. The first level is the highest
//                with a bitrate below the capacity.
//   BUFFERING    Media comes at buf_factor x the bitrate. STREAMING at play_buf_thresh of media.
//   STREAMING    Media comes at its bitrate, and is played.
//   REBUFFERING  Playout ran out of frames: buffering again, at the highest level with a bitrate
//                below the throughput of the last loss_monitor_interval, never above the one that
//                ran out. That one is the limit on scaling up plus one.
//
//   Down   one level, when the loss since max(last decision, now - loss_monitor_interval) is above
//          downscale_frame_loss_rate and the last decision loss_monitor_interval ago; also while
//          buffering.
//   Up     one level, when STREAMING, the last decision is upscale_interval ago, the loss since
//          then is below upscale_frame_loss_rate, the next bitrate is not above the capacity, and
//          the level not above the limit.
//   Limit  one level more for each upscale_limit_time_factor x upscale_interval without scaling
//          down, counted from the rebuffering.
//
// A decision is the first level, rebuffering, and each level up or down. The paper scales by loss
// over transports that lose frames; over others only rebuffering changes the level. A frame that
// the sender left out is lost, too.
//
// Where no datagram passes (TCP alone) there is no pair. Instead the media begins at `start_level`
// at once, and the rate of its first 200 ms, or of some round trips, stands for the capacity
// (startup_rate.h). Only a level above the path's rate measures the path, so start with the
// highest; when the rate is above the start level's own, the path is faster than was asked for, and
// its capacity stays unknown.
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
// A frame is lost when a packet of a later one comes and it is not whole (frame_loss_counter.h). Do
// not wait for playout to miss them, which is a buffer later, nor for a later whole frame: on a
// path far too narrow none is whole. An action says all that is to be asked for; ask for what
// differs from the action before. The playout's two thresholds are params.play_buf_thresh, so that
// it begins when the policy says STREAMING. Events and switches of the report take
// goddard_reason_name.
//
// Pure, not thread-safe.
#ifndef WEIR_STREAM_GODDARD_GODDARD_H
#define WEIR_STREAM_GODDARD_GODDARD_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/level.h"
#include "common/base/usec.h"
#include "stream/goddard/goddard_params.h"
#include "stream/goddard/loss_window.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GODDARD_TRIES = 5 }; // waits for a pair, or for the first media

enum goddard_probe { GODDARD_BY_PAIR, GODDARD_BY_MEDIA };

enum goddard_state { GODDARD_PROBE, GODDARD_BUFFERING, GODDARD_STREAMING, GODDARD_REBUFFERING };

enum goddard_reason {
    GODDARD_WHY_PROBE,       // the capacity is asked for
    GODDARD_WHY_CAPACITY,    // it is known: the first level
    GODDARD_WHY_NO_CAPACITY, // it could not be measured: the first level
    GODDARD_WHY_BUFFERED,    // play_buf_thresh is reached
    GODDARD_WHY_LOSS,        // down
    GODDARD_WHY_UPSCALE,     // up
    GODDARD_WHY_REBUFFER,    // playout ran out of frames
    GODDARD_WHY_FLUSH,       // the buffer was emptied on purpose
};

struct goddard_config {
    const struct ladder *ladder;         // borrowed for the call; valid, with levels
    const struct goddard_params *params; // borrowed for the call; within their ranges
    enum goddard_probe probe;
    int start_level;   // by media: the level it begins at
    bool loses_frames; // the transport may: scale by loss
};

struct goddard_action {
    enum goddard_state state;
    enum goddard_reason reason;
    bool ask_pair; // two packets back to back, to measure the capacity
    int level;     // to ask for; -1: none yet, do not play
    int from;      // the level before; -1 none
    double speed;  // to ask for, times the media's own pace
};

// A pair of packets as it arrived, in the order it was sent.
struct goddard_pair {
    usec_t arrived[2];
    size_t bytes[2]; // with all headers of the network layer
};

struct goddard { // its fields are its own
    struct goddard_params params;
    enum goddard_probe probe;
    bool loses_frames;
    int level_count;
    int bitrates_bps[LADDER_MAX_LEVELS];
    enum goddard_state state;
    int level;           // -1 none
    int limit;           // the highest level that scaling up may reach
    int tries;           // waits begun
    double capacity_bps; // INFINITY = unknown
    usec_t tried_at;
    usec_t decided_at;
    usec_t limit_since; // set, relaxed or put off by scaling down
    usec_t paused_at;   // USEC_NEVER: not paused
    usec_t paused;      // total pause time; the policy's time stops meanwhile
    struct loss_window monitor;
    bool pending;
    struct goddard_action action;
};

void goddard_init(struct goddard *g, const struct goddard_config *config, usec_t now);

// Takes the new request. Returns false if there is none. Inputs without a poll between them replace
// it.
bool goddard_poll(struct goddard *g, struct goddard_action *out);
usec_t goddard_next_timeout(const struct goddard *g); // USEC_NEVER: only inputs matter
void goddard_on_timeout(struct goddard *g, usec_t now);

// A pair whose second packet came first says nothing: another is asked for, as when one is lost. A
// pair that comes when the probe was given up still tells the capacity.
void goddard_on_pair(struct goddard *g, const struct goddard_pair *pair, usec_t now);
// The server sends no pairs: the policy stops waiting for one.
void goddard_on_no_pair(struct goddard *g, usec_t now);
// Ignored after the probe, and when not positive.
void goddard_on_media_rate(struct goddard *g, double bps, usec_t now);
void goddard_on_frames(struct goddard *g, const struct goddard_frames *frames, usec_t now);
void goddard_on_buffer(struct goddard *g, usec_t held, usec_t now); // media time in the buffer
void goddard_on_empty(struct goddard *g, usec_t now);
void goddard_on_flush(struct goddard *g, usec_t now);
void goddard_on_pause(struct goddard *g, usec_t now); // these two are idempotent
void goddard_on_resume(struct goddard *g, usec_t now);

double goddard_capacity_bps(const struct goddard *g); // NaN = unknown
const char *goddard_state_name(enum goddard_state state);
const char *goddard_reason_name(enum goddard_reason reason);

#ifdef __cplusplus
}
#endif
#endif
