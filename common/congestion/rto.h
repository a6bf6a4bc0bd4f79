// SPDX-License-Identifier: GPL-2.0-or-later
// Round-trip time and retransmission timeout, RFC 6298.
//
//   The law: first sample R: SRTT = R, RTTVAR = R/2; then RTTVAR = 3/4 RTTVAR + 1/4 |SRTT - R|,
//   SRTT = 7/8 SRTT + 1/8 R; RTO = min(60 s, max(`least`, SRTT + 4 RTTVAR)), 1 s before the first
//   sample; doubled at each expiry (5.5), back to the computed one with the next sample.
//   Doubling ends at `most`; a computed RTO beyond it stays as it is, not doubled.
//
// RFC 6298, 2.5 wants `most` to be 60 s at least. Live media cannot wait for so long: a path that
// returns is found after up to one RTO, and what was to be seen meanwhile is lost. Linux bounds it
// for the same reason (tcp_rto_max_ms).
#ifndef WEIR_CONGESTION_RTO_H
#define WEIR_CONGESTION_RTO_H

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RTO_MOST_LIVE = 2000000 }; // us; `most` for live media

struct rto {
    usec_t least;  // RFC 6298 says 1 s (2.4)
    usec_t most;   // of a doubled one
    usec_t srtt;   // 0: no sample yet
    usec_t latest; // sample; 0: none
    usec_t rttvar;
    int backoff; // expiries since the last sample
};

// `most`: 0 for RFC 6298's 60 s.
void rto_init(struct rto *r, usec_t least, usec_t most);
void rto_sample(struct rto *r, usec_t rtt); // rtt > 0; smaller ones count as 1 us
void rto_expired(struct rto *r);
usec_t rto_value(const struct rto *r);

#ifdef __cplusplus
}
#endif
#endif
