// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/policy/capture_line.h"

#include <catch2/catch.hpp>

#include <vector>

namespace
{

const usec_t WALL = 1700000000 * USEC_PER_SEC;
const usec_t MS = USEC_PER_MSEC;

} // namespace

TEST_CASE("capture_line: audio is captured with the frames of its media time")
{
    capture_line l{};
    CHECK(capture_line_at(&l, 0) == 0); // no frame has come
    capture_line_stamped(&l, 40 * MS, WALL + 2040 * MS);
    CHECK(capture_line_at(&l, 40 * MS) == WALL + 2040 * MS);
    CHECK(capture_line_at(&l, 90 * MS) == WALL + 2090 * MS); // audio that is ahead
    CHECK(capture_line_at(&l, 20 * MS) == WALL + 2020 * MS);
    capture_line_stamped(&l, 80 * MS, WALL + 9080 * MS); // the film was paused
    CHECK(capture_line_at(&l, 90 * MS) == WALL + 9090 * MS);
    capture_line_begin(&l);
    CHECK(capture_line_at(&l, 90 * MS) == 0);
}

TEST_CASE("capture_line: frames that name no capture time: the fastest of the last 10 s counts")
{
    capture_line l{};
    struct row {
        usec_t media, arrived, captured; // ms, from WALL on
    };
    const std::vector<row> table = {
        {0, 100, 100},         {40, 150, 140}, // 10 ms late
        {80, 170, 170},                        // the fastest
        {120, 900, 210},                       // late
        {160, 260, 250},                       //
        {200, 3500, 3500},                     // later by more than 3 s: the origin has stood still
        {240, 3400, 3400},                     // or it had not
        {10000, 13180, 13160},                 // the minimum is kept for 10 s at least
        {30000, 33200, 33200},                 // its clock is slower: after 20 s it counts no more
    };
    for (const row &t : table)
        CHECK(capture_line_arrived(&l, t.media * MS, WALL + t.arrived * MS) ==
              WALL + t.captured * MS);
    CHECK(capture_line_at(&l, 30100 * MS) == WALL + 33300 * MS);
}
