// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/packet_size.h"

enum {
    ETHERNET = 1500, // bytes of the papers' packets
    HEADERS_4 = 28,
    HEADERS_6 = 48, // of IP and UDP
    LOSSES = 8,     // more than chance takes of the large packets while none arrives
    TIMEOUTS = 3,   // in a row
    // Of large packets, one after the other, on a path that carried them: a drop-tail queue may
    // take a burst of them, but not for long.
    LOSSES_LATER = 64,
};

size_t packet_size_of_route(int mtu, bool is_ipv6)
{
    int headers = is_ipv6 ? HEADERS_6 : HEADERS_4;
    int bytes = (mtu < ETHERNET ? mtu : ETHERNET) - headers;
    return bytes > PACKET_SIZE_SAFE ? (size_t)bytes : PACKET_SIZE_SAFE;
}

bool packet_size_fails(const struct datagram_counts *counts, int silent)
{
    if (counts->largest_arrived > PACKET_SIZE_SAFE)
        return silent >= TIMEOUTS || counts->large_lost >= LOSSES_LATER;
    return silent > 0 || counts->lost >= LOSSES;
}
