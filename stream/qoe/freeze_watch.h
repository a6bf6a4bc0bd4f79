// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the cause of a freeze from the frames between two pictures (freeze_account.h measures its
// duration).
//
// The cause is the most frequent root cause (frame_outcomes_root) among the level's frames between
// the two pictures that were not released for display; of equally frequent causes, the lower
// freeze_cause. If no frame is missing, but a third party's stream itself has a gap that long, the
// cause is FREEZE_SENDER.
//
// A third party's stream may have a lower frame rate than its description says. Its frame interval
// is the shortest media time between consecutive pictures among the last FREEZE_WATCH_PACE. Pure.
#ifndef WEIR_STREAM_QOE_FREEZE_WATCH_H
#define WEIR_STREAM_QOE_FREEZE_WATCH_H

#include "common/base/decls.h"
#include "common/base/lateness.h"
#include "stream/outcome/frame_outcomes.h"
#include "stream/playout/playout.h"
#include "stream/qoe/qoe.h"

DECLS_BEGIN

enum { FREEZE_WATCH_PACE = 8 };

struct freeze_watch {
    const struct ladder *ladder; // borrowed, like the next three
    const struct frame_outcomes *ledger;
    const struct playout *playout;
    const struct lateness *own;
    int64_t last; // number of the last picture; -1: none
    usec_t last_pts;
    usec_t pace[FREEZE_WATCH_PACE]; // ring of the media times from picture to picture
    int paces;
};

void freeze_watch_init(struct freeze_watch *w, const struct ladder *ladder,
                       const struct frame_outcomes *ledger, const struct playout *playout,
                       const struct lateness *own);
// Picture `e->number` is shown. Sets `interval`, `gap_known` and `gap` of *e.
void freeze_watch_shown(struct freeze_watch *w, struct qoe_shown *e);
// Writes why most of the frames after the last picture and before `end` are missing. Returns false
// if none is missing.
bool freeze_watch_missing(const struct freeze_watch *w, int64_t end, enum freeze_cause *why);
// A seek happened: the next picture does not follow the last one.
void freeze_watch_moved(struct freeze_watch *w);

DECLS_END
#endif
