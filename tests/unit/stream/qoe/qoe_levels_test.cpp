// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cmath>
#include <memory>

#include "stream/qoe/qoe_levels.h"
#include "tests/support/two_levels.hpp"

TEST_CASE("qoe_levels: time counts for the current level")
{
    const usec_t ms = USEC_PER_MSEC;
    ladder l{};
    l.level_count = 2;
    qoe_levels t{};
    qoe_levels_count(&t, &l, 900 * ms); // no level is current yet
    qoe_levels_show(&t, &l, 1, 1000 * ms);
    qoe_levels_show(&t, &l, 1, 1100 * ms);
    qoe_levels_show(&t, &l, 0, 1300 * ms);
    qoe_levels_show(&t, &l, -1, 1700 * ms); // not known: counts for none
    qoe_levels_show(&t, &l, 2, 1800 * ms);  // the ladder has no such level
    qoe_levels_show(&t, &l, 1, 2000 * ms);
    CHECK(t.seconds[0] == Approx(0.4));
    CHECK(t.seconds[1] == Approx(0.3));
    qoe_levels_count(&t, &l, 2050 * ms);
    qoe_levels_count(&t, &l, 2050 * ms);
    CHECK(t.seconds[1] == Approx(0.35));
    CHECK(t.seconds[2] == 0);
}

TEST_CASE("qoe_levels: the report has the means over time, and the switches")
{
    ladder l = two_levels();
    auto t = std::make_unique<qoe_levels>();
    auto out = std::make_unique<qoe_json>();
    qoe_levels_read(t.get(), &l, out.get(), 0);
    CHECK(out->levels.count == 2);
    CHECK(std::isnan(out->levels.mean)); // no level was current
    CHECK(out->levels.switch_count == 0);

    qoe_switch first = {-1, 1, "user"}, second = {1, 0, "network"};
    qoe_levels_switch(t.get(), &first, 0.5);
    qoe_levels_show(t.get(), &l, 1, 1 * USEC_PER_SEC);
    qoe_levels_switch(t.get(), &second, 3.5);
    qoe_levels_show(t.get(), &l, 0, 4 * USEC_PER_SEC);
    qoe_levels_read(t.get(), &l, out.get(), 5 * USEC_PER_SEC);
    CHECK(out->levels.time_at[0] == Approx(1));
    CHECK(out->levels.time_at[1] == Approx(3));
    CHECK(out->levels.mean == Approx(0.75));
    double rate = (level_frame_rate(&l, 0) + 3 * level_frame_rate(&l, 1)) / 4;
    CHECK(out->playback.encoded_frame_rate == Approx(rate));
    REQUIRE(out->levels.listed == 2);
    CHECK(out->levels.switches[1].at == 3.5);
    CHECK(out->levels.switches[1].to == 0);
}

TEST_CASE("qoe_levels: more switches than the list holds are counted")
{
    ladder l{};
    auto t = std::make_unique<qoe_levels>();
    auto out = std::make_unique<qoe_json>();
    qoe_switch e = {0, 1, "user"};
    for (int i = 0; i < QOE_MAX_LIST + 3; i++)
        qoe_levels_switch(t.get(), &e, i);
    qoe_levels_read(t.get(), &l, out.get(), 0);
    CHECK(out->levels.switch_count == QOE_MAX_LIST + 3);
    CHECK(out->levels.listed == QOE_MAX_LIST);
}

TEST_CASE("qoe_level_fps: the rate of the level, or of the source")
{
    ladder l = two_levels();
    CHECK(qoe_level_fps(&l, 0) == level_frame_rate(&l, 0));
    CHECK(qoe_level_fps(&l, 7) == fps_value(l.source_fps));
    ladder none{};
    CHECK(qoe_level_fps(&none, 0) == 0);
}
