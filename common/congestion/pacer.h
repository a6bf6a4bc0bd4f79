// SPDX-License-Identifier: GPL-2.0-or-later
// Spaces packets at a rate.
//
//   The law: in any interval of length T at most  burst + rate * T  bytes leave (plus or minus one
//   packet), and a sender that always has data to send gets  rate.  (A token bucket: Turner 1986.)
#ifndef WEIR_CONGESTION_PACER_H
#define WEIR_CONGESTION_PACER_H

#include <stddef.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct pacer {
    double rate_bps;    // bits per second, > 0
    double burst_bytes; // > 0; at least one packet
    double tokens;      // bytes that may leave now; negative after a packet larger than the credit
    usec_t at;          // the time for which `tokens` holds
};

void pacer_init(struct pacer *p, double rate_bps, double burst_bytes, usec_t now);
void pacer_set_rate(struct pacer *p, double rate_bps, usec_t now); // keeps the credit earned so far
void pacer_sent(struct pacer *p, size_t bytes, usec_t now);
// Call it if a sender that has had data to send since the last packet was woken too late. Adds the
// credit of the elapsed time beyond the burst, up to `most_bytes`; it may be used at `now` only.
void pacer_catch_up(struct pacer *p, double most_bytes, usec_t now);
usec_t pacer_next_timeout(const struct pacer *p); // earliest time at which a packet may leave

DECLS_END
#endif
