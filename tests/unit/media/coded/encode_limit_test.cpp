// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/coded/encode_limit.h"

#include <catch2/catch.hpp>

TEST_CASE("encode limit: a share of the cores; threads beyond the first add less")
{
    const struct {
        int cores;
        double one, all; // of a core that encodes 100 pixels/s
    } rows[] = {{1, 70, 70}, {2, 122.5, 140}, {4, 227.5, 280}, {8, 437.5, 560}, {64, 437.5, 4480}};
    for (const auto &row : rows) {
        CAPTURE(row.cores);
        struct encode_limit limit = encode_limit_of(100, row.cores);
        CHECK(limit.one_size == Approx(row.one));
        CHECK(limit.all_sizes == Approx(row.all));
    }
}

TEST_CASE("encode limit: threads of an encoder")
{
    const struct {
        int width, height;
        struct fps fps;
        int cores, threads;
    } rows[] = {
        {256, 144, {15, 1}, 64, 1},
        {1280, 720, {30, 1}, 64, 1}, // the default ladder is encoded as ever
        {1280, 720, {30000, 1001}, 64, 1},
        {1280, 720, {60, 1}, 64, 2},
        {1920, 1080, {30, 1}, 64, 3},
        {1920, 1080, {30, 1}, 2, 2},
        {1920, 1080, {30, 1}, 1, 1},
        {1920, 1080, {60, 1}, 64, 5},
        {3840, 2160, {60, 1}, 64, 8},
        {3840, 2160, {60, 1}, 4, 4},
    };
    for (const auto &row : rows) {
        CAPTURE(row.width, row.fps.num, row.cores);
        struct size_spec size = {row.width, row.height, row.fps, 2};
        CHECK(encode_limit_threads(&size, row.cores) == row.threads);
    }
}
