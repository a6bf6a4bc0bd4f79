// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/play_clock.h"

#include <catch2/catch.hpp>

#include "stream/playout/film_clock.h"
#include "tests/support/playout_rig.hpp"

TEST_CASE("play_clock: when the first frame is to be decoded")
{
    const usec_t ms = playout_rig::ms;
    playout_rig r(film_clock);
    r.push(3, true);
    r.begin(3, 1000);
    playout_front front = playout_buffer_front(r.b);
    auto wanted = [&] { return play_clock_wanted(&r.c, &r.c.media, r.b, &front) / ms; };
    CHECK(wanted() == 940); // decode_lead before it is due
    front.first_pts -= 200 * ms;
    CHECK(wanted() == 740); // a frame that waits for it is shown before it
    front.waits = true;
    CHECK(wanted() == 800); // what it depends on may come until then
    r.c.hurried = 3;
    CHECK(wanted() < 0);
    CHECK(clock_step_wait(7).kind == STEP_WAIT);
    CHECK(clock_step_wait(7).at == 7);
}
