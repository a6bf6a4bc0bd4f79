// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/windowed_min.h"

#include <catch2/catch.hpp>

TEST_CASE("window min: the min of the last one to two windows")
{
    windowed_min w;
    windowed_min_init(&w, 10);
    CHECK(windowed_min_read(&w) == USEC_NEVER);
    struct {
        usec_t now, value, least;
    } const table[] = {
        {0, 7, 7},  {4, 5, 5},  {9, 6, 5},  {10, 8, 5},   // 5 is in the window before
        {19, 9, 5}, {20, 9, 8}, {30, 9, 9}, {55, 12, 12}, // after a silence nothing old counts
    };
    for (const auto &row : table) {
        windowed_min_add(&w, row.value, row.now);
        INFO("at " << row.now);
        CHECK(windowed_min_read(&w) == row.least);
    }
}
