// SPDX-License-Identifier: GPL-2.0-or-later
// The account of freezes: how many and how long, by cause, and a list of the first QOE_MAX_LIST.
//
// The law it keeps. A gap is the time from a picture shown to the next new one, without the
// viewer's pauses (active_time.h). A gap longer than max(3 frame intervals, FREEZE_LEAST) is a
// freeze; all of the gap counts. The interval is that of the slower of the two pictures' levels. A
// stall lies in a gap, so it is a freeze, too, if the gap is that long.
//
// There is no gap before the first picture. A seek, and rebuffering by the player after a pause,
// end the gap and begin none. A gap that is open at the end of the session counts up to the end;
// at the end of the media only if frames or seconds were missing in it: else the last picture
// stands because it is the last.
//
// A freeze has one cause:
//   1. stalls took half of the gap or more: the cause of the longest of them
//   2. else what the caller knows of the frames between the two pictures (freeze_watch.h)
//   3. else that of a stall, if there was one
//   4. else FREEZE_DISPLAY: all frames were there, and the picture came late to the screen
// Pure.
#ifndef WEIR_STREAM_QOE_FREEZE_ACCOUNT_H
#define WEIR_STREAM_QOE_FREEZE_ACCOUNT_H

#include "common/base/usec.h"
#include "stream/qoe/active_time.h"
#include "stream/qoe/qoe_figures.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FREEZE_LEAST (150 * USEC_PER_MSEC)
enum { FREEZE_INTERVALS = 3 };

struct freeze_account { // all zero to begin with
    bool open;          // a gap: a picture was shown
    usec_t since;       // by the clock without pauses, as are the other times
    double at;          // seconds of the session
    usec_t interval;    // of the picture shown
    int64_t from;       // pictures of lower numbers are of the place before a seek

    // Of the open gap:
    bool known; // `why`
    enum freeze_cause why;
    usec_t stalled;
    usec_t longest;
    enum freeze_cause stall_cause; // of the longest
    bool stalls;                   // now
    usec_t stalled_since;
    enum freeze_cause stalls_by; // so far

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
    double at_seconds;     // of the session, for the list
    bool known;            // frames between the last picture and this one are missing
    enum freeze_cause why; // most of them
};

// Each of these returns the freeze that ended, NULL if none did. It lives until the next call.
const struct qoe_freeze_entry *freeze_account_shown(struct freeze_account *a,
                                                    const struct freeze_picture *p,
                                                    const struct active_time *clock, usec_t at);
// Pictures below number `from` do not count any more; 0: all do.
const struct qoe_freeze_entry *freeze_account_break(struct freeze_account *a, int64_t from,
                                                    const struct active_time *clock, usec_t at);
// `media`: it is the end of the media.
const struct qoe_freeze_entry *freeze_account_end(struct freeze_account *a, bool media,
                                                  const struct active_time *clock, usec_t at);

// Frames are missing since the last picture, most of them for this reason.
void freeze_account_missing(struct freeze_account *a, enum freeze_cause why);
// Frame numbers start again; the gap continues.
void freeze_account_renumber(struct freeze_account *a);
void freeze_account_stall_begin(struct freeze_account *a, enum stall_cause cause,
                                const struct active_time *clock, usec_t at);
void freeze_account_stall_end(struct freeze_account *a, enum stall_cause cause,
                              const struct active_time *clock, usec_t at);
// Puts all but the ratio into *out, an open freeze as if it ended at `at`.
void freeze_account_read(const struct freeze_account *a, struct qoe_freezes *out,
                         const struct active_time *clock, usec_t at);

#ifdef __cplusplus
}
#endif
#endif
