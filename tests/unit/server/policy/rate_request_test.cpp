// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/rate_request.h"

#include <catch2/catch.hpp>

TEST_CASE("rate_request: a TMMBR's rate within what a session takes")
{
    struct {
        uint64_t asked;
        int bps;
    } const table[] = {
        {0, 8000},       {7999, 8000},    {8000, 8000}, {512000, 512000}, {2147483647, 2147483647},
        {2147483648, 0}, {UINT64_MAX, 0},
    };
    for (const auto &row : table) {
        rtcp_item item{};
        item.kind = RTCP_IS_TMMBR;
        item.max_rate.bps = row.asked;
        CHECK(rate_request_of(&item, 8000) == row.bps);
    }
}
