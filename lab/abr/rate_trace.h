// SPDX-License-Identifier: GPL-2.0-or-later
// The rate of a path over time, from a file; after its end it begins again. Two forms:
//
//   a line "SECONDS MBIT" for each change: from then on the path carries so many Mbit/s. Times
//   ascend from the first line's. The last rate holds as long as the one before it, or 1 s.
//   a line "MS" for each packet of 1500 bytes that may leave (Mahimahi); gathered to 100 ms
//
// Empty lines and those that begin with # are skipped. Pure.
#ifndef WEIR_ABR_RATE_TRACE_H
#define WEIR_ABR_RATE_TRACE_H

#include <stddef.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { RATE_TRACE_MAX = 1000000 }; // changes

struct rate_trace {
    int count;
    usec_t *at;    // owned; of each change, from 0; at[count] is the end
    double *bytes; // owned; that the path has carried by then; bytes[count] > 0
};

// 0; ERR_MALFORMED, with the line in *line; ERR_TOO_BIG; ERR_RANGE: the path carries nothing;
// ERR_NO_MEMORY.
int rate_trace_parse(const char *text, size_t len, struct rate_trace *out, int *line);
void rate_trace_destroy(struct rate_trace *t);
void rate_trace_scale(struct rate_trace *t, double factor);
double rate_trace_mean_bps(const struct rate_trace *t);
// Returns the bytes that the path can carry by `at` >= 0.
double rate_trace_bytes(const struct rate_trace *t, usec_t at);
// Returns the first time at which the path can have carried so many bytes.
usec_t rate_trace_time(const struct rate_trace *t, double bytes);

DECLS_END
#endif
