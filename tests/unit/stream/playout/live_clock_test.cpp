// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/live_clock.h"

#include <catch2/catch.hpp>

#include "tests/support/playout_rig.hpp"

TEST_CASE("live_clock: a late frame is shown at once, and moves no clock")
{
    playout_rig r(live_clock);
    r.push(0, true);
    r.push(1);
    r.begin(0, 1000);
    CHECK(r.at(900) == "wait 940");
    CHECK(r.at(1000) == "show 1000");
    r.take();
    CHECK(r.at(1500) == "show 1100");
    CHECK(r.c.media.at == 1000 * playout_rig::ms);
}

TEST_CASE("live_clock: a missing frame is passed over when the next one has to be decoded")
{
    playout_rig r(live_clock);
    r.push(0, true);
    r.begin(0, 1000);
    r.take();
    r.push(2); // frame 1 is missing, on which none depends
    CHECK(r.at(1100) == "wait 1185");
    CHECK(r.at(1185) == "pass 1");
    playout_buffer_pass(r.b, 1, 0);
    CHECK(r.at(1185) == "show 1200");
    r.take();

    SECTION("not if nothing can be decoded without it, for LIVE_CLOCK_REPAIR")
    {
        r.push(5, false, 1400);
        CHECK(r.at(1600) == "wait 1900");
        CHECK(r.at(1900) == "pass 3");
    }
    SECTION("at once if no more comes")
    {
        r.push(5, false, 1400);
        playout_buffer_end(r.b);
        CHECK(r.at(1400) == "pass 3");
    }
    SECTION("a key frame is held")
    {
        r.push(5, false, 1400);
        r.push(6, true, 1400);
        CHECK(r.at(1600) == "pass 3");
    }
}

TEST_CASE("live_clock: a stall begins three intervals late, and ends with the next frame")
{
    playout_rig r(live_clock);
    r.push(0, true);
    r.begin(0, 1000);
    r.take(940);
    CHECK(r.at(1000) == "wait 1400"); // frame 1 is due at 1100
    CHECK(r.at(1400) == "stall 1100");
    CHECK(r.stalled(1500) == "wait");
    r.push(1);
    CHECK(r.stalled(1600) == "resume");
    CHECK(r.at(1600) == "show 1100");
    r.take(1600);
    CHECK(r.at(1600) == "wait 2000"); // frame 2 is expected one interval after frame 1 left
    playout_buffer_end(r.b);
    CHECK(r.at(1699) == "wait 1700");
    CHECK(r.at(1700) == "end");
    CHECK(r.stalled(1700) == "resume");
}

TEST_CASE("live_clock: the clock runs through a stall; where it is astray the next frame sets it")
{
    playout_rig r(live_clock);
    r.push(0, true);
    r.begin(0, 1000);
    r.take(1000);
    CHECK(live_clock.line(&r.c, true) == &r.c.media);
    r.c.astray = true;
    CHECK(live_clock.line(&r.c, true) == nullptr);
    CHECK(live_clock.line(&r.c, false) == &r.c.media);
    r.push(1);
    CHECK(r.stalled(5000) == "resume");
    CHECK(r.at(5000) == "show 5000");
    CHECK_FALSE(r.c.astray);
}

TEST_CASE("live_clock: a skip goes to the last frame up to which nothing is missing")
{
    const usec_t ms = playout_rig::ms;
    playout_rig r(live_clock);
    r.push(0, true);
    r.begin(0, 0);
    r.take();
    for (int n : {1, 2, 3, 5, 6})
        r.push(n);
    CHECK(live_clock.skip_target(r.b, 1, 10000 * ms) == 3);
    CHECK(live_clock.skip_target(r.b, 1, 100 * ms) == 2);
    r.push(8, true); // but a key frame needs none of them
    CHECK(live_clock.skip_target(r.b, 1, 10000 * ms) == 3);
    r.push(4);
    CHECK(live_clock.skip_target(r.b, 1, 10000 * ms) == 8);
    CHECK(live_clock.skip_target(r.b, 9, 10000 * ms) == -1);
}
