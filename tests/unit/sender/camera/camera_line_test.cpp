// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/camera/camera_line.h"

#include <catch2/catch.hpp>

#include "sender/policy/camera_pair.h"

namespace
{
const usec_t MS = USEC_PER_MSEC, S = USEC_PER_SEC;

// A picture that came at `arrived`; `captured`: camera_clock's word, `by_arrival` before that.
camera_time at(usec_t captured, usec_t by_arrival)
{
    camera_time t{};
    t.captured = captured;
    t.by_arrival = by_arrival;
    return t;
}
camera_time told(usec_t captured, usec_t by_arrival, usec_t wall)
{
    camera_time t = at(captured, by_arrival);
    t.has_wall = true;
    t.wall = wall;
    return t;
}
} // namespace

TEST_CASE("camera_line: the camera's clock relates both streams if both tell it")
{
    const usec_t AHEAD = 1000 * S; // of the camera's clock
    const struct {
        int stream;
        camera_time t;
        usec_t arrived, captured;
    } table[] = {
        // Arrivals, while one has no reports; that of main alone is not used.
        {CAMERA_SUB, at(10 * S, 10 * S), 10 * S, 10 * S},
        {CAMERA_MAIN, told(9900 * MS, 10 * S, 9900 * MS + AHEAD), 10 * S, 10 * S},
        // Both tell: main's own time, and the sub stream's 300 ms before its arrival.
        {CAMERA_SUB, told(11 * S, 11 * S, 10700 * MS + AHEAD), 11 * S, 11 * S},
        {CAMERA_MAIN, told(10900 * MS, 11 * S, 10900 * MS + AHEAD), 11 * S, 10900 * MS},
        {CAMERA_SUB, told(12 * S, 12 * S, 11700 * MS + AHEAD), 12 * S, 11700 * MS},
        // A clock that is wrong: main counts as captured when it came.
        {CAMERA_MAIN, told(13 * S, 13 * S, 12900 * MS + 7 * AHEAD), 13 * S, 13 * S},
        {CAMERA_SUB, told(13 * S, 13 * S, 12500 * MS + 7 * AHEAD), 13 * S, 12600 * MS},
        // Not after the arrival, and no leap.
        {CAMERA_SUB, told(13 * S, 13 * S, 12950 * MS + 7 * AHEAD), 13 * S, 13 * S},
        {CAMERA_SUB, told(13 * S, 13 * S, 11 * S + 7 * AHEAD), 13 * S, 13 * S},
        {CAMERA_SUB, told(13 * S, 13 * S, 15 * S + 7 * AHEAD), 13 * S, 13 * S},
        // Main came back, and has not told it again.
        {CAMERA_MAIN, at(14 * S, 14 * S), 14 * S, 14 * S},
        {CAMERA_SUB, told(14 * S, 14 * S, 13500 * MS + 7 * AHEAD), 14 * S, 14 * S},
    };
    camera_line *l = camera_line_new(5 * S);
    REQUIRE(l);
    CHECK(camera_line_origin(l) == 5 * S);
    CHECK(camera_line_origin(nullptr) == 0);
    CHECK(camera_line_ref(l) == l);
    camera_line_unref(l);
    int row = 0;
    for (const auto &r : table) {
        INFO("row " << row++);
        CHECK(camera_line_capture(l, r.stream, &r.t, r.arrived) == r.captured);
    }
    camera_line_unref(l);
    camera_line_unref(nullptr);
}
