// SPDX-License-Identifier: GPL-2.0-or-later
// Why no new picture came, from the frames between two pictures (freeze_account.h counts the time).
//
// Of the frames that the level has between the two and that were not handed out to be shown, most
// have one root cause (frame_outcomes_root): it is the reason. Of equals the lower freeze_cause. If
// none is missing, but a foreign stream itself has a hole that long, nothing was sent.
//
// A foreign stream may have fewer pictures a second than its description says. Its interval is the
// shortest media time between two of the last FREEZE_WATCH_PACE pictures. Pure.
#ifndef WEIR_STREAM_QOE_FREEZE_WATCH_H
#define WEIR_STREAM_QOE_FREEZE_WATCH_H

#include "stream/outcome/frame_outcomes.h"
#include "stream/playout/playout.h"
#include "stream/qoe/qoe.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FREEZE_WATCH_PACE = 8 };

struct freeze_watch {
    const struct ladder *ladder; // borrowed, as are these
    const struct frame_outcomes *ledger;
    const struct playout *playout;
    int64_t last; // picture; -1: none
    usec_t last_pts;
    usec_t pace[FREEZE_WATCH_PACE]; // a ring of media times from picture to picture
    int paces;
};

void freeze_watch_init(struct freeze_watch *w, const struct ladder *ladder,
                       const struct frame_outcomes *ledger, const struct playout *playout);
// Picture `e->number` is shown: sets `interval`, `gap_known` and `gap` of *e.
void freeze_watch_shown(struct freeze_watch *w, struct qoe_shown *e);
// Why most of the frames from the last picture to before `end` are missing. Returns false if none
// is.
bool freeze_watch_missing(const struct freeze_watch *w, int64_t end, enum freeze_cause *why);
// A seek: the next picture does not follow the last one.
void freeze_watch_moved(struct freeze_watch *w);

#ifdef __cplusplus
}
#endif
#endif
