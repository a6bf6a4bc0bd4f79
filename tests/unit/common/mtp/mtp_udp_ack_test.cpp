// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/mtp/mtp_udp_ack.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <vector>

#include "common/base/err.h"

namespace
{

const uint64_t TOKEN = 0x0102030405060708;

// An echo and two ranges; window 16384; the first slot is 2^32 + 16: [2^32+19, 2^32+21) and
// [2^32+17, 2^32+18) came.
const std::vector<uint8_t> golden = {0x51, 0xc2, 0x40, 0x00, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0,
                                     0,    16,   0,    0,    1, 0, 0, 3, 0, 5, 0, 1, 0, 2};
const int64_t FIRST = (INT64_C(1) << 32) + 16;

int decode(const std::vector<uint8_t> &bytes, mtp_ack *a, int64_t cum = FIRST - 1000)
{
    return mtp_udp_ack_decode(bytes.data(), bytes.size(), TOKEN, cum, a);
}

} // namespace

TEST_CASE("mtp_udp_ack: the header's figure, encoded and decoded")
{
    mtp_ack a;
    REQUIRE(decode(golden, &a) == 0);
    CHECK(a.window == 16384);
    CHECK(a.cum == FIRST);
    CHECK(a.has_echo);
    CHECK(a.echo_us == 256);
    REQUIRE(a.count == 2);
    CHECK(a.ranges[0].begin == FIRST + 3);
    CHECK(a.ranges[0].end == FIRST + 5);
    CHECK(a.ranges[1].begin == FIRST + 1);
    CHECK(a.ranges[1].end == FIRST + 2);
    uint8_t out[MTP_UDP_ACK_MAX];
    REQUIRE(mtp_udp_ack_encode(&a, TOKEN, out) == golden.size());
    CHECK(memcmp(out, golden.data(), golden.size()) == 0);
}

TEST_CASE("mtp_udp_ack: a slot is extended to the value nearest to the previous one")
{
    mtp_ack a;
    CHECK(decode(golden, &a, FIRST + 70000) == 0);
    CHECK(a.cum == FIRST); // an old one
    CHECK(decode(golden, &a, 10) == 0);
    CHECK(a.cum == 16);
    CHECK(decode(golden, &a, 2 * (INT64_C(1) << 32) - 5) == 0);
    CHECK(a.cum == 2 * (INT64_C(1) << 32) + 16);
}

TEST_CASE("mtp_udp_ack: refused datagrams")
{
    struct row {
        size_t at;
        uint8_t value;
        int result;
    };
    const std::vector<row> table = {
        {0, 0x51, 0},
        {0, 0x52, ERR_UNSUPPORTED}, // another version
        {0, 0x80, ERR_MALFORMED},   // RTP
        {1, 0x42, ERR_MALFORMED},   // no acknowledgement
        {1, 0xd2, ERR_MALFORMED},   // a reserved bit
        {1, 0xc1, ERR_MALFORMED},   // one range, but two are there
        {1, 0xc9, ERR_MALFORMED},   // more than there may be
        {1, 0x82, ERR_MALFORMED},   // no echo, but one is there
        {4, 2, ERR_NOT_FOUND},      // another token
        {11, 9, ERR_NOT_FOUND},
        {21, 5, ERR_MALFORMED}, // an empty range
        {23, 2, ERR_MALFORMED}, // backwards
        {25, 0, ERR_MALFORMED}, // the first hole would have arrived
    };
    for (const row &r : table) {
        INFO("byte " << r.at << " is " << (int)r.value);
        std::vector<uint8_t> bytes = golden;
        bytes[r.at] = r.value;
        mtp_ack a;
        CHECK(decode(bytes, &a) == r.result);
    }
    for (size_t len = 0; len < golden.size(); len++) {
        INFO(len);
        mtp_ack a;
        CHECK(decode({golden.begin(), golden.begin() + static_cast<long>(len)}, &a) ==
              ERR_MALFORMED);
    }
}

TEST_CASE("mtp_udp_ack: the largest acknowledgement fits")
{
    mtp_ack a{};
    a.window = 65535;
    a.count = MTP_ACK_RANGES;
    for (int i = 0; i < MTP_ACK_RANGES; i++)
        a.ranges[i] = {65534 - 2 * i, 65535 - 2 * i};
    uint8_t out[MTP_UDP_ACK_MAX];
    size_t len = mtp_udp_ack_encode(&a, TOKEN, out);
    CHECK(len == MTP_UDP_ACK_MAX);
    mtp_ack b;
    REQUIRE(mtp_udp_ack_decode(out, len, TOKEN, 0, &b) == 0);
    CHECK(b.window == 65535);
    CHECK(b.ranges[7].begin == 65520);
    CHECK_FALSE(b.has_echo);
}

TEST_CASE("mtp_udp_ack: the echo of a mark is one bit")
{
    mtp_ack a;
    std::vector<uint8_t> bytes = golden;
    REQUIRE(decode(bytes, &a) == 0);
    CHECK_FALSE(a.ece);
    bytes[1] |= 0x20;
    REQUIRE(decode(bytes, &a) == 0);
    CHECK(a.ece);
    uint8_t out[MTP_UDP_ACK_MAX];
    REQUIRE(mtp_udp_ack_encode(&a, TOKEN, out) == bytes.size());
    CHECK(memcmp(out, bytes.data(), bytes.size()) == 0);
    bytes[1] |= 0x10;
    CHECK(decode(bytes, &a) == ERR_MALFORMED);
}
