// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "stream/qoe/active_time.h"

TEST_CASE("active_time: stops while the viewer pauses")
{
    const usec_t s = USEC_PER_SEC;
    active_time c{};
    CHECK(active_time_read(&c, 10 * s) == 10 * s);
    CHECK_FALSE(active_time_set(&c, false, 10 * s));
    CHECK(active_time_set(&c, true, 12 * s));
    CHECK(active_time_read(&c, 12 * s) == 12 * s);
    CHECK(active_time_read(&c, 20 * s) == 12 * s);
    CHECK_FALSE(active_time_set(&c, true, 21 * s));
    CHECK(active_time_set(&c, false, 22 * s));
    CHECK(active_time_read(&c, 23 * s) == 13 * s);
    CHECK(active_time_set(&c, true, 24 * s));
    CHECK(active_time_set(&c, false, 25 * s));
    CHECK(active_time_read(&c, 30 * s) == 19 * s);
    // 11 s by this clock was at 11 s, before the pauses.
    CHECK(active_time_seconds(&c, 11 * s, 30 * s) == Approx(8));
    CHECK(active_time_seconds(&c, 11 * s, 21 * s) == 0); // reported late
}
