// SPDX-License-Identifier: GPL-2.0-or-later
// An MTP acknowledgement as a datagram, for MTP in UDP: one for each received packet.
//
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//   | magic | vers. |A|E|M|0| count |            window             |
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//   |                             token                             |
//   |                                                               |
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//   |           the first slot neither received nor marked          |
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//   |          echo: time of the newest packet, 0 without E         |
//   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//   |  a range begins: so far on    |   ends before: so far on      |  `count` times, 0 to 8
//
// M is TCP's ECN-Echo (RFC 3168, 6.1.3): a router marked a packet. Older servers refuse it; a
// viewer sets it only after a packet that was sent as ECN-capable, which a server does only for
// viewers that offered `x-weir-ecn`. Magic and version are those of mtp_header.h, whose flags never
// contain A. The window and the ranges count slots from the first slot above.
#ifndef WEIR_MTP_MTP_UDP_ACK_H
#define WEIR_MTP_MTP_UDP_ACK_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/mtp/mtp_ack.h"

DECLS_BEGIN

enum {
    MTP_UDP_ACK_HEAD = 20,
    MTP_UDP_ACK_MAX = MTP_UDP_ACK_HEAD + 4 * MTP_ACK_RANGES,
};

// Returns the length. The window and the ends of the ranges are less than 65536 above ack->cum.
size_t mtp_udp_ack_encode(const struct mtp_ack *ack, uint64_t token, uint8_t out[MTP_UDP_ACK_MAX]);

// `cum` is the previous acknowledgement's; the new one is near it. Returns 0; ERR_MALFORMED;
// ERR_UNSUPPORTED (another version); ERR_NOT_FOUND: another token.
int mtp_udp_ack_decode(const uint8_t *data, size_t len, uint64_t token, int64_t cum,
                       struct mtp_ack *ack);

DECLS_END
#endif
