// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "common/base/bytes.h"
#include "common/base/put.h"
#include "common/base/scan.h"

TEST_CASE("bytes: network order")
{
    const uint8_t wire[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
    CHECK(load_be16(wire) == 0x0123);
    CHECK(load_be32(wire) == 0x01234567);
    CHECK(load_be64(wire) == 0x0123456789abcdef);
    CHECK(load_be32(wire + 4) == 0x89abcdef); // the top bit is no sign
    CHECK(load_le64(wire) == 0xefcdab8967452301);
    uint8_t out[8];
    store_be64(out, 0x0123456789abcdef);
    CHECK(memcmp(out, wire, 8) == 0);
    store_be16(out, 0xfffe);
    CHECK((out[0] == 0xff && out[1] == 0xfe));
}

TEST_CASE("bytes: the cursor returns the bytes it consumes")
{
    const uint8_t wire[] = {1, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 4, 9};
    struct bytes b = bytes_of(wire, sizeof(wire));
    CHECK(bytes_u8(&b) == 1);
    CHECK(bytes_u16(&b) == 2);
    CHECK(bytes_u32(&b) == 3);
    CHECK(bytes_u64(&b) == 4);
    CHECK(bytes_left(&b) == 1);
    CHECK(bytes_take(&b, 1) == wire + 15);
    CHECK(bytes_left(&b) == 0);
    CHECK(bytes_take(&b, 0) == wire + 16);
}

static struct scan cursor(const char *text)
{
    return scan_of(text, strlen(text));
}

TEST_CASE("scan: numbers stop at their limit and at the end")
{
    const struct {
        const char *text;
        int64_t max;
        bool good;
        int64_t value;
    } cases[] = {
        {"0", 9, true, 0},
        {"255", 255, true, 255},
        {"256", 255, false, 0},
        {"007", 9, true, 7},
        {"", 9, false, 0},
        {"-1", 9, false, 0},
        {"x", 9, false, 0},
        {"12x", 99, true, 12},
        {"99999999999999999999999", 99, false, 0},
        {"4294967295", UINT32_MAX, true, UINT32_MAX},
    };
    for (const auto &c : cases) {
        INFO(c.text);
        struct scan s = cursor(c.text);
        int64_t value;
        CHECK(scan_int(&s, c.max, &value) == c.good);
        if (c.good)
            CHECK(value == c.value);
    }
    struct scan s = cursor("25|");
    CHECK(scan_fraction(&s) == Approx(0.25));
    CHECK(*s.at == '|');
    s = cursor("0000000000000000000001");
    CHECK(scan_fraction(&s) == 0);
}

TEST_CASE("scan: lines end in LF or CRLF")
{
    struct scan s = cursor("one\r\ntwo\n\nlast");
    struct scan line = {};
    for (const char *expected : {"one", "two", "", "last"}) {
        REQUIRE(scan_line(&s, &line));
        CHECK(scan_is(line, expected));
    }
    CHECK_FALSE(scan_line(&s, &line));
    CHECK(scan_is(scan_trimmed(cursor(" \t a b ")), "a b"));
    CHECK(scan_is(scan_trimmed(cursor("  ")), ""));
}

TEST_CASE("put: text that does not fit is reported, and the buffer stays terminated")
{
    char out[8];
    struct put p = put_into(out, sizeof(out));
    put_format(&p, "%s", "seven77");
    CHECK(put_result(&p) == 7);
    put_format(&p, "%d", 1);
    CHECK(put_result(&p) == ERR_FULL);
    CHECK(strlen(out) == 7);
    p = put_into(out, 0);
    CHECK(put_result(&p) == ERR_FULL);
}
