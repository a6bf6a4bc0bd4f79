// SPDX-License-Identifier: GPL-2.0-or-later
// What the sender's wall clock says when ours says t: t + offset. From request and answer as NTP
// does it (RFC 5905, section 8), the sender's two stamps being one: offset = answered - (asked +
// received) / 2, wrong by half the round trip at most. The sample of the least round trip is kept,
// but each ages: two clocks drift apart by up to CLOCK_SYNC_DRIFT_PPM, which adds to its error (RFC
// 5905, section 11.2, the dispersion), until a newer one is the better one. On one machine's clock
// the offset is 0, exactly.
#ifndef WEIR_STREAM_RECEIVE_CLOCK_SYNC_H
#define WEIR_STREAM_RECEIVE_CLOCK_SYNC_H

#include <stdbool.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CLOCK_SYNC_DRIFT_PPM = 200 };

struct clock_sync { // all zero to begin with; the first three are to be read
    bool known;
    bool shared;
    usec_t offset;    // sender's wall clock minus ours
    usec_t least_rtt; // of the sample kept; its half bounds the error
    usec_t taken;     // when it was, by our wall clock
};

// The SDP's x-weir-clock is of this machine (clock_is_ours).
void clock_sync_shared(struct clock_sync *c);
// A sample, in wall clocks. True when it is the best one so far.
bool clock_sync_sample(struct clock_sync *c, usec_t asked, usec_t answered, usec_t received);

#ifdef __cplusplus
}
#endif
#endif
