// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <vector>

#include "common/base/err.h"
#include "common/wire/mtp_header.h"

namespace
{

// Flags R, length 3, number 0x01020304, slot 0xfffefdfc, time 0x0a0b0c0d; payload "abc", padding.
const std::vector<uint8_t> golden = {0x51, 0x01, 0x00, 0x03, 0x01, 0x02, 0x03, 0x04, 0xff, 0xfe,
                                     0xfd, 0xfc, 0x0a, 0x0b, 0x0c, 0x0d, 'a',  'b',  'c',  0};

} // namespace

TEST_CASE("mtp_header: the header's figure, encoded and decoded")
{
    mtp_header h;
    REQUIRE(mtp_header_decode(golden.data(), golden.size(), &h) == 0);
    CHECK(h.flags == MTP_R);
    CHECK(h.length == 3);
    CHECK(h.number == 0x01020304);
    CHECK(h.slot == 0xfffefdfc);
    CHECK(h.time_us == 0x0a0b0c0d);
    uint8_t out[MTP_HEADER_BYTES];
    mtp_header_encode(&h, out);
    CHECK(memcmp(out, golden.data(), sizeof(out)) == 0);
}

TEST_CASE("mtp_header: refused bytes")
{
    struct row {
        size_t at;
        uint8_t value;
        int result;
    };
    const std::vector<row> table = {
        {0, 0x51, 0},
        {0, 0x52, ERR_UNSUPPORTED}, // another version
        {0, 0x61, ERR_MALFORMED},   // another protocol
        {0, 0x80, ERR_MALFORMED},   // RTP
        {1, 0, 0},
        {1, MTP_FILL | MTP_CTRL, 0},
        {1, MTP_R | MTP_CTRL, 0},
        {1, MTP_R | MTP_FILL, ERR_MALFORMED}, // it cannot be both
        {1, MTP_CWR | MTP_R, 0},
        {1, 16, ERR_MALFORMED}, // not ours
        {3, 4, 0},
        {3, 5, ERR_MALFORMED}, // longer than what is there
        {2, 1, ERR_MALFORMED},
    };
    for (const row &r : table) {
        INFO("byte " << r.at << " is " << (int)r.value);
        std::vector<uint8_t> bytes = golden;
        bytes[r.at] = r.value;
        mtp_header h;
        CHECK(mtp_header_decode(bytes.data(), bytes.size(), &h) == r.result);
    }
    for (size_t len = 0; len < golden.size(); len++) {
        std::vector<uint8_t> bytes(golden.begin(), golden.begin() + (long)len);
        mtp_header h;
        CHECK(mtp_header_decode(bytes.data(), len, &h) == (len < 19 ? ERR_MALFORMED : 0));
    }
}
