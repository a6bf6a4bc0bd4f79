// SPDX-License-Identifier: GPL-2.0-or-later
// How large a datagram transport's packets may be. The papers of ARC (Grieco, Mascolo 2004, section
// 5) and PSP (A. Feng, W. Feng, Belford 2001, 2.1) send IP packets of 1500 bytes.
//
//   The law: 1500 bytes, but no more than the route's MTU, less the headers of IP and UDP, until
//   the path turns out not to carry them (RFC 8899, 4.3: a black hole); then PACKET_SIZE_SAFE for
//   the rest of the flow. There is no probing: the first packets of the media are the probes.
#ifndef WEIR_PROTOCOL_PACKET_SIZE_H
#define WEIR_PROTOCOL_PACKET_SIZE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"
#include "common/protocol/datagram_sender.h"

DECLS_BEGIN

enum {
    PACKET_SIZE_SAFE = 1200, // RTP header and payload: fits IPv6's least MTU of 1280 (RFC 8200, 5)
    PACKET_SIZE_MAX = 1472,  // 1500 without the headers of IPv4 and UDP
};

// Returns the bytes of an RTP packet on a route of this MTU; 0 or less: not known.
size_t packet_size_of_route(int mtu, bool is_ipv6);
// Returns true if the path does not carry packets above PACKET_SIZE_SAFE: none of them has arrived,
// and eight packets were lost or a timeout expired; or one has arrived, and now `silent` timeouts
// in a row, three or more, expired, or 64 of them in a row were lost, while smaller ones may
// arrive: the path may be another one.
bool packet_size_fails(const struct datagram_counts *counts, int silent);

DECLS_END
#endif
