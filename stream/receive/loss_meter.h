// SPDX-License-Identifier: GPL-2.0-or-later
// How much of a stream was lost since the last reading (RFC 3550, A.3): differences of the counts
// that rtp_receiver.h keeps.
#ifndef WEIR_STREAM_RECEIVE_LOSS_METER_H
#define WEIR_STREAM_RECEIVE_LOSS_METER_H

#include "common/protocol/rtp_receiver.h"

#ifdef __cplusplus
extern "C" {
#endif

struct loss_meter { // all zero at first; the counts at the last reading
    uint64_t expected;
    uint64_t lost;
    uint64_t loss_events;
};

struct loss_reading {
    uint64_t lost;        // packets
    uint64_t loss_events; // that became certain, some packets after the loss
    double fraction;      // of the packets expected, at most 1; NaN: none was expected
};

struct loss_reading loss_meter_read(struct loss_meter *m, const struct rtp_receiver *r);

#ifdef __cplusplus
}
#endif
#endif
