// SPDX-License-Identifier: GPL-2.0-or-later
// What an MTP receiver acknowledges to its sender, independent of the carrier (UDP or TCP).
#ifndef WEIR_MTP_MTP_ACK_H
#define WEIR_MTP_MTP_ACK_H

#include "common/base/decls.h"
#include "common/mtp/mtp_ranges.h"

DECLS_BEGIN

enum { MTP_ACK_RANGES = 8 };

struct mtp_ack {
    int64_t cum;    // the first slot that is neither received nor marked as received
    int64_t window; // number of slots from `cum` that may be sent
    bool has_echo;
    uint32_t echo_us; // mtp_header.time_us of the newest packet
    bool ece;         // a packet was marked CE, and none with MTP_CWR has come since (RFC 3168)
    int count;
    struct mtp_range ranges[MTP_ACK_RANGES]; // received beyond the first hole, highest range first
};

DECLS_END
#endif
