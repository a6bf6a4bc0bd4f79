// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/number_shift.h"

#include <catch2/catch.hpp>

TEST_CASE("number_shift: the pattern of sizes and layers repeats after the period")
{
    struct {
        fps source;
        size_spec sizes[3];
        int count;
        int64_t period;
    } const table[] = {
        {{30, 1}, {{64, 36, {30, 1}, 1}}, 1, 1},
        {{30, 1}, {{64, 36, {30, 1}, 3}}, 1, 4},
        {{30, 1}, {{64, 36, {15, 1}, 2}}, 1, 4},
        {{30, 1}, {{64, 36, {20, 1}, 2}}, 1, 3}, // three numbers are two frames
        {{30000, 1001}, {{64, 36, {15000, 1001}, 2}, {128, 72, {30000, 1001}, 3}}, 2, 4},
        {{30, 1}, {{64, 36, {10, 1}, 2}, {128, 72, {15, 1}, 2}, {192, 108, {30, 1}, 1}}, 3, 12},
        {{30000, 1001}, {{64, 36, {29, 1}, 4}}, 1, 240000},
    };
    for (const auto &row : table) {
        ladder l = {};
        l.source_fps = row.source;
        l.size_count = row.count;
        for (int i = 0; i < row.count; i++)
            l.sizes[i] = row.sizes[i];
        CHECK(number_shift_period(&l) == row.period);
        for (int i = 0; i < row.count; i++)
            for (int64_t n = 0; n < 200; n++) {
                int64_t m = size_index_of_frame(l.sizes[i].fps, l.source_fps, n);
                int64_t k = size_index_of_frame(l.sizes[i].fps, l.source_fps, n + row.period);
                REQUIRE((m < 0) == (k < 0));
                if (m >= 0)
                    REQUIRE(layer_temporal_id(m, l.sizes[i].layers) ==
                            layer_temporal_id(k, l.sizes[i].layers));
            }
    }
}

TEST_CASE("number_shift: the first frame comes at the next number or soon after it")
{
    struct {
        int64_t period, first, next, shift;
    } const table[] = {{1, 0, 100, 100},   {4, 0, 100, 100},    {4, 0, 101, 104},
                       {4, 3, 101, 100},   {4, 200, 100, -100}, {4, 201, 100, -100},
                       {4, 199, 100, -96}, {4, 7, 7, 0}};
    for (const auto &row : table) {
        INFO(row.first << " " << row.next);
        CHECK(number_shift_of(row.period, row.first, row.next) == row.shift);
    }
}

TEST_CASE("number_shift: the media time of any number at any rate")
{
    struct {
        int64_t frames;
        fps rate;
        usec_t media;
    } const table[] = {
        {0, {30, 1}, 0},
        {30, {30, 1}, 1000000},
        {-30, {30, 1}, -1000000},
        {1, {30000, 1001}, 33367},
        {INT64_C(1) << 32, {30000, 1001}, INT64_C(143308742109867)},
        {INT64_C(1) << 40, {1, 1000000000}, INT64_C(1) << 52},
        {-(INT64_C(1) << 40), {1, 1000000000}, -(INT64_C(1) << 52)},
    };
    for (const auto &row : table) {
        INFO(row.frames);
        CHECK(number_shift_media(row.frames, row.rate) == row.media);
    }
}
