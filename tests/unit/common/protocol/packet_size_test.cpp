// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "common/protocol/packet_size.h"

TEST_CASE("packet size: what the route carries, at most an Ethernet's")
{
    struct {
        int mtu;
        bool ipv6;
        size_t bytes;
    } table[] = {
        {1500, false, 1472}, {1500, true, 1452},  {65536, false, 1472},
        {9000, true, 1452},  {1492, false, 1464}, // PPPoE
        {1420, true, 1372},                       // WireGuard
        {1280, true, 1232},  {1280, false, 1252}, {1228, false, 1200},
        {576, false, 1200},  {0, false, 1200},    {-1, true, 1200}, // not known
    };
    for (const auto &row : table)
        CHECK(packet_size_of_route(row.mtu, row.ipv6) == row.bytes);
}

TEST_CASE("packet size: a path that drops large packets is recognised")
{
    struct {
        uint32_t largest_arrived;
        uint64_t lost;
        int silent;
        bool fails;
        uint64_t large_lost = 0;
    } table[] = {
        {0, 0, 0, false},      // nothing is known yet
        {900, 7, 0, false},    //
        {900, 8, 0, true},     // small ones arrive, the others do not
        {1200, 100, 0, true},  //
        {1201, 100, 0, false}, // a path with losses
        {1472, 9, 2, false},   // reports may be lost
        {1472, 9, 3, true},    // perhaps another path now
        {0, 0, 1, true},       // nothing arrived at all
        {1472, 99, 0, false, 63},
        {1472, 99, 0, true, 64}, // another path, which carries the small ones
    };
    for (const auto &row : table) {
        datagram_counts c{};
        c.largest_arrived = row.largest_arrived;
        c.lost = row.lost;
        c.large_lost = row.large_lost;
        CHECK(packet_size_fails(&c, row.silent) == row.fails);
    }
}
