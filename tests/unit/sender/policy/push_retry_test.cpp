// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/push_retry.h"

#include <catch2/catch.hpp>

TEST_CASE("push_retry: the waits double to a bound, and begin anew after steady recording")
{
    struct {
        int recorded; // s; -1: not
        int wait;     // s, expected
    } const table[] = {{-1, 1},  {-1, 2},  {-1, 4}, {9, 8},  {-1, 16},
                       {-1, 30}, {-1, 30}, {10, 1}, {-1, 2}, {100, 1}};
    push_retry r;
    usec_t now = 5 * USEC_PER_SEC;
    push_retry_init(&r);
    for (const auto &row : table) {
        INFO(row.recorded << " " << row.wait);
        if (row.recorded >= 0)
            push_retry_recording(&r, now);
        now += (row.recorded >= 0 ? row.recorded : 3) * USEC_PER_SEC;
        CHECK(push_retry_ended(&r, now) == now + row.wait * USEC_PER_SEC);
    }
}
