// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/rtp/aac_payload.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

namespace
{

std::vector<uint8_t> unit_of(size_t len)
{
    std::vector<uint8_t> unit(len);
    std::iota(unit.begin(), unit.end(), (uint8_t)1);
    return unit;
}

struct Packet {
    std::vector<uint8_t> payload;
    bool ends;
};

std::vector<Packet> packets_of(const std::vector<uint8_t> &unit, size_t cap)
{
    std::vector<Packet> out;
    for (size_t at = 0; at < unit.size();) {
        std::vector<uint8_t> payload(cap);
        payload.resize(aac_payload_write(unit.data(), unit.size(), &at, payload.data(), cap));
        out.push_back({payload, at == unit.size()});
    }
    return out;
}

} // namespace

TEST_CASE("aac_payload: a unit is one packet behind its header")
{
    auto packets = packets_of(unit_of(3), 1000);
    REQUIRE(packets.size() == 1);
    CHECK(packets[0].payload == std::vector<uint8_t>{0, 16, 0, 3 << 3, 1, 2, 3});
    CHECK(packets[0].ends);
    packets = packets_of(unit_of(0x1abc), 8000);
    REQUIRE(packets.size() == 1);
    CHECK(packets[0].payload[2] == (0x1abc << 3 & 0xff00) >> 8);
    CHECK(packets[0].payload[3] == (0x1abc << 3 & 0xff));
}

TEST_CASE("aac_payload: a unit that exceeds a packet is cut into fragments")
{
    auto packets = packets_of(unit_of(7), 4 + 3);
    REQUIRE(packets.size() == 3);
    CHECK(packets[0].payload == std::vector<uint8_t>{0, 16, 0, 7 << 3, 1, 2, 3});
    CHECK(packets[1].payload == std::vector<uint8_t>{0, 16, 0, 7 << 3, 4, 5, 6});
    CHECK(packets[2].payload == std::vector<uint8_t>{0, 16, 0, 7 << 3, 7});
    CHECK(!packets[0].ends);
    CHECK(!packets[1].ends);
    CHECK(packets[2].ends);
    packets = packets_of(unit_of(6), 4 + 3); // no empty one at the end
    REQUIRE(packets.size() == 2);
    CHECK(packets[1].ends);
    CHECK(packets_of(unit_of(AAC_PAYLOAD_MAX_UNIT), 1000).size() == 9);
}
