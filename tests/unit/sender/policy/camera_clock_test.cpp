// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/camera_clock.h"

#include <catch2/catch.hpp>

namespace
{

constexpr usec_t MS = USEC_PER_MSEC, S = USEC_PER_SEC;
constexpr usec_t WALL = 1000 * S; // our wall clock minus the monotonic one

struct clock_case {
    camera_clock c;
    clock_case()
    {
        camera_clock_init(&c);
        camera_clock_begin(&c);
    }
    // A picture of the camera's time `ms`, after `first` of its clock.
    camera_time at(int64_t ms, usec_t arrived, uint32_t first = 4294967000U)
    {
        return camera_clock_picture(&c, first + (uint32_t)(ms * 90), arrived, WALL);
    }
};

} // namespace

TEST_CASE("a camera's time stamps are put on this machine's clock")
{
    // What is late on the network moves no picture; the fastest one counts as captured when it
    // came.
    const struct {
        int64_t ms;
        usec_t arrived, media, captured;
    } table[] = {{0, 5 * S, 0, 5 * S},
                 {40, 5 * S + 70 * MS, 40 * MS, 5 * S + 40 * MS},
                 {80, 5 * S + 75 * MS, 80 * MS, 5 * S + 75 * MS}, // faster than the first by 5 ms
                 {120, 5 * S + 300 * MS, 120 * MS, 5 * S + 115 * MS}};
    clock_case c;
    for (const auto &row : table) {
        camera_time t = c.at(row.ms, row.arrived);
        CHECK(t.media == row.media);
        CHECK(t.captured == row.captured);
    }
}

TEST_CASE("a camera that was away continues the time line where the clock is")
{
    clock_case c;
    (void)c.at(0, 5 * S);
    (void)c.at(40, 5 * S + 40 * MS);
    camera_clock_begin(&c.c);
    camera_time t = c.at(7, 65 * S + 40 * MS, 12345);
    CHECK(t.media == 60 * S + 40 * MS);
    CHECK(t.captured == 65 * S + 40 * MS);
}

TEST_CASE("a time stamp that leaps begins anew")
{
    for (int64_t leap : {-10000, -3500, 3500, 9000}) {
        clock_case c;
        (void)c.at(0, 5 * S);
        camera_time t = c.at(40 + leap, 5 * S + 40 * MS);
        CHECK(t.media == 40 * MS);
        CHECK(t.captured == 5 * S + 40 * MS);
        t = c.at(80 + leap, 5 * S + 80 * MS);
        CHECK(t.media == 80 * MS);
    }
}

TEST_CASE("a camera's own word for the time of capture")
{
    // The report says when the picture of time stamp 0 was captured; it arrived at 5 s.
    const struct {
        usec_t told, captured;
    } table[] = {
        {4 * S + 800 * MS, 4 * S + 800 * MS}, // 200 ms before it arrived
        {5 * S + 15 * MS, 5 * S},             // two synchronised clocks differ a little
        {5 * S + 50 * MS, 5 * S},             // captured after it arrived: the clocks disagree
        {3 * S, 5 * S},                       // 2 s before: so do they
        {-500 * S, 5 * S},
    };
    for (const auto &row : table) {
        clock_case c;
        camera_clock_report(&c.c, row.told + WALL, 4294967000U);
        camera_time t = c.at(0, 5 * S);
        CHECK(t.captured == row.captured);
        CHECK(t.media == 0);
    }
}
