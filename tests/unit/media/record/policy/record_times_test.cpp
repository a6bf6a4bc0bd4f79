// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/policy/record_times.h"

#include <catch2/catch.hpp>
#include <vector>

namespace
{

const usec_t FRAME = 40000;

struct row {
    int shown; // in frames
    usec_t time, decode;
};

void check(usec_t delay, const std::vector<row> &rows)
{
    struct record_times t = {};
    t.delay = delay;
    for (const row &r : rows) {
        usec_t time = r.shown * FRAME, decode;
        record_times_frame(&t, &time, &decode);
        INFO(r.shown);
        CHECK(time == r.time);
        CHECK(decode == r.decode);
    }
}

} // namespace

TEST_CASE("record_times: without B frames, a frame is decoded when it is presented")
{
    check(0, {{0, 0, 0}, {1, 40000, 40000}, {4, 160000, 160000}, {4, 161000, 161000}});
}

TEST_CASE("record_times: B frames keep their time, and decoding times ascend")
{
    check(16 * FRAME, {{0, 0, -640000},
                       {3, 120000, -520000},
                       {1, 40000, -519000},
                       {2, 80000, -518000},
                       {6, 240000, -400000},
                       {4, 160000, -399000},
                       {5, 200000, -398000},
                       {40, 1600000, 960000},
                       {5, 961000, 961000}}); // moved by more than the delay
    check(16 * FRAME, {{0, 0, -640000}, {-2, 0, -639000}, {1, 40000, -600000}});
    struct record_times t = {};
    t.delay = 16 * FRAME;
    CHECK(record_times_audio(&t, 700000) == 60000);
}
