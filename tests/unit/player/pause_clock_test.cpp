// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "player/pause_clock.h"

TEST_CASE("pause_clock: stands still while the viewer pauses")
{
    const usec_t s = USEC_PER_SEC;
    pause_clock c{};
    CHECK(pause_clock_read(&c, 10 * s) == 10 * s);
    CHECK_FALSE(pause_clock_set(&c, false, 10 * s));
    CHECK(pause_clock_set(&c, true, 12 * s));
    CHECK(pause_clock_read(&c, 12 * s) == 12 * s);
    CHECK(pause_clock_read(&c, 20 * s) == 12 * s);
    CHECK_FALSE(pause_clock_set(&c, true, 21 * s));
    CHECK(pause_clock_set(&c, false, 22 * s));
    CHECK(pause_clock_read(&c, 23 * s) == 13 * s);
    CHECK(pause_clock_set(&c, true, 24 * s));
    CHECK(pause_clock_set(&c, false, 25 * s));
    CHECK(pause_clock_read(&c, 30 * s) == 19 * s);
    // 11 s by this clock was at 11 s, before the pauses.
    CHECK(pause_clock_seconds(&c, 11 * s, 30 * s) == Approx(8));
    CHECK(pause_clock_seconds(&c, 11 * s, 21 * s) == 0); // told late
}
