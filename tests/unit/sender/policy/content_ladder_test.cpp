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
    t.sizes[0] = {
        {320, 180, {30, 1}, 3},
        {{42, 60000 * factor, .8}, {32, 120000 * factor, .9}, {22, 240000 * factor, .92}}};
    t.sizes[1] = {
        {640, 360, {30, 1}, 3},
        {{42, 200000 * factor, .85}, {32, 400000 * factor, .97}, {22, 800000 * factor, .99}}};
    return t;
}

void check_order(const content_ladder &made)
{
    const ladder &l = made.ladder;
    CHECK(ladder_is_valid(&l));
    CHECK(l.size_count == l.level_count);
    for (int i = 0; i < l.size_count; i++) {
        INFO("size " << i);
        CHECK(l.levels[i].size_id == i);
        CHECK(made.finest[i] >= 12);
        CHECK(made.finest[i] <= 51);
        CHECK((i == 0 || l.levels[i].bitrate_bps > 1.15 * l.levels[i - 1].bitrate_bps));
    }
}

} // namespace

TEST_CASE("content_ladder: the top has what the source needs, the lowest 80 kbit/s")
{
    ladder fixed = fixed_ladder();
    content_ladder made = {};
    content_table t = table_of(1);
    REQUIRE(content_ladder_choose(&t, &fixed, &made) == 0);
    check_order(made);
    // .985 is 18.24 dB, between 15.23 dB at 400 and 20 dB at 800 kbit/s: at 400 * 2^.63 = 619, and
    // 32 - 6.3 is the quantiser. The rate is a fifth above the film's bits.
    const ladder &l = made.ladder;
    const level &top = l.levels[l.level_count - 1];
    CHECK(l.sizes[top.size_id].width == 640);
    CHECK(top.bitrate_bps >= 738000);
    CHECK(top.bitrate_bps <= 748000);
    CHECK(made.finest[top.size_id] >= 25.6);
    CHECK(made.finest[top.size_id] <= 25.8);
    // At 80 / 1.2 = 67 kbit/s the large size was not measured; the small one has 42 - 10 * .152.
    CHECK(l.sizes[0].width == 320);
    CHECK(l.levels[0].bitrate_bps == 80000);
    CHECK(made.finest[0] >= 40.4);
    CHECK(made.finest[0] <= 40.6);
}

TEST_CASE("content_ladder: a film that needs more gets the bits of the fixed top")
{
    ladder fixed = fixed_ladder();
    content_ladder made = {};
    content_table t = table_of(2.5);
    REQUIRE(content_ladder_choose(&t, &fixed, &made) == 0);
    check_order(made);
    const level &top = made.ladder.levels[made.ladder.level_count - 1];
    CHECK(top.bitrate_bps >= 1080000);
    CHECK(top.bitrate_bps <= 1085000);
}

TEST_CASE("content_ladder: a film that needs little has levels below 80 kbit/s")
{
    ladder fixed = fixed_ladder();
    content_ladder made = {};
    content_table t = table_of(0.2);
    REQUIRE(content_ladder_choose(&t, &fixed, &made) == 0);
    check_order(made);
    CHECK(made.ladder.level_count >= 2);
    CHECK(made.ladder.levels[0].bitrate_bps < 80000);
    CHECK(made.ladder.levels[made.ladder.level_count - 1].bitrate_bps < 160000);
    t = table_of(0.001); // nothing moves: not even the lowest rate is needed
    REQUIRE(content_ladder_choose(&t, &fixed, &made) == 0);
    check_order(made);
    CHECK(made.ladder.levels[0].bitrate_bps == 16000);
    CHECK(made.ladder.levels[made.ladder.level_count - 1].bitrate_bps == 48000);
}

TEST_CASE("content_ladder: all sizes together cost about what those of the fixed ladder cost")
{
    ladder fixed = fixed_ladder();
    content_ladder made = {};
    content_table t = table_of(1);
    // The large size looks better anywhere: it would have all levels, at twice the cost.
    for (content_point &p : t.sizes[0].points)
        p.ssim -= .05;
    for (content_point &p : t.sizes[1].points)
        p.bps /= 3;
    fixed.levels[1].bitrate_bps = 500000;
    REQUIRE(content_ladder_choose(&t, &fixed, &made) == 0);
    check_order(made);
    double cost = 0, of_fixed = 0;
    auto add = [](const ladder &l, double *sum) {
        for (int i = 0; i < l.size_count; i++)
            *sum += l.sizes[i].width * l.sizes[i].height * 30.0;
    };
    add(made.ladder, &cost);
    add(fixed, &of_fixed);
    CHECK(made.ladder.sizes[0].width == 320);
    CHECK(cost <= 1.3 * of_fixed);
}

TEST_CASE("content_ladder: a table without a quality to gain has no ladder")
{
    ladder fixed = fixed_ladder();
    content_ladder made = {};
    content_table t = table_of(1);
    for (content_size &s : t.sizes)
        for (content_point &p : s.points)
            p.ssim = .9;
    CHECK(content_ladder_choose(&t, &fixed, &made) == ERR_RANGE);
}
