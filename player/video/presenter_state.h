// SPDX-License-Identifier: GPL-2.0-or-later
// What the files presenter*.c share; nobody else includes it. presenter.c: life, what the viewer
// does, questions; presenter_frames.c: the way of the frames.
#ifndef WEIR_PLAYER_VIDEO_PRESENTER_STATE_H
#define WEIR_PLAYER_VIDEO_PRESENTER_STATE_H

#include "common/net/timer.h"
#include "player/video/decode_feed.h"
#include "player/video/frame_reporter.h"
#include "player/video/live_control.h"
#include "player/video/presenter.h"
#include "player/video/stall_reporter.h"

#ifdef __cplusplus
extern "C" {
#endif

struct presenter {
    struct presenter_config config;
    struct reference_tracker *tracker; // owned, as are these
    struct playout *playout;
    struct frame_outcomes *ledger;
    struct timer *timer;
    struct picture *last_shown;
    int last_level; // of the last frame shown; -1 none yet
    int arriving_level;
    int64_t arrived; // the newest frame; -1 none yet
    struct frame_reporter frames;
    struct stall_reporter stalls;
    struct decode_feed feed; // its decoder is owned
    struct live_control live;
    usec_t rtt;
    bool last_frames; // presenter_end was called
    bool ending;      // PLAYOUT_ENDED_ACTION came; waiting for the last reports
    bool ended;       // on_ended was called
    bool stopped;
};

void presenter_act(struct presenter *p, const struct playout_action *a, usec_t now);
// Does all that playout has to be done now.
void presenter_run(struct presenter *p, usec_t now);
void presenter_tell_clock(struct presenter *p);

#ifdef __cplusplus
}
#endif
#endif
