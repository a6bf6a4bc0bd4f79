// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/pattern/pattern_numbers.h"

#include <catch2/catch.hpp>

#include <vector>

TEST_CASE("pattern_numbers: two pictures that agree change the difference")
{
    struct shown {
        int64_t number, read; // -1: unreadable
        bool sure;
        int64_t shift; // after it
    };
    const struct {
        const char *name;
        std::vector<shown> pictures;
    } rows[] = {
        {"numbers that agree", {{0, 0, true, 0}, {1, 1, true, 0}, {4, 4, true, 0}}},
        {"it begins in the past, and goes back to the present",
         {{0, 90, false, 0},
          {1, 91, true, 90},
          {2, 92, true, 90},
          {4, 4, false, 90},
          {6, 6, true, 0}}},
        {"a wrong picture", {{0, 0, true, 0}, {1, 9, false, 0}, {2, 2, true, 0}, {3, 3, true, 0}}},
        {"a frozen picture",
         {{0, 0, true, 0}, {1, 0, false, 0}, {2, 0, false, 0}, {3, 0, false, 0}, {4, 4, true, 0}}},
        {"a picture that is shown twice does not agree with itself",
         {{0, 0, true, 0}, {1, 9, false, 0}, {1, 9, false, 0}, {2, 10, true, 8}}},
        {"an unreadable picture decides nothing",
         {{0, 0, true, 0}, {1, 9, false, 0}, {2, -1, true, 0}, {3, 11, true, 8}, {4, -1, true, 8}}},
    };
    for (const auto &row : rows) {
        pattern_numbers p = {};
        for (const shown &s : row.pictures) {
            INFO(row.name << ": " << s.number);
            CHECK(pattern_numbers_see(&p, s.number, s.read) == s.sure);
            CHECK(p.shift == s.shift);
        }
    }
}
