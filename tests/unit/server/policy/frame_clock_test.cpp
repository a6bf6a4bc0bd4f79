// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/frame_clock.h"

#include <catch2/catch.hpp>

#include <vector>

namespace
{
std::vector<usec_t> ticks(frame_clock *c, usec_t now)
{
    std::vector<usec_t> all;
    int64_t number;
    usec_t due;
    while (frame_clock_tick(c, &number, &due, now))
        all.push_back(due);
    return all;
}
} // namespace

TEST_CASE("frame_clock: numbers are due at their times, at any speed")
{
    frame_clock c;
    frame_clock_init(&c, {10, 1});
    frame_clock_start(&c, 1000);
    CHECK(ticks(&c, 999).empty());
    CHECK(ticks(&c, 1000) == std::vector<usec_t>{1000});
    CHECK(frame_clock_next(&c) == 101001);
    CHECK(ticks(&c, 250000) == std::vector<usec_t>{101000, 201000});
    frame_clock_set_speed(&c, 2); // the next stays where it was
    CHECK(ticks(&c, 400000) == std::vector<usec_t>{301000, 351000});
    CHECK(c.number == 5);
}

TEST_CASE("frame_clock: no drift if an interval is not a whole number of microseconds")
{
    frame_clock c;
    frame_clock_init(&c, {30, 1});
    frame_clock_start(&c, 0);
    for (usec_t now = 0; now < 100 * USEC_PER_SEC; now += 10000)
        ticks(&c, now);
    CHECK(c.number == 3000);
}

TEST_CASE("frame_clock: half a second late it catches up, later it restarts the time line")
{
    frame_clock c;
    frame_clock_init(&c, {10, 1});
    frame_clock_start(&c, 0);
    CHECK(ticks(&c, 500000).size() == 6);
    CHECK(ticks(&c, 1200000) == std::vector<usec_t>{1200000});
    CHECK(c.number == 7); // no number is left out
}
