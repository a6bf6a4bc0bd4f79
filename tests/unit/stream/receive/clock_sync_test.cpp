// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/receive/clock_sync.h"

#include <catch2/catch.hpp>

TEST_CASE("clock sync: the sample with the smallest round trip applies")
{
    struct clock_sync c = {};
    CHECK_FALSE(c.known);
    CHECK(clock_sync_sample(&c, 1000, 6500, 2000)); // halfway is 1500 here and 6500 there
    CHECK(c.known);
    CHECK(c.offset == 5000);
    CHECK(c.least_rtt == 1000);
    CHECK_FALSE(clock_sync_sample(&c, 5000, 11000, 7000)); // a longer way tells less
    CHECK(c.offset == 5000);
    CHECK(clock_sync_sample(&c, 9000, 14150, 9100));
    CHECK(c.offset == 5100);
    CHECK(c.least_rtt == 100);
    CHECK_FALSE(clock_sync_sample(&c, 9000, 14150, 8000)); // our clock was set back
}

TEST_CASE("clock sync: a sample ages by 200 ppm")
{
    const usec_t sec = USEC_PER_SEC;
    struct {
        usec_t after, rtt; // of the second sample
        bool better;
    } const table[] = {
        {0, 998, false},         {1 * sec, 1397, true}, // 998 + 2 * 200 us by then
        {1 * sec, 1398, false},  {10 * sec, 4997, true},
        {10 * sec, 4998, false}, {-5 * sec, 998, false}, // our clock was set back
    };
    for (const auto &row : table) {
        struct clock_sync c = {};
        CHECK(clock_sync_sample(&c, 10 * sec, 0, 10 * sec + 998));
        usec_t received = 10 * sec + 998 + row.after;
        INFO("after " << row.after << ", " << row.rtt);
        CHECK(clock_sync_sample(&c, received - row.rtt, 0, received) == row.better);
    }
}

TEST_CASE("clock sync: on one machine's clock nothing is estimated")
{
    struct clock_sync c = {};
    clock_sync_shared(&c);
    CHECK(c.known);
    CHECK_FALSE(clock_sync_sample(&c, 0, 500000, 10));
    CHECK(c.offset == 0);
    CHECK(c.shared);
}
