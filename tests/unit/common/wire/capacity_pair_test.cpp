// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <vector>

#include "common/wire/capacity_pair.h"
#include "common/wire/path_token.h"
#include "common/wire/rtcp.h"

static const uint8_t golden[] = {
    0x81, 204,  0x00, 0x06, // version 2, subtype 1, APP, 6 words follow
    0xde, 0xad, 0xbe, 0xef, // SSRC
    'W',  'E',  'I',  'R',  //
    0x12, 0x34, 0x56, 0x78, // pair
    1,    0,    0,    0,    // the second
    0,    0,    0,    0,    0, 0, 0, 0,
};

TEST_CASE("capacity_pair: encoding and decoding of known bytes")
{
    const capacity_packet p = {0xdeadbeef, 0x12345678, 1};
    uint8_t out[sizeof(golden) + 3];
    CHECK(capacity_pair_encode(&p, out, sizeof(out)) == sizeof(golden)); // whole words
    CHECK(memcmp(out, golden, sizeof(golden)) == 0);
    CHECK(rtcp_is(out, sizeof(golden)));
    capacity_packet read{};
    REQUIRE(capacity_pair_decode(out, sizeof(golden), &read));
    CHECK(read.ssrc == 0xdeadbeef);
    CHECK(read.pair == 0x12345678);
    CHECK(read.which == 1);
}

TEST_CASE("capacity_pair: any size that a packet may have")
{
    std::vector<uint8_t> out(CAPACITY_PAIR_MAX_BYTES, 0xff);
    const capacity_packet p = {1, 2, 0};
    for (size_t cap : {20, 23, 1348, 65507, 262144}) {
        capacity_packet read{};
        size_t len = capacity_pair_encode(&p, out.data(), cap);
        CHECK(len == cap / 4 * 4);
        REQUIRE(capacity_pair_decode(out.data(), len, &read));
        CHECK(read.which == 0);
    }
}

TEST_CASE("capacity_pair: other bytes are refused")
{
    capacity_packet read;
    for (size_t len = 0; len < sizeof(golden); len++) {
        std::vector<uint8_t> cut(golden, golden + len);
        CHECK_FALSE(capacity_pair_decode(cut.data(), cut.size(), &read));
    }
    std::vector<uint8_t> longer(golden, golden + sizeof(golden));
    longer.resize(sizeof(golden) + 4);
    CHECK_FALSE(capacity_pair_decode(longer.data(), longer.size(), &read));
    for (size_t at : {0, 1, 2, 3, 8, 9, 10, 11}) {
        uint8_t other[sizeof(golden)];
        memcpy(other, golden, sizeof(other));
        other[at] ^= 1;
        CHECK_FALSE(capacity_pair_decode(other, sizeof(other), &read));
    }
    uint8_t third[sizeof(golden)];
    memcpy(third, golden, sizeof(third));
    third[16] = 2;
    CHECK_FALSE(capacity_pair_decode(third, sizeof(third), &read));
    uint8_t token[PATH_TOKEN_BYTES];
    path_token_encode(1, 2, token);
    CHECK_FALSE(capacity_pair_decode(token, sizeof(token), &read));
}
