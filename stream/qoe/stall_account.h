// SPDX-License-Identifier: GPL-2.0-or-later
// Counts stalls and their durations by cause, and lists the first QOE_MAX_LIST. Durations exclude
// the viewer's pauses (active_time.h). Pure.
#ifndef WEIR_STREAM_QOE_STALL_ACCOUNT_H
#define WEIR_STREAM_QOE_STALL_ACCOUNT_H

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "stream/qoe/active_time.h"
#include "stream/qoe/qoe_figures.h"

DECLS_BEGIN

struct stall_account { // all zero to begin with
    bool open;
    enum stall_cause cause; // cause of the open stall, as far as known
    usec_t since;           // begin of the open stall, in active time
    uint64_t count;
    struct qoe_stall_sum sums[STALL_CAUSES]; // without the open stall
    double total;                            // seconds, without the open stall
    struct qoe_stall_entry list[QOE_MAX_LIST];
};

// `at_seconds`: begin in seconds of the session, for the list. Ignored if a stall is open.
void stall_account_begin(struct stall_account *a, enum stall_cause cause, double at_seconds,
                         const struct active_time *clock, usec_t at);
// `cause` is final. Ignored if no stall is open.
void stall_account_end(struct stall_account *a, enum stall_cause cause,
                       const struct active_time *clock, usec_t at);
// Writes count, total, by_cause and the list to *out; an open stall counts as if it ended at `at`.
void stall_account_read(struct stall_account *a, struct qoe_stalls *out,
                        const struct active_time *clock, usec_t at);

DECLS_END
#endif
