// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/scaled_clock.h"

#include <catch2/catch.hpp>

#include "stream/playout/film_clock.h"
#include "tests/support/playout_rig.hpp"

TEST_CASE("scaled_clock: the next frame is the next one held, and a late one moves the clock")
{
    const usec_t ms = playout_rig::ms;
    playout_rig r(film_clock);
    auto at = [&r](usec_t now) { return r.word(scaled_clock_step(&r.c, r.b, false, 0, now * ms)); };
    r.push(0, true);
    r.begin(0, 1000);
    media_clock_set_speed(&r.c.media, 2 * MEDIA_CLOCK_UNIT, 1000 * ms);
    CHECK(at(900) == "wait 940");
    CHECK(at(940) == "show 1000");
    r.take();
    CHECK(at(2000) == "wait"); // no frame is missed
    r.push(40, true);
    CHECK(at(2500) == "wait 2940"); // 4 s of media at twice the speed
    CHECK(at(3500) == "show 3000"); // late,
    r.take();
    r.push(50, true);
    CHECK(at(3500) == "wait 3940"); // so that frame 50 is due half a second after it, not at 3500
    r.take();
    playout_buffer_end(r.b);
    CHECK(at(4000) == "end");
}
