// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <vector>

#include "sender/policy/segment_window.h"

TEST_CASE("segment_window: as many as the limit allows, and at least three target durations")
{
    constexpr usec_t S = USEC_PER_SEC;
    // A list of n segments needs 2 n + 2 of them: itself, n + 1 that have left it, and the open
    // one.
    const struct {
        std::vector<usec_t> durations;
        size_t mean;
        int expected; // target 2 s, limit 64, at most 6
    } rows[] = {
        {{}, 1, 0},
        {{2 * S, 2 * S}, 1, 2},
        {{2 * S, 2 * S, 2 * S, 2 * S, 2 * S, 2 * S, 2 * S}, 0, 6},
        {{2 * S, 2 * S, 2 * S, 2 * S, 2 * S, 2 * S, 2 * S}, 4, 6}, // 14 segments have 56
        {{2 * S, 2 * S, 2 * S, 2 * S, 2 * S, 2 * S, 2 * S}, 5, 5}, // 12 have 60
        {{2 * S, 2 * S, 2 * S, 2 * S, 2 * S, 2 * S, 2 * S}, 6, 4}, // 10 have 60
        {{2 * S, 2 * S, 2 * S, 2 * S, 2 * S, 2 * S, 2 * S}, 8, 3}, // 8 have 64
        {{2 * S, 2 * S, 2 * S, 2 * S, 2 * S, 2 * S, 2 * S}, 1000, 3},
        {{S, S, S, S, S, S, S}, 8, 6}, // 3 s are too short
        {{9 * S, S, S, 2 * S, 2 * S}, 1000, 4},
        {{9 * S, 6 * S}, 1000, 1},
    };
    for (auto &row : rows) {
        INFO(row.durations.size() << " of " << row.mean);
        CHECK(segment_window(row.durations.data(), static_cast<int>(row.durations.size()), 2 * S,
                             row.mean, 64, 6) == row.expected);
    }
}
