// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/latency/buffer_target.h"

#include <catch2/catch.hpp>

namespace
{
const usec_t ms = USEC_PER_MSEC;
const usec_t sec = USEC_PER_SEC;
} // namespace

TEST_CASE("buffer goal: the larger of share and floor")
{
    buffer_target g;
    buffer_target_init(&g, 0);
    buffer_target_set(&g, 300 * ms, 100 * ms);
    CHECK(buffer_target_update(&g, 1) == 300 * ms);
    buffer_target_set(&g, 50 * ms, 100 * ms);
    CHECK(buffer_target_update(&g, 2) == 100 * ms);
}

TEST_CASE("buffer goal: half as much again a stall, up to four times and one second more")
{
    buffer_target g;
    buffer_target_init(&g, 0);
    buffer_target_set(&g, 200 * ms, 0);
    const usec_t goals[] = {300, 450, 675, 800, 800};
    for (usec_t goal : goals) {
        buffer_target_on_stall(&g, 1 * sec);
        CHECK(buffer_target_update(&g, 1 * sec) == goal * ms);
    }
    buffer_target_set(&g, 3 * sec, 0);
    CHECK(buffer_target_update(&g, 1 * sec) == 4 * sec);
}

TEST_CASE("buffer goal: after 10 s without a late frame it shrinks by 5 % a second to its least")
{
    buffer_target g;
    buffer_target_init(&g, 0);
    buffer_target_set(&g, 200 * ms, 0);
    buffer_target_on_stall(&g, 5 * sec);
    CHECK(buffer_target_update(&g, 14 * sec) == 300 * ms);
    buffer_target_on_late(&g, 14 * sec);
    CHECK(buffer_target_update(&g, 24 * sec) == 300 * ms);
    CHECK(buffer_target_update(&g, 25 * sec) == Approx(285 * ms));
    CHECK(buffer_target_update(&g, 27 * sec) == Approx(300 * ms * 0.95 * 0.95 * 0.95));
    CHECK(buffer_target_update(&g, 32 * sec) == Approx(200 * ms).epsilon(0.05));
    CHECK(buffer_target_update(&g, 60 * sec) == 200 * ms);
}
