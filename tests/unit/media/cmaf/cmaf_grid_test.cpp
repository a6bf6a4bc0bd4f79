// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "tests/support/coded_stream.hpp"

#include "media/cmaf/cmaf_grid.h"

TEST_CASE("cmaf_grid: segments hold whole periods of layers, and four parts")
{
    struct {
        int rate, layers, seconds;
        int64_t frames;
        int parts;
        double part_target_of_level[2]; // all frames; the base layer
    } const rows[] = {
        {30, 2, 2, 60, 4, {0.5, 16 / 30.}},
        {25, 2, 2, 50, 4, {13 / 25., 14 / 25.}},
        {30, 3, 2, 60, 4, {0.5, 16 / 30.}},
        {25, 3, 1, 24, 2, {12 / 25., 12 / 25.}}, // 25 is no multiple of 4
        {5, 1, 1, 5, 2, {3 / 5., 3 / 5.}},
        {30, 2, 10, 300, 20, {0.5, 16 / 30.}},
    };
    for (auto &r : rows) {
        INFO(r.rate << " frames/s, " << r.layers << " layers, " << r.seconds << " s");
        ladder l = one_size(160, 96, r.rate, r.layers, {{0, 100000}, {r.layers - 1, 200000}});
        if (r.layers == 1)
            l = one_size(160, 96, r.rate, 1, {{0, 100000}});
        cmaf_grid g;
        cmaf_grid_init(&g, &l, r.seconds * USEC_PER_SEC, USEC_PER_SEC / 2);
        CHECK(g.frames == r.frames);
        CHECK(g.parts == r.parts);
        CHECK(cmaf_grid_part_target(&g, &l, l.level_count - 1) ==
              Approx(r.part_target_of_level[0]));
        CHECK(cmaf_grid_part_target(&g, &l, 0) == Approx(r.part_target_of_level[1]));
    }
}

TEST_CASE("cmaf_grid: a sample belongs to the part whose time has come")
{
    ladder l = one_size(160, 96, 30, 2, {{1, 100000}});
    l.source_fps = l.sizes[0].fps = {30000, 1001};
    cmaf_grid g;
    cmaf_grid_init(&g, &l, 2 * USEC_PER_SEC, USEC_PER_SEC / 2);
    CHECK(g.frames == 60);
    CHECK(cmaf_grid_timescale(&g) == 30000);
    CHECK(cmaf_grid_time(&g, {1, 0}, 30000) == 60 * 1001);
    CHECK(cmaf_grid_time(&g, {1, 0}, 48000) == 96096);
    CHECK(cmaf_grid_time(&g, {1, 1}, 30000) == 75 * 1001);
    struct {
        int64_t time;
        int64_t segment;
        int part;
    } const rows[] = {{0, 0, 0},
                      {15 * 1001 - 1, 0, 0},
                      {15 * 1001, 0, 1},
                      {59 * 1001, 0, 3},
                      {60 * 1001 - 1, 0, 3},
                      {60 * 1001, 1, 0},
                      {600600 * INT64_C(1001), 10010, 0}};
    for (auto &r : rows) {
        cmaf_place p = cmaf_grid_place(&g, r.time, 30000);
        INFO(r.time);
        CHECK(p.segment == r.segment);
        CHECK(p.part == r.part);
        CHECK(cmaf_grid_time(&g, p, 30000) <= r.time);
        CHECK(cmaf_grid_time(&g, {p.segment, p.part + 1}, 30000) > r.time);
    }
}

TEST_CASE("cmaf_grid: each frame has a time without rounding")
{
    const struct {
        fps rate;
        uint32_t scale;
    } rows[] = {{{30, 1}, 12810}, {{25, 1}, 12800}, {{1, 1}, 12800}, {{24000, 1001}, 24000}};
    for (auto &r : rows) {
        cmaf_grid g{r.rate, 60, 4, 0, 0};
        CHECK(cmaf_grid_timescale(&g) == r.scale);
        CHECK(r.scale % static_cast<uint32_t>(r.rate.num) == 0);
    }
}

TEST_CASE("cmaf_grid: extremes: layers that repeat too seldom, short segments, and many parts")
{
    ladder odd = one_size(160, 96, 30, 1, {{0, 100000}});
    odd.source_fps = {30, 1};
    odd.sizes[0].fps = {30000, 7919}; // it would repeat after 7919 frames
    cmaf_grid g;
    cmaf_grid_init(&g, &odd, 2 * USEC_PER_SEC, USEC_PER_SEC / 2);
    CHECK(g.frames == 60);
    CHECK(g.parts == 4);

    ladder slow = one_size(160, 96, 1, 2, {{1, 100000}}); // a period is 2 s
    cmaf_grid_init(&g, &slow, USEC_PER_SEC / 2, USEC_PER_SEC / 4);
    CHECK(g.frames == 2); // at least one period
    CHECK(g.parts == 2);
    slow = one_size(160, 96, 1, 1, {{0, 100000}});
    cmaf_grid_init(&g, &slow, 2 * USEC_PER_SEC, USEC_PER_SEC / 4);
    CHECK(g.frames == 2);
    CHECK(g.parts == 2); // a part has a frame at least
    ladder fast = one_size(160, 96, 240, 1, {{0, 100000}});
    cmaf_grid_init(&g, &fast, 60 * USEC_PER_SEC, USEC_PER_SEC / 20);
    CHECK(g.parts == CMAF_MAX_PARTS);
}
