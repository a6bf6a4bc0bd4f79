// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/size_watch.h"

#include <catch2/catch.hpp>

#include <utility>
#include <vector>

TEST_CASE("size_watch: each change of a size is reported once, new sizes first")
{
    using changes = std::vector<std::pair<int, int>>;
    struct {
        const char *what;
        unsigned sizes; // a bit each
        changes expected;
    } steps[] = {
        {"nothing yet", 0, {}},
        {"it sends size 1", 0b10, {{1, +1}}},
        {"again", 0b10, {}},
        {"a key frame of size 0 is awaited", 0b11, {{0, +1}}},
        {"it came", 0b01, {{1, -1}}},
        {"size 2 is awaited", 0b101, {{2, +1}}},
        {"instead of it, size 1", 0b011, {{1, +1}, {2, -1}}},
        {"both change at once", 0b1100, {{2, +1}, {3, +1}, {0, -1}, {1, -1}}},
        {"layers of all sizes", 0xff, {{0, +1}, {1, +1}, {4, +1}, {5, +1}, {6, +1}, {7, +1}}},
        {"of two", 0b11, {{2, -1}, {3, -1}, {4, -1}, {5, -1}, {6, -1}, {7, -1}}},
        {"no more", 0, {{0, -1}, {1, -1}}},
    };
    size_watch w;
    size_watch_init(&w);
    for (const auto &step : steps) {
        INFO(step.what);
        size_watch_change out[SIZE_WATCH_CHANGES];
        int count = size_watch_set(&w, step.sizes, out);
        changes seen;
        for (int i = 0; i < count; i++)
            seen.emplace_back(out[i].size_id, out[i].viewers);
        CHECK(seen == step.expected);
    }
}
