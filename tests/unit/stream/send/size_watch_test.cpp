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
        int size_id, awaited;
        changes expected;
    } steps[] = {
        {"nothing yet", -1, -1, {}},
        {"it sends size 1", 1, 1, {{1, +1}}},
        {"again", 1, -1, {}},
        {"a key frame of size 0 is awaited", 1, 0, {{0, +1}}},
        {"it came", 0, 0, {{1, -1}}},
        {"size 2 is awaited", 0, 2, {{2, +1}}},
        {"instead of it, size 1", 0, 1, {{1, +1}, {2, -1}}},
        {"both change at once", 2, 3, {{2, +1}, {3, +1}, {0, -1}, {1, -1}}},
        {"they change places", 3, 2, {}},
        {"no more", -1, -1, {{3, -1}, {2, -1}}},
    };
    size_watch w;
    size_watch_init(&w);
    for (const auto &step : steps) {
        INFO(step.what);
        size_watch_change out[SIZE_WATCH_CHANGES];
        int count = size_watch_set(&w, step.size_id, step.awaited, out);
        changes seen;
        for (int i = 0; i < count; i++)
            seen.emplace_back(out[i].size_id, out[i].viewers);
        CHECK(seen == step.expected);
    }
}
