// SPDX-License-Identifier: GPL-2.0-or-later
// The client's stats as JSON lines: one per second,
//
//   {"t":S,"specs":[{"spec":TEXT,"bytes":of this second,"active":connections,"completed":N}]}
//
// and one at the end,
//
//   {"event":"end","t":S,"specs":[{"spec":,"bytes":,"completed":,"failed":,"flows":[bytes,...]}]}
//
// t: seconds since the epoch. All other values but the first line's bytes count since the start.
#ifndef WEIR_TRAFFIC_REPORT_H
#define WEIR_TRAFFIC_REPORT_H

#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct report_spec {
    const char *text; // borrowed
    int64_t bytes;    // total since the start
    int active;
    int64_t completed;
    int64_t failed;
    const int64_t *flows; // borrowed; bytes of each flow
    int flow_count;
};

struct report;

// Opens `path`, for `spec_count` specs. Returns NULL on failure (logged).
struct report *traffic_report_open(const char *path, int spec_count);
void traffic_report_second(struct report *r, const struct report_spec *specs, usec_t since_epoch);
void traffic_report_end(struct report *r, const struct report_spec *specs, usec_t since_epoch);
// Returns 0, or ERR_IO: lines are missing (logged). NULL is allowed.
int traffic_report_close(struct report *r);

DECLS_END
#endif
