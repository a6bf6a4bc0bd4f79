// SPDX-License-Identifier: GPL-2.0-or-later
// What a viewer that knows the path's future could reach at most: an upper bound of the QoE of any
// session (abr_session.h), by dynamic programming over group, level, and the time at which the
// group has arrived.
//
// All groups are later by the stall time S, so group g must be whole by start + S + its end; it is
// not begun before the buffer has room with no stall at all. The start may take 1 s, or as long as
// a first group at the lowest level takes. Each of these can only make the optimum better than a
// real session's. Times are rounded down to 20 ms: the path seems to carry up to 20 ms a group more
// than it does, half of it on average, so with groups of 2 s the bound is that of a path .5 %
// faster. S is tried at intervals that double; between two of them the lower cost of the one and
// the better film of the other count. Pure.
#ifndef WEIR_ABR_ABR_OPTIMUM_H
#define WEIR_ABR_ABR_OPTIMUM_H

#include "common/base/decls.h"
#include "lab/abr/abr_session.h"

DECLS_BEGIN

struct abr_optimum {
    double qoe;           // the bound
    double stalled_s;     // S of the best film
    double min_stalled_s; // S at the lowest level throughout
};

// 0; ERR_NO_MEMORY.
int abr_optimum_find(const struct abr_film *film, const struct rate_trace *trace, usec_t rtt,
                     usec_t target, struct abr_optimum *out);

DECLS_END
#endif
