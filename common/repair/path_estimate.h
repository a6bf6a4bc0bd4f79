// SPDX-License-Identifier: GPL-2.0-or-later
// What a sender knows of its path for decisions on repair (repair_policy.h), from round-trip
// samples:
//
//   rtt       smoothed as RFC 6298 does it, with its mean deviation
//   min_rtt   the least of the last 10 to 20 s: the path without queues
//   delay     min_rtt / 2: the clocks of both ends are not compared
//   jitter    rtt - min_rtt + 2 x deviation: all of it is taken for delay on the way forth
//
// Before the first sample, values of a path within a continent are assumed. Pure.
#ifndef WEIR_REPAIR_PATH_ESTIMATE_H
#define WEIR_REPAIR_PATH_ESTIMATE_H

#include "common/base/decls.h"
#include "common/base/windowed_min.h"
#include "common/repair/repair_policy.h"

DECLS_BEGIN

struct path_estimate {
    usec_t srtt, deviation; // 0: no sample yet
    struct windowed_min least;
};

void path_estimate_init(struct path_estimate *e);
// A round-trip sample > 0, without the viewer's delay. About once a frame.
void path_estimate_rtt(struct path_estimate *e, usec_t rtt, usec_t now);
// Fills in rtt, min_rtt, delay and jitter.
void path_estimate_fill(const struct path_estimate *e, struct repair_path *out);

DECLS_END
#endif
