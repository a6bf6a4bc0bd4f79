// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <vector>

#include "common/base/level.h"

TEST_CASE("level: the source frames of a size")
{
    const struct {
        struct fps size;
        struct fps source;
        std::vector<int> index; // of source frames 0, 1, 2, ...
    } cases[] = {
        {{30, 1}, {30, 1}, {0, 1, 2, 3}},
        {{15, 1}, {30, 1}, {-1, 0, -1, 1, -1, 2}}, // floor((n+1)/2) steps at odd n
        {{10, 1}, {30, 1}, {-1, -1, 0, -1, -1, 1}},
        {{2, 1}, {3, 1}, {-1, 0, 1, -1, 2, 3}}, // floor(2(n+1)/3) = 0 1 2 2 3 4
        {{30000, 1001}, {30000, 1001}, {0, 1, 2}},
        {{15000, 1001}, {30000, 1001}, {-1, 0, -1, 1}},
    };
    for (const auto &c : cases)
        for (size_t n = 0; n < c.index.size(); n++)
            CHECK(size_index_of_frame(c.size, c.source, (int64_t)n) == c.index[n]);
}

TEST_CASE("level: indices ascend without gaps, also for large numbers")
{
    const struct fps source = {60000, 1001}, size = {24, 1};
    int64_t next = -1;
    for (int64_t n = 5000000000; n < 5000000000 + 100000; n++) {
        int64_t m = size_index_of_frame(size, source, n);
        if (m < 0)
            continue;
        if (next >= 0)
            REQUIRE(m == next);
        next = m + 1;
    }
    // n f / s = 5000100000 * 24 * 1001 / 60000
    CHECK(next == 2002040040);
    CHECK(size_index_of_frame({30, 1}, {30, 1}, INT64_MAX - 1) == INT64_MAX - 1);
}

TEST_CASE("level: dyadic temporal ids")
{
    const struct {
        int layers;
        std::vector<int> ids;
    } cases[] = {
        {1, {0, 0, 0, 0}},
        {2, {0, 1, 0, 1}},
        {3, {0, 2, 1, 2, 0, 2, 1, 2}},
        {4, {0, 3, 2, 3, 1, 3, 2, 3, 0}},
    };
    for (const auto &c : cases)
        for (size_t m = 0; m < c.ids.size(); m++)
            CHECK(layer_temporal_id((int64_t)m, c.layers) == c.ids[m]);
    CHECK(layer_temporal_id(((int64_t)1 << 40) + 2, 3) == 1);
}

static struct ladder ladder_of_two_sizes()
{
    struct ladder l = {};
    l.source_fps = {30, 1};
    l.source_width = 640;
    l.source_height = 360;
    l.size_count = 2;
    l.sizes[0] = {256, 144, {15, 1}, 2};
    l.sizes[1] = {640, 360, {30, 1}, 3};
    l.level_count = 4;
    l.levels[0] = {0, 0, 80000};
    l.levels[1] = {0, 1, 120000};
    l.levels[2] = {1, 1, 640000};
    l.levels[3] = {1, 2, 960000};
    return l;
}

TEST_CASE("level: frames and rates of a ladder's levels")
{
    struct ladder l = ladder_of_two_sizes();
    REQUIRE(ladder_is_valid(&l));
    const char *has[] = {
        // source frames 0 .. 8
        ".x...x...", // every second frame of the size, which has 1, 3, 5, ...
        ".x.x.x.x.",
        "x.x.x.x.x", // T0 and T1 of three layers
        "xxxxxxxxx",
    };
    const double rates[] = {7.5, 15, 15, 30};
    for (int i = 0; i < 4; i++) {
        for (int n = 0; n < 9; n++)
            CHECK(level_has_frame(&l, i, n) == (has[i][n] == 'x'));
        CHECK(level_frame_rate(&l, i) == rates[i]);
    }
    CHECK(ladder_size_bitrate(&l, 0) == 120000);
    CHECK(ladder_size_bitrate(&l, 1) == 960000);
    l.level_count = 2;
    CHECK(ladder_size_bitrate(&l, 1) == 0);
}

TEST_CASE("level: every violated bound is detected")
{
    void (*const breaks[])(struct ladder &) = {
        [](struct ladder &l) { l.source_fps.den = 0; },
        [](struct ladder &l) { l.source_fps.num = -30; },
        [](struct ladder &l) {
            l.source_fps = {2000, 1};
        },
        [](struct ladder &l) {
            l.source_fps = {2000000000, 1999999999};
        },
        [](struct ladder &l) { l.source_width = 0; },
        [](struct ladder &l) { l.source_height = 361; },
        [](struct ladder &l) { l.size_count = 0; },
        [](struct ladder &l) { l.size_count = LADDER_MAX_SIZES + 1; },
        [](struct ladder &l) { l.level_count = 0; },
        [](struct ladder &l) { l.level_count = LADDER_MAX_LEVELS + 1; },
        [](struct ladder &l) { l.sizes[0].width = 255; },
        [](struct ladder &l) { l.sizes[0].height = -144; },
        [](struct ladder &l) { l.sizes[0].width = 20000; },
        [](struct ladder &l) {
            l.sizes[1].fps = {31, 1};
        },
        [](struct ladder &l) { l.sizes[1].fps.den = 0; },
        [](struct ladder &l) { l.sizes[1].layers = 0; },
        [](struct ladder &l) { l.sizes[1].layers = LEVEL_MAX_LAYERS + 1; },
        [](struct ladder &l) { l.levels[0].size_id = 2; },
        [](struct ladder &l) { l.levels[0].size_id = -1; },
        [](struct ladder &l) { l.levels[1].temporal_id = 2; },
        [](struct ladder &l) { l.levels[0].temporal_id = -1; },
        [](struct ladder &l) { l.levels[0].temporal_id = 1; }, // not below the level above
        [](struct ladder &l) { l.levels[0].bitrate_bps = 0; },
        [](struct ladder &l) { l.levels[2].bitrate_bps = 120000; },
    };
    for (auto *breaks_it : breaks) {
        struct ladder l = ladder_of_two_sizes();
        breaks_it(l);
        CHECK_FALSE(ladder_is_valid(&l));
    }
}

TEST_CASE("ladder: a size repeats if the next one has its width and height")
{
    ladder l{};
    l.size_count = 3;
    l.sizes[0] = {160, 90, {15, 1}, 2};
    l.sizes[1] = {160, 90, {30, 1}, 2};
    l.sizes[2] = {160, 92, {30, 1}, 2};
    CHECK(ladder_size_repeats(&l, 0));
    CHECK_FALSE(ladder_size_repeats(&l, 1));
    CHECK_FALSE(ladder_size_repeats(&l, 2));
}
