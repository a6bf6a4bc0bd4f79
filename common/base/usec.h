// SPDX-License-Identifier: GPL-2.0-or-later
// Time: microseconds in a signed 64-bit integer. Durations and instants share the type. Instants
// are of the monotonic clock unless a name says `wall` (microseconds since 1970-01-01 UTC). Only
// common/net reads a clock; everywhere else time is an argument, the last one, called `now`.
#ifndef WEIR_BASE_USEC_H
#define WEIR_BASE_USEC_H

#include <stdint.h>

typedef int64_t usec_t;

#define USEC_NEVER    INT64_MAX
#define USEC_PER_SEC  ((usec_t)1000000)
#define USEC_PER_MSEC ((usec_t)1000)

static inline double usec_to_sec(usec_t t)
{
    return (double)t / 1e6;
}

static inline double usec_to_msec(usec_t t)
{
    return (double)t / 1e3;
}

static inline usec_t usec_min(usec_t a, usec_t b)
{
    return a < b ? a : b;
}

static inline usec_t usec_max(usec_t a, usec_t b)
{
    return a > b ? a : b;
}

// Returns the duration of `count` frames at `num`/`den` frames per second: exact, without drift,
// rounded down.
static inline usec_t usec_of_frames(int64_t count, int num, int den)
{
    return count * USEC_PER_SEC * den / num;
}

#endif
