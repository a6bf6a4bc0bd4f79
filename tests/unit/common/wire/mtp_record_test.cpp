// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/mtp_record.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <vector>

#include "common/base/err.h"

namespace
{

const uint64_t TOKEN = 0xf0e0d0c0b0a09080;

// Header as in mtp_header's test, the token, "abc", padding.
const std::vector<uint8_t> golden = {0x51, 0x01, 0x00, 0x03, 0x01, 0x02, 0x03, 0x04, 0xff, 0xfe,
                                     0xfd, 0xfc, 0x0a, 0x0b, 0x0c, 0x0d, 0xf0, 0xe0, 0xd0, 0xc0,
                                     0xb0, 0xa0, 0x90, 0x80, 'a',  'b',  'c',  0};

} // namespace

TEST_CASE("mtp_record: the header's figure, encoded and decoded")
{
    mtp_header h;
    const uint8_t *payload;
    REQUIRE(mtp_record_decode(golden.data(), golden.size(), TOKEN, &h, &payload) == 0);
    CHECK(h.number == 0x01020304);
    CHECK(h.length == 3);
    CHECK(payload == golden.data() + 24);
    uint8_t out[27];
    CHECK(mtp_record_encode(&h, TOKEN, payload, out) == 27);
    CHECK(memcmp(out, golden.data(), 27) == 0);

    h.length = 0; // an empty packet has its token, too
    CHECK(mtp_record_encode(&h, TOKEN, nullptr, out) == 24);
    CHECK(mtp_record_decode(out, 24, TOKEN, &h, &payload) == 0);
    CHECK(h.length == 0);
}

TEST_CASE("mtp_record: every bit of the token matters")
{
    mtp_header h;
    const uint8_t *payload;
    for (int bit = 0; bit < 64; bit++)
        CHECK(mtp_record_decode(golden.data(), golden.size(), TOKEN ^ uint64_t{1} << bit, &h,
                                &payload) == ERR_NOT_FOUND);
}

TEST_CASE("mtp_record: refused bytes")
{
    mtp_header h;
    const uint8_t *payload;
    for (size_t len = 0; len < 27; len++) {
        INFO(len);
        std::vector<uint8_t> cut(golden.begin(), golden.begin() + static_cast<long>(len));
        CHECK(mtp_record_decode(cut.data(), cut.size(), TOKEN, &h, &payload) == ERR_MALFORMED);
    }
    std::vector<uint8_t> other = golden;
    other[0] = 0x52;
    CHECK(mtp_record_decode(other.data(), other.size(), TOKEN, &h, &payload) == ERR_UNSUPPORTED);
    other[0] = 0x51;
    other[3] = 5; // one more than there is
    CHECK(mtp_record_decode(other.data(), other.size(), TOKEN, &h, &payload) == ERR_MALFORMED);
}
