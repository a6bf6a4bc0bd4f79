// SPDX-License-Identifier: GPL-2.0-or-later
// Tells the figures, the account of causes and the trace what becomes of each frame: it came; it
// was shown, or was not; it was left out. The trace has one line a frame, when its fate is known,
// with what was noted when it came.
//
// Bound: FRAME_REPORTER_NOTES frames whose arrival is remembered; of older ones the trace lacks it.
#ifndef WEIR_PLAYER_VIDEO_FRAME_REPORTER_H
#define WEIR_PLAYER_VIDEO_FRAME_REPORTER_H

#include "player/report/trace.h"
#include "player/video/play_frame.h"
#include "stream/latency/latency_control.h"
#include "stream/outcome/frame_outcomes.h"
#include "stream/playout/playout.h"
#include "stream/qoe/freeze_watch.h"
#include "stream/qoe/qoe.h"
#include "stream/receive/clock_sync.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FRAME_REPORTER_NOTES = 1024 }; // a power of two

struct frame_reporter_config { // all borrowed
    const struct ladder *ladder;
    const struct clock_sync *clock;
    const struct playout *playout;
    struct frame_outcomes *ledger;
    struct qoe *qoe;
    struct trace *events; // may be NULL
    bool live;            // media that does not wait while the connection is lost
};

struct frame_note {
    int64_t number; // -1: empty
    int64_t bytes;
    usec_t arrived;
    usec_t encoder, transport;
    int level;
};

struct frame_reporter {
    struct frame_reporter_config config;
    int64_t passed; // everything below was handed out or passed over; -1: not known
    struct freeze_watch freezes;
    int64_t first; // of this connection's media, while no picture of it was shown; -1: none
    struct qoe_media_edge newest; // the last picture
    int64_t newest_number;        // -1: none
    usec_t newest_waited;         // here, from its last packet to the screen
    struct frame_note notes[FRAME_REPORTER_NOTES];
};

void frame_reporter_init(struct frame_reporter *t, const struct frame_reporter_config *config);

// The level that a frame says it is of, if that can be; else the one that playout is at there.
int frame_reporter_level(const struct frame_reporter *t, const struct received_frame *f);

// `wall_ahead`: our wall clock minus the clock of `now`, for latencies from the sender's stamps.
struct live_arrival frame_reporter_arrived(struct frame_reporter *t, const struct received_frame *f,
                                           usec_t wall_ahead, usec_t now);
void frame_reporter_shown(struct frame_reporter *t, const struct play_frame *f, usec_t wall_ahead,
                          usec_t now);
void frame_reporter_not_shown(struct frame_reporter *t, int64_t number, enum frame_end end,
                              usec_t now);
void frame_reporter_skipped(struct frame_reporter *t, int64_t number, usec_t now); // to catch up

// Before what an action of playout's is done: the frames that it goes past without a word were left
// out.
void frame_reporter_action(struct frame_reporter *t, const struct playout_action *a, usec_t now);
void frame_reporter_moved(struct frame_reporter *t); // a seek: they are not
// Nothing more of this connection is told, but what becomes of the frames that are under way.
void frame_reporter_stop(struct frame_reporter *t);

#ifdef __cplusplus
}
#endif
#endif
