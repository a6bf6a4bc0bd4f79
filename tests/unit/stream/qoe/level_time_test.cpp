// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "stream/qoe/level_time.h"

TEST_CASE("level_time: what passes is of the level that stands there")
{
    const usec_t ms = USEC_PER_MSEC;
    ladder l{};
    l.level_count = 2;
    level_time t{};
    level_time_count(&t, &l, 900 * ms); // nothing stands there yet
    level_time_show(&t, &l, 1, 1000 * ms);
    level_time_show(&t, &l, 1, 1100 * ms);
    level_time_show(&t, &l, 0, 1300 * ms);
    level_time_show(&t, &l, -1, 1700 * ms); // not known: of no level
    level_time_show(&t, &l, 2, 1800 * ms);  // nor is there one
    level_time_show(&t, &l, 1, 2000 * ms);
    CHECK(t.seconds[0] == Approx(0.4));
    CHECK(t.seconds[1] == Approx(0.3));
    level_time_count(&t, &l, 2050 * ms);
    level_time_count(&t, &l, 2050 * ms);
    CHECK(t.seconds[1] == Approx(0.35));
    CHECK(t.seconds[2] == 0);
}
