// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/clock.h"

#include <catch2/catch.hpp>

TEST_CASE("clock: the steady wall clock goes on as the monotonic one does")
{
    const usec_t from = clock_now();
    const usec_t first = clock_wall_steady();
    const usec_t between = clock_now();
    const usec_t second = clock_wall_steady();
    const usec_t to = clock_now();
    CHECK(first >= USEC_PER_SEC * 1600000000); // of this program's years
    CHECK(second >= first);
    CHECK(second - first <= to - from);
    CHECK(clock_wall_steady() - first >= to - between);
}
