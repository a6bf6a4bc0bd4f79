// SPDX-License-Identifier: GPL-2.0-or-later
// Spaces packets at a rate.
//
//   The law: in any interval of length T at most  burst + rate * T  bytes leave (plus or minus one
//   packet), and a sender that always has data to send gets  rate.  (A token bucket: Turner 1986.)
#ifndef WEIR_CONGESTION_PACER_H
#define WEIR_CONGESTION_PACER_H

#include <stddef.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pacer {
    double rate_bps;    // bits per second, > 0
    double burst_bytes; // > 0; at least one packet
    double tokens;      // bytes that may leave now; negative after a packet larger than the credit
    usec_t at;          // the time for which `tokens` holds
};

void pacer_init(struct pacer *p, double rate_bps, double burst_bytes, usec_t now);
void pacer_set_rate(struct pacer *p, double rate_bps, usec_t now); // what was earned so far stays
void pacer_sent(struct pacer *p, size_t bytes, usec_t now);
// Who has had something to send since the last packet, and was not woken in time, has earned more
// than the burst: up to `most_bytes`, to be spent at this instant.
void pacer_catch_up(struct pacer *p, double most_bytes, usec_t now);
usec_t pacer_next_timeout(const struct pacer *p); // the first instant at which a packet may leave

#ifdef __cplusplus
}
#endif
#endif
