// SPDX-License-Identifier: GPL-2.0-or-later
// The pace of live media in a session: what the options make of it, and what report, trace and log
// are told. Stored media has nobody waiting, synthetic media is played as its experiment has it,
// low latency has no buffer to steer, and Goddard's is his own: there nothing is done.
#ifndef WEIR_PLAYER_VIDEO_LIVE_CONTROL_H
#define WEIR_PLAYER_VIDEO_LIVE_CONTROL_H

#include "common/wire/sdp.h"
#include "player/options/play_options.h"
#include "player/report/trace.h"
#include "stream/latency/latency_control.h"
#include "stream/qoe/qoe.h"

#ifdef __cplusplus
extern "C" {
#endif

struct live_control {
    struct latency_control pace; // to be fed, whether it steers or not
    bool steers;
    double told_speed;
    bool told_short;          // the target cannot be kept
    usec_t untargeted_sender; // its share without a target
    struct qoe *qoe;          // borrowed
    struct trace *events;     // borrowed; may be NULL
};

void live_control_init(struct live_control *c, const struct play_options *options,
                       const struct sdp *sdp, struct qoe *qoe, struct trace *events);
// Steers the playout buffer if it is time to. True: a key frame is wanted.
bool live_control_steer(struct live_control *c, struct playout *p, usec_t now);

double live_control_speed(const struct live_control *c); // of playing, against the sender's
// With a target: how old a frame may be when it leaves the sender; else 0.
usec_t live_control_sender(const struct live_control *c);

#ifdef __cplusplus
}
#endif
#endif
