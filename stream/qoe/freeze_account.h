// SPDX-License-Identifier: GPL-2.0-or-later
// Counts freezes and their durations by cause, and lists the first QOE_MAX_LIST.
//
// The law. A gap is the time from one shown picture to the next new one, without the viewer's
// pauses (active_time.h). A gap longer than max(3 frame intervals, FREEZE_LEAST) is a freeze, whose
// duration is the whole gap. The frame interval is the longer one of the two pictures. A stall lies
// within a gap, so it is also a freeze if the gap is long enough.
//
// A picture that is shown before it is due, as the first one after a change that the viewer asked
// for, stays until the next one is due: its gap begins when it is due.
//
// There is no gap before the first picture. A seek ends the gap and begins none; so does
// rebuffering after a pause. A gap that is open at the end of the session counts up to the end. At
// the end of the media it counts only if frames are missing or playing stalled in it; otherwise the
// last picture remains because it is the last.
//
// A freeze has one cause:
//   1. if stalls took at least half of the gap: the cause of the longest stall
//   2. else the cause that the caller found for the frames between the two pictures
//      (freeze_watch.h)
//   3. else the cause of the longest stall, if there was one
//   4. else FREEZE_DISPLAY: all frames arrived, and the picture reached the screen late
// Pure.
#ifndef WEIR_STREAM_QOE_FREEZE_ACCOUNT_H
#define WEIR_STREAM_QOE_FREEZE_ACCOUNT_H

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "stream/qoe/active_time.h"
#include "stream/qoe/qoe_figures.h"

DECLS_BEGIN

#define FREEZE_LEAST (150 * USEC_PER_MSEC)
enum { FREEZE_INTERVALS = 3 };

struct freeze_account { // all zero to begin with
    bool open;          // a gap is open: a picture was shown
    usec_t since;       // begin of the gap; all times here are in active time (active_time.h)
    double at;          // begin of the gap, in seconds of the session
    usec_t interval;    // frame interval of the last picture
    int64_t from;       // pictures with lower numbers are from before a seek

    // Of the open gap:
    bool known; // `why` is set
    enum freeze_cause why;
    usec_t stalled;
    usec_t longest;
    enum freeze_cause stall_cause; // cause of the longest stall
    bool stalls;                   // a stall is open
    usec_t stalled_since;
    enum freeze_cause stalls_by; // cause of the open stall, as far as known

    uint64_t count;
    double total; // seconds
    double max;
    struct qoe_stall_sum sums[FREEZE_CAUSES];
    struct qoe_freeze_entry list[QOE_MAX_LIST];
    struct qoe_freeze_entry last; // the newest, listed or not
};

struct freeze_picture {
    int64_t number;
    usec_t interval;
    usec_t early;          // it was shown so long before it is due; 0: it was not
    double at_seconds;     // seconds of the session, for the list
    bool known;            // frames between the last picture and this one are missing
    enum freeze_cause why; // cause of most of the missing frames
};

// Each of these functions returns the freeze that ended; NULL: none. It is valid until the next
// call.
const struct qoe_freeze_entry *freeze_account_shown(struct freeze_account *a,
                                                    const struct freeze_picture *p,
                                                    const struct active_time *clock, usec_t at);
// Ends the gap. Pictures with numbers below `from` are ignored from then on; 0: none is ignored.
const struct qoe_freeze_entry *freeze_account_break(struct freeze_account *a, int64_t from,
                                                    const struct active_time *clock, usec_t at);
// `media`: the media ended, not only the session.
const struct qoe_freeze_entry *freeze_account_end(struct freeze_account *a, bool media,
                                                  const struct active_time *clock, usec_t at);

// Frames are missing since the last picture; `why` is the cause of most of them.
void freeze_account_missing(struct freeze_account *a, enum freeze_cause why);
// Frame numbers restart; the gap continues.
void freeze_account_renumber(struct freeze_account *a);
void freeze_account_stall_begin(struct freeze_account *a, enum stall_cause cause,
                                const struct active_time *clock, usec_t at);
void freeze_account_stall_end(struct freeze_account *a, enum stall_cause cause,
                              const struct active_time *clock, usec_t at);
// Writes all fields but the ratio to *out; an open freeze counts as if it ended at `at`.
void freeze_account_read(const struct freeze_account *a, struct qoe_freezes *out,
                         const struct active_time *clock, usec_t at);

DECLS_END
#endif
