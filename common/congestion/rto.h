// SPDX-License-Identifier: GPL-2.0-or-later
// Round-trip time and retransmission timeout, RFC 6298.
//
//   The law: first sample R: SRTT = R, RTTVAR = R/2; then RTTVAR = 3/4 RTTVAR + 1/4 |SRTT - R|,
//   SRTT = 7/8 SRTT + 1/8 R; RTO = min(60 s, max(`min`, SRTT + max(`slack`, 4 RTTVAR))), 1 s before
//   the first sample; doubled at each expiry (5.5), back to the computed value with the next
//   sample. Doubling ends at `max`; a computed RTO above `max` is used undoubled.
//
// `slack` is RFC 6298's G, the granularity of the clock. Without it, where round trips hardly vary,
// the RTO is one round trip, and expires while the answer to a packet that left a moment later is
// on its way. `min` prevents that on paths that are shorter than it; Linux has 200 ms of slack on
// all paths (tcp_rto_min).
//
// RFC 6298, 2.5 requires `max` to be at least 60 s. Live media cannot wait so long: the sender
// notices that a path works again only after up to one RTO, and the media of that time is lost.
// Linux bounds its RTO for the same reason (tcp_rto_max_ms).
#ifndef WEIR_CONGESTION_RTO_H
#define WEIR_CONGESTION_RTO_H

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { RTO_MAX_LIVE = 2000000 }; // us; `max` for live media

struct rto {
    usec_t min;    // lower bound; RFC 6298, 2.4 says 1 s
    usec_t max;    // upper bound of a doubled RTO
    usec_t slack;  // lower bound of 4 RTTVAR; rto_init() sets 0
    usec_t srtt;   // 0: no sample yet
    usec_t latest; // latest sample; 0: none
    usec_t rttvar;
    int backoff; // expiries since the last sample
};

// `max`: 0 for the 60 s of RFC 6298.
void rto_init(struct rto *r, usec_t min, usec_t max);
// Rtt > 0; 0 and less count as 1 us.
void rto_sample(struct rto *r, usec_t rtt);
void rto_expired(struct rto *r);
usec_t rto_value(const struct rto *r);

DECLS_END
#endif
