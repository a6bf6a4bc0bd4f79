// SPDX-License-Identifier: GPL-2.0-or-later
// What a path carries, from all that a server sends at once when a film begins.
//
//   The law. The burst is short: a window that still grows shapes it, and a token bucket may let
//   its first part pass faster than what follows. So the rate is that of the fastest stretch of
//   FIRST_BURST_TIME and FIRST_BURST_BYTES at least in its second half. A stretch begins behind
//   what was read at one time, as packets are read late together. Without such a stretch, the rate
//   of the whole, which takes a round trip at least.
//   A burst that takes more than FIRST_BURST_ROUNDS round trips and FIRST_BURST_LONG is as slow as
//   the path: then the rate is that of the whole.
//
// Pure.
#ifndef WEIR_STREAM_ABR_FIRST_BURST_H
#define WEIR_STREAM_ABR_FIRST_BURST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define FIRST_BURST_TIME (20 * USEC_PER_MSEC)
#define FIRST_BURST_LONG (100 * USEC_PER_MSEC)
enum { FIRST_BURST_BYTES = 4500, FIRST_BURST_ROUNDS = 4, FIRST_BURST_MARKS = 256 };

struct first_burst { // all zero at first; only first_burst.c uses the fields
    int count;
    struct burst_mark {
        usec_t at;
        int64_t bytes; // that arrived up to then
    } marks[FIRST_BURST_MARKS];
};

void first_burst_add(struct first_burst *b, size_t bytes, usec_t now);
// How long the burst has taken; 0: nothing arrived.
usec_t first_burst_duration(const struct first_burst *b, usec_t now);
// Returns true if the path, not the sender's window, made it that long.
bool first_burst_is_long(const struct first_burst *b, usec_t rtt, usec_t now);
// bit/s; 0: too little arrived.
double first_burst_bps(const struct first_burst *b, usec_t rtt, usec_t now);

DECLS_END
#endif
