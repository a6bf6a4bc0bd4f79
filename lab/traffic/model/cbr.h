// SPDX-License-Identifier: GPL-2.0-or-later
// The schedule of a constant bit rate: datagram k leaves at
//
//     start + k * size * 8 / rate
//
// The due time is always computed from the start, so that late wake-ups do not add up. Datagrams
// that a stall has delayed by more than CBR_CATCH_UP are skipped: the burst after a stall is at
// most CBR_CATCH_UP * rate.
#ifndef WEIR_LAB_TRAFFIC_MODEL_CBR_H
#define WEIR_LAB_TRAFFIC_MODEL_CBR_H

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define CBR_CATCH_UP (50 * USEC_PER_MSEC)

struct cbr {
    usec_t start;
    double interval_us;
    int64_t next;    // number of the datagram to send next
    int64_t skipped; // number of datagrams skipped so far
};

// size_bytes and rate_bps must be above 0.
void cbr_init(struct cbr *c, int size_bytes, int64_t rate_bps, usec_t now);
// Returns when the next datagram is due.
usec_t cbr_next_timeout(const struct cbr *c);
// Returns how many datagrams are due, and skips those that are too late.
int64_t cbr_due(struct cbr *c, usec_t now);
// Call after sending a datagram.
void cbr_on_sent(struct cbr *c);

DECLS_END
#endif
