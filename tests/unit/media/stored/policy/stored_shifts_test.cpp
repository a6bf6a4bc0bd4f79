// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "media/stored/policy/stored_shifts.h"

TEST_CASE("stored_shifts: each shift stays until the next one")
{
    stored_shifts s = {};
    int64_t until;
    CHECK(stored_shifts_at(&s, 5, &until) == 0);
    CHECK(until == INT64_MAX);
    CHECK(stored_shifts_add(&s, 0, 40) == 0); // rounding
    CHECK(stored_shifts_add(&s, 1000, 96000) == 0);
    CHECK(stored_shifts_add(&s, 1500, 96048) == 0);
    CHECK(stored_shifts_add(&s, 2000, -500) == 0);
    CHECK(s.count == 2);
    struct {
        int64_t at, shift, until;
    } table[] = {
        {0, 0, 1000},        {999, 0, 1000},          {1000, 96000, 2000},
        {1999, 96000, 2000}, {2000, -500, INT64_MAX},
    };
    for (auto &row : table) {
        CAPTURE(row.at);
        CHECK(stored_shifts_at(&s, row.at, &until) == row.shift);
        CHECK(until == row.until);
    }
    for (int64_t i = 0; i < 100; i++)
        CHECK(stored_shifts_add(&s, 3000 + i, i * 100) == 0);
    CHECK(s.count == 102);
    CHECK(stored_shifts_at(&s, 3099, &until) == 9900);
    stored_shifts_free(&s);
    CHECK(s.count == 0);
}
