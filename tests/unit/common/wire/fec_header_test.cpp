// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <vector>

#include "common/base/err.h"
#include "common/wire/fec_header.h"

namespace
{
std::vector<uint8_t> payload(std::initializer_list<int> head, size_t parity = FEC_MIN_PARITY)
{
    std::vector<uint8_t> out(head.begin(), head.end());
    out.resize(out.size() + parity, 0xaa);
    return out;
}

int decode(const std::vector<uint8_t> &bytes, fec_header *h)
{
    return fec_header_decode(bytes.data(), bytes.size(), h);
}
} // namespace

TEST_CASE("FEC header: bytes by hand")
{
    // Packets 65535, 0 and 8 of a span of 10, parity number 5.
    auto bytes = payload({0xff, 0xff, 9, 5, 0xc0, 0x40});
    fec_header h;
    REQUIRE(decode(bytes, &h) == 0);
    CHECK(h.base == 65535);
    CHECK(h.span == 10);
    CHECK(h.number == 5);
    CHECK(fec_header_bytes(&h) == 6);
    for (int i = 0; i < 10; i++)
        CHECK(fec_header_covers(&h, i) == (i == 0 || i == 1 || i == 9));
    uint8_t out[FEC_MAX_HEADER];
    REQUIRE(fec_header_encode(&h, out) == 6);
    CHECK(memcmp(out, bytes.data(), 6) == 0);
}

TEST_CASE("FEC header: what is refused")
{
    struct {
        std::vector<uint8_t> bytes;
        int result;
        const char *what;
    } table[] = {
        {payload({0, 1, 0, 0, 0x80}), 0, "one packet"},
        {payload({0, 1, 7, 127, 0x81}), 0, "a whole byte of mask"},
        {payload({0, 1, 0, 0, 0x80}, FEC_MAX_PARITY), 0, "the longest parity"},
        {payload({0, 1, 0, 0, 0x80}, FEC_MAX_PARITY + 1), ERR_MALFORMED, "longer"},
        {payload({0, 1, 0, 0, 0x80}, FEC_MIN_PARITY - 1), ERR_MALFORMED, "too short"},
        {payload({0, 1, 128, 0, 0x80}), ERR_MALFORMED, "span of 129"},
        {payload({0, 1, 0, 128, 0x80}), ERR_MALFORMED, "number 128"},
        {payload({0, 1, 1, 0, 0x40}), ERR_MALFORMED, "the first is not covered"},
        {payload({0, 1, 2, 0, 0xc0}), ERR_MALFORMED, "the last is not covered"},
        {payload({0, 1, 2, 0, 0xb0}), ERR_MALFORMED, "a bit beyond the span"},
        {{}, ERR_MALFORMED, "nothing"},
        {{0, 1, 0}, ERR_MALFORMED, "half a header"},
        {{0, 1, 127, 0, 0x80}, ERR_MALFORMED, "half a mask"},
    };
    for (const auto &row : table) {
        INFO(row.what);
        fec_header h;
        CHECK(decode(row.bytes, &h) == row.result);
    }
}
