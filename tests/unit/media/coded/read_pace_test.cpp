// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/coded/read_pace.h"

#include <catch2/catch.hpp>

TEST_CASE("read_pace: what is free, and the rate of the rest")
{
    const int64_t free = READ_PACE_FREE, rate = READ_PACE_RATE;
    struct {
        int64_t bytes;
        usec_t due;
    } const table[] = {
        {0, 5},
        {free, 5},
        {free + rate / 2, 5 + USEC_PER_SEC / 2},
        {free + rate, 5 + USEC_PER_SEC},
        {free + 60 * rate, 5 + 60 * USEC_PER_SEC},
        {INT64_C(1) << 50, 5 + ((INT64_C(1) << 26) - 2) * USEC_PER_SEC},
    };
    for (const auto &row : table)
        CHECK(read_pace_due(5, row.bytes) == row.due);
}
