// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>

#include "common/base/err.h"
#include "common/wire/utc_time.h"

static int decode(const char *text, double *out)
{
    struct scan s = scan_of(text, strlen(text));
    int err = utc_time_decode(&s, out);
    return err ? err : scan_end(&s) ? 0 : ERR_FULL;
}

TEST_CASE("utc_time: reads and writes times")
{
    static const struct {
        const char *text;
        double seconds;
        const char *written;
    } cases[] = {
        {"19700101T000000Z", 0, "19700101T000000.000Z"},
        {"19961108T142345.25Z", 847463025.25, "19961108T142345.250Z"}, // RFC 2326, 3.7, shortened
        {"20000229T120000Z", 951825600, "20000229T120000.000Z"},
        {"20001231T235959.999Z", 978307199.999, "20001231T235959.999Z"},
        {"20261124T113000.5Z", 1795519800.5, "20261124T113000.500Z"},
        {"21000301T000000Z", 4107542400, "21000301T000000.000Z"},
        {"99991231T235959Z", 253402300799, "99991231T235959.000Z"},
    };
    for (const auto &c : cases) {
        CAPTURE(c.text);
        double got;
        char out[UTC_TIME_TEXT];
        REQUIRE(decode(c.text, &got) == 0);
        CHECK(got == Approx(c.seconds).epsilon(0).margin(1e-5));
        utc_time_encode(c.seconds, out);
        CHECK(std::string(out) == c.written);
    }
}

TEST_CASE("utc_time: refuses what is no time")
{
    static const char *const cases[] = {
        "",
        "20261124",
        "20261124T1130Z",
        "20261124T113000",
        "20261324T113000Z",
        "20260229T113000Z", // no leap year
        "21000229T113000Z",
        "20261124T243000Z",
        "20261124T116000Z",
        "20261124 113000Z",
        "19691231T235959Z",
        "2026-11-24T11:30:00Z",
    };
    for (const char *text : cases) {
        CAPTURE(text);
        double got;
        CHECK(decode(text, &got) == ERR_MALFORMED);
    }
}

TEST_CASE("utc_time: brings times into its range")
{
    char out[UTC_TIME_TEXT];
    utc_time_encode(-5, out);
    CHECK(std::string(out) == "19700101T000000.000Z");
    utc_time_encode(1e18, out);
    CHECK(std::string(out) == "99991231T235959.000Z");
}
