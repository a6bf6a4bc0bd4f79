// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <vector>

#include "common/wire/path_token.h"
#include "common/wire/rtcp.h"

namespace
{

struct kind {
    uint8_t subtype;
    void (*encode)(uint32_t, uint64_t, uint8_t *);
    bool (*decode)(const uint8_t *, size_t, uint64_t *);
};

const kind kinds[] = {{0, path_token_encode, path_token_decode},
                      {2, path_challenge_encode, path_challenge_decode},
                      {3, path_response_encode, path_response_decode}};

const uint8_t golden[PATH_TOKEN_BYTES] = {
    0x80, 204,  0x00, 0x04, // version 2, subtype 0, APP, 4 words follow
    0xde, 0xad, 0xbe, 0xef, // SSRC
    'W',  'E',  'I',  'R',  //
    0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
};

} // namespace

TEST_CASE("path_token: encoding and decoding of known bytes")
{
    for (const kind &k : kinds) {
        INFO("subtype " << int(k.subtype));
        uint8_t out[PATH_TOKEN_BYTES], expected[PATH_TOKEN_BYTES];
        memcpy(expected, golden, sizeof(golden));
        expected[0] |= k.subtype;
        k.encode(0xdeadbeef, 0x0123456789abcdef, out);
        CHECK(memcmp(out, expected, sizeof(expected)) == 0);
        CHECK(rtcp_is(out, sizeof(out)));
        CHECK(path_token_ssrc(out) == 0xdeadbeef);
        for (const kind &reader : kinds) { // none is taken for another
            uint64_t value = 0;
            bool same = reader.subtype == k.subtype;
            CHECK(reader.decode(out, sizeof(out), &value) == same);
            CHECK(value == (same ? 0x0123456789abcdef : 0));
        }
    }
}

TEST_CASE("path_token: other bytes are refused")
{
    for (const kind &k : kinds) {
        uint64_t value;
        std::vector<uint8_t> right(golden, golden + sizeof(golden));
        right[0] |= k.subtype;
        for (size_t len = 0; len < PATH_TOKEN_BYTES; len++) {
            std::vector<uint8_t> cut(right.begin(), right.begin() + (ptrdiff_t)len);
            CHECK_FALSE(k.decode(cut.data(), cut.size(), &value));
        }
        std::vector<uint8_t> longer = right;
        longer.push_back(0);
        CHECK_FALSE(k.decode(longer.data(), longer.size(), &value));
        for (size_t at : {0, 1, 2, 3, 8, 9, 10, 11}) {
            std::vector<uint8_t> other = right;
            other[at] ^= 1;
            CHECK_FALSE(k.decode(other.data(), other.size(), &value));
        }
    }
}
