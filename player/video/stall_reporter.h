// SPDX-License-Identifier: GPL-2.0-or-later
// Tells the figures and the trace of stalls: when, and why as far as it is known (stall_watch.h).
#ifndef WEIR_PLAYER_VIDEO_STALL_REPORTER_H
#define WEIR_PLAYER_VIDEO_STALL_REPORTER_H

#include "player/report/trace.h"
#include "stream/outcome/frame_outcomes.h"
#include "stream/outcome/stall_classifier.h"
#include "stream/qoe/qoe.h"

#ifdef __cplusplus
extern "C" {
#endif

struct stall_reporter {
    struct stall_classifier watch;       // fed by the owner
    const struct frame_outcomes *ledger; // borrowed, as are these
    struct qoe *qoe;
    struct trace *events; // may be NULL
    int64_t awaited;      // when the stall began; -1: none did
};

// `interval`: of the frames, at the lowest level.
void stall_reporter_init(struct stall_reporter *t, const struct frame_outcomes *ledger,
                         struct qoe *qoe, struct trace *events, usec_t interval);
// Frame `awaited` is waited for since `at`.
void stall_reporter_begin(struct stall_reporter *t, int64_t awaited, usec_t at, usec_t now);
// Playing goes on after so long.
void stall_reporter_end(struct stall_reporter *t, usec_t stalled, usec_t at);
// The viewing ends within the stall: for the figures alone.
void stall_reporter_stop(struct stall_reporter *t, usec_t at);

#ifdef __cplusplus
}
#endif
#endif
