// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/immediate_clock.h"

#include <catch2/catch.hpp>

#include "tests/support/playout_rig.hpp"

TEST_CASE("immediate_clock: a frame is due when it is whole")
{
    playout_rig r(immediate_clock);
    r.push(0, true);
    r.push(1);
    r.begin(0, 1000);
    for (int n : {0, 1}) {
        clock_step s = immediate_clock.step(&r.c, r.b, false, 0, 0);
        CHECK(s.kind == STEP_SHOW);
        CHECK(s.at < 0); // long ago
        CHECK(r.take() == n);
    }
    r.push(3, false, 5000); // it depends on frame 2, which may be sent again
    CHECK(r.at(5000) == "wait 5500");
    r.push(4, true, 5000);
    CHECK(r.at(5000) == "pass 2");
}

TEST_CASE("immediate_clock: the next frame is expected one interval after the last one left")
{
    playout_rig r(immediate_clock);
    r.push(0, true);
    r.begin(0, 9000); // the media clock is not read
    r.take(2000);
    CHECK(r.at(2000) == "wait 2400");
    CHECK(r.at(2400) == "stall 2100");
    CHECK(r.stalled(2500) == "wait");
    r.push(1);
    CHECK(r.stalled(2500) == "resume");
    r.take(2500);
    playout_buffer_end(r.b);
    CHECK(r.at(2599) == "wait 2600");
    CHECK(r.at(2600) == "end");
}

TEST_CASE("immediate_clock: it has no line, skips nothing, and begins at a key frame")
{
    play_clock c{};
    CHECK(immediate_clock.line(&c, false) == nullptr);
    CHECK(immediate_clock.skip_target == nullptr);
    CHECK(immediate_clock.begins_at_key);
}
