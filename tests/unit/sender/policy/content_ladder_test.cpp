// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/content_ladder.h"

#include <catch2/catch.hpp>

#include "common/base/err.h"

namespace
{

ladder fixed_ladder()
{
    ladder l = {};
    l.source_fps = {30, 1};
    l.source_width = 640;
    l.source_height = 360;
    l.size_count = 2;
    l.sizes[0] = {320, 180, {30, 1}, 3};
    l.sizes[1] = {640, 360, {30, 1}, 3};
    l.level_count = 2;
    l.levels[0] = {0, 2, 320000};
    l.levels[1] = {1, 2, 960000};
    return l;
}

// SSIM of .9, .99 and .999 is 10, 20 and 30 dB. The small size never looks as the source does.
content_table table_of(double factor)
{
    content_table t = {};
    t.count = 2;
    t.sizes[0] = {{320, 180, {30, 1}, 3},
                  .8,
                  {{50000 * factor, .75},
                   {100000 * factor, .9},
                   {200000 * factor, .92},
                   {400000 * factor, .925}}};
    t.sizes[1] = {{640, 360, {30, 1}, 3},
                  .8,
                  {{150000 * factor, .8},
                   {300000 * factor, .968},
                   {600000 * factor, .99},
                   {1200000 * factor, .999}}};
    return t;
}

} // namespace

TEST_CASE("content_ladder: the top has what the source needs, the lowest 80 kbit/s")
{
    ladder fixed = fixed_ladder(), l = {};
    content_table t = table_of(1);
    REQUIRE(content_ladder_choose(&t, &fixed, &l) == 0);
    // .985 is 18.24 dB, between 14.95 dB at 300 and 20 dB at 600 kbit/s: at 300 * 2^.65.
    const level &top = l.levels[l.level_count - 1];
    CHECK(l.sizes[top.size_id].width == 640);
    CHECK(top.bitrate_bps >= 465000);
    CHECK(top.bitrate_bps <= 475000);
    // At 80 / .8 = 100 kbit/s the small size has 10 dB, the large one was not measured as low.
    CHECK(l.sizes[0].width == 320);
    CHECK(l.levels[0].bitrate_bps == 80000);
    CHECK(l.levels[0].temporal_id == 1);
    CHECK(l.levels[1].bitrate_bps == 100000);
    for (int i = 1; i < l.level_count; i++)
        CHECK(l.levels[i].bitrate_bps >= 1.17 * l.levels[i - 1].bitrate_bps);
}

TEST_CASE("content_ladder: a film that needs more gets the rate of the fixed top")
{
    ladder fixed = fixed_ladder(), l = {};
    content_table t = table_of(2.5);
    REQUIRE(content_ladder_choose(&t, &fixed, &l) == 0);
    CHECK(l.levels[l.level_count - 1].bitrate_bps == 960000);
}

TEST_CASE("content_ladder: a table without a quality to gain has no ladder")
{
    ladder fixed = fixed_ladder(), l = {};
    content_table t = table_of(1);
    for (content_size &s : t.sizes)
        for (content_point &p : s.points)
            p.ssim = .9;
    CHECK(content_ladder_choose(&t, &fixed, &l) == ERR_RANGE);
}
