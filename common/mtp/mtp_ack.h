// SPDX-License-Identifier: GPL-2.0-or-later
// What an MTP receiver tells its sender, whatever carries it.
#ifndef WEIR_MTP_MTP_ACK_H
#define WEIR_MTP_MTP_ACK_H

#include "common/mtp/mtp_ranges.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MTP_ACK_RANGES = 8 };

struct mtp_ack {
    int64_t cum;    // the first slot that is neither received nor marked
    int64_t window; // slots from `cum` that may be sent
    bool has_echo;
    uint32_t echo_us; // mtp_header.time_us of the newest packet
    int count;
    struct mtp_range ranges[MTP_ACK_RANGES]; // received beyond the first hole, the highest first
};

#ifdef __cplusplus
}
#endif
#endif
