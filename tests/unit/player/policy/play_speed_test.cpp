// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/play_speed.h"

#include <catch2/catch.hpp>

TEST_CASE("play speed: steps of a quarter, within the limits")
{
    struct {
        double from;
        int steps;
        double to;
    } const rows[] = {{1, 1, 1.25},   {1, -1, .75}, {1, 2, 1.5},   {1.75, 1, 2},
                      {2, 1, 2},      {.5, -1, .5}, {1, 100, 2},   {1, -100, .5},
                      {1.1, 1, 1.25}, {1.1, -1, 1}, {.66, 1, .75}, {.66, -1, .5}};
    for (const auto &row : rows) {
        CAPTURE(row.from, row.steps);
        CHECK(play_speed_by(row.from, row.steps) == row.to);
    }
    CHECK(play_speed_limit(1.333) == Approx(1.33));
    CHECK(play_speed_limit(9) == 2);
    CHECK(play_speed_limit(0) == .5);
}
