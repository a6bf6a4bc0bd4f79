// SPDX-License-Identifier: GPL-2.0-or-later
// The speed of a bottleneck: a constant rate, a schedule of rates, or a packet-delivery trace in
// Mahimahi's format. A trace has one line per opportunity to deliver 1500 bytes: its time in whole
// milliseconds from the trace's start; times never fall. The trace repeats when it ends; its length
// is its last time.
#ifndef WEIR_LINK_RATE_H
#define WEIR_LINK_RATE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum {
    RATE_STEPS_MAX = 64,
    TRACE_OPPORTUNITY_BYTES = 1500,
    TRACE_LINES_MAX = 10 * 1000 * 1000,
};

struct rate_step {
    usec_t at;  // since the link's start; the first is at 0, then ascending
    double bps; // 0: an outage
};

struct rate_schedule {
    int count; // >= 1
    struct rate_step steps[RATE_STEPS_MAX];
    usec_t loop; // repeats after this time, > last `at`; 0: the last rate stays
};

// Returns the rate at `t` since the start, and when it changes next (USEC_NEVER: never).
double rate_schedule_at(const struct rate_schedule *s, usec_t t, usec_t *until);

struct trace {
    uint32_t *at_ms; // owned
    size_t count;
    uint32_t length_ms; // > 0
};

// Returns 0; ERR_MALFORMED (*line, from 1, is the line: not a number below 2^32, falling, or a
// trace of length 0 or without lines); ERR_TOO_BIG; ERR_NO_MEMORY. Empty lines and lines that begin
// with # are skipped.
int trace_parse(struct trace *t, const char *text, size_t len, size_t *line);
void trace_destroy(struct trace *t);
double trace_mean_bps(const struct trace *t);
// Opportunities are counted from 0 over all rounds of the trace. Return the first one at or after
// `from` (>= 0, since the start), O(log count); and the time of an opportunity since the start.
uint64_t trace_first_from(const struct trace *t, usec_t from);
usec_t trace_at(const struct trace *t, uint64_t opportunity);

DECLS_END
#endif
