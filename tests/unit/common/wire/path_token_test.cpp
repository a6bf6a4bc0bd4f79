// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <vector>

#include "common/wire/path_token.h"
#include "common/wire/rtcp.h"

static const uint8_t golden[PATH_TOKEN_BYTES] = {
    0x80, 204,  0x00, 0x04, // version 2, subtype 0, APP, 4 words follow
    0xde, 0xad, 0xbe, 0xef, // SSRC
    'W',  'E',  'I',  'R',  //
    0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
};

TEST_CASE("path_token: encoding and decoding of known bytes")
{
    uint8_t out[PATH_TOKEN_BYTES];
    path_token_encode(0xdeadbeef, 0x0123456789abcdef, out);
    CHECK(memcmp(out, golden, sizeof(golden)) == 0);
    CHECK(rtcp_is(out, sizeof(out)));
    uint64_t token = 0;
    REQUIRE(path_token_decode(out, sizeof(out), &token));
    CHECK(token == 0x0123456789abcdef);
}

TEST_CASE("path_token: other bytes are refused")
{
    uint64_t token;
    for (size_t len = 0; len < PATH_TOKEN_BYTES; len++) {
        std::vector<uint8_t> cut(golden, golden + len);
        CHECK_FALSE(path_token_decode(cut.data(), cut.size(), &token));
    }
    std::vector<uint8_t> longer(golden, golden + sizeof(golden));
    longer.push_back(0);
    CHECK_FALSE(path_token_decode(longer.data(), longer.size(), &token));
    for (size_t at : {0, 1, 2, 3, 8, 9, 10, 11}) {
        uint8_t other[PATH_TOKEN_BYTES];
        memcpy(other, golden, sizeof(other));
        other[at] ^= 1;
        CHECK_FALSE(path_token_decode(other, sizeof(other), &token));
    }
}
