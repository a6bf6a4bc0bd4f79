// SPDX-License-Identifier: GPL-2.0-or-later
// Estimates the sender's wall clock: it shows t + offset when ours shows t. The estimate uses a
// request and its response as NTP does (RFC 5905, section 8), with a single time stamp of the
// sender: offset = answered - (asked + received) / 2. Its error is at most half the round trip. The
// sample with the smallest round trip is kept. As two clocks drift apart by up to
// CLOCK_SYNC_DRIFT_PPM, the error bound of a sample grows with its age (the dispersion, RFC 5905,
// section 11.2), until a newer sample has a smaller one. If both ends use one machine's clock, the
// offset is exactly 0.
#ifndef WEIR_STREAM_RECEIVE_CLOCK_SYNC_H
#define WEIR_STREAM_RECEIVE_CLOCK_SYNC_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { CLOCK_SYNC_DRIFT_PPM = 200 };

struct clock_sync { // all zero at first; callers may read the first three fields
    bool known;
    bool shared;
    usec_t offset;    // sender's wall clock minus ours
    usec_t least_rtt; // round trip of the kept sample; half of it bounds the error
    usec_t taken;     // time of the kept sample, by our wall clock
};

// The SDP's x-weir-clock names this machine's clock (clock_is_ours).
void clock_sync_shared(struct clock_sync *c);
// Adds a sample. `asked` and `received` are by our wall clock, `answered` by the sender's. Returns
// true if it is the best sample so far.
bool clock_sync_sample(struct clock_sync *c, usec_t asked, usec_t answered, usec_t received);

DECLS_END
#endif
