// SPDX-License-Identifier: GPL-2.0-or-later
// Packets of a stream lost since the last reading (RFC 3550, A.3): differences of the counters of
// rtp_receiver.h.
#ifndef WEIR_STREAM_RECEIVE_LOSS_METER_H
#define WEIR_STREAM_RECEIVE_LOSS_METER_H

#include "common/base/decls.h"
#include "common/protocol/rtp_receiver.h"

DECLS_BEGIN

struct loss_meter { // counters at the last reading; all zero at first
    uint64_t expected;
    uint64_t lost;
    uint64_t loss_events;
};

struct loss_reading {
    uint64_t lost;        // packets
    uint64_t loss_events; // loss events confirmed since then; a loss is confirmed some packets
                          // later
    double fraction;      // lost / expected packets, 0 .. 1; NaN: none was expected
};

struct loss_reading loss_meter_read(struct loss_meter *m, const struct rtp_receiver *r);

DECLS_END
#endif
