// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/rtp/nal_bits.h"

#include <catch2/catch.hpp>
#include <vector>

TEST_CASE("the fields of a NAL unit")
{
    // 1 010 011 00100 | 00101 10...: ue 0, 1, 2, 3; se of code 4 is -2; then 1 and the end
    const uint8_t data[] = {0xa6, 0x42, 0xc0};
    nal_bits b = {data, 18, 0};
    CHECK(nal_bits_ue(&b) == 0);
    CHECK(nal_bits_ue(&b) == 1);
    CHECK(nal_bits_ue(&b) == 2);
    CHECK(nal_bits_ue(&b) == 3);
    CHECK(nal_bits_se(&b) == -2);
    CHECK(nal_bits_bit(&b) == 1);
    CHECK(b.at == b.count);
    CHECK(nal_bits_take(&b, 9) == 0);
    CHECK(b.at > b.count);
    CHECK(nal_bits_ue(&b) == 0);

    const uint8_t zeros[8] = {}; // no code
    nal_bits none = {zeros, 64, 0};
    CHECK(nal_bits_ue(&none) == 0);
    CHECK(none.at > none.count);
}

TEST_CASE("the inserted bytes of a NAL unit")
{
    const std::vector<uint8_t> unit = {1, 0, 0, 3, 1, 0, 0, 3, 0, 0, 3, 3};
    uint8_t out[12];
    CHECK(nal_unescape(unit.data(), unit.size(), out, sizeof(out)) == 9);
    CHECK(std::vector<uint8_t>(out, out + 9) == std::vector<uint8_t>{1, 0, 0, 1, 0, 0, 0, 0, 3});
    CHECK(nal_unescape(unit.data(), unit.size(), out, 2) == 2);
}
