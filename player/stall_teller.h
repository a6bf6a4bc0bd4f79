// SPDX-License-Identifier: GPL-2.0-or-later
// Tells the figures and the trace of stalls: when, and why as far as it is known (stall_watch.h).
#ifndef WEIR_PLAYER_STALL_TELLER_H
#define WEIR_PLAYER_STALL_TELLER_H

#include "player/events.h"
#include "player/frame_ledger.h"
#include "player/qoe.h"
#include "player/stall_watch.h"

#ifdef __cplusplus
extern "C" {
#endif

struct stall_teller {
    struct stall_watch watch;          // fed by the owner
    const struct frame_ledger *ledger; // borrowed, as are these
    struct qoe *qoe;
    struct events *events; // may be NULL
    int64_t awaited;       // when the stall began; -1: none did
};

// `interval`: of the frames, at the lowest level.
void stall_teller_init(struct stall_teller *t, const struct frame_ledger *ledger, struct qoe *qoe,
                       struct events *events, usec_t interval);
// Frame `awaited` is waited for since `at`.
void stall_teller_begin(struct stall_teller *t, int64_t awaited, usec_t at, usec_t now);
// Playing goes on after so long.
void stall_teller_end(struct stall_teller *t, usec_t stalled, usec_t at);
// The viewing ends within the stall: for the figures alone.
void stall_teller_stop(struct stall_teller *t, usec_t at);

#ifdef __cplusplus
}
#endif
#endif
