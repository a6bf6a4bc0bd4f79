// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/rate_steps.h"

#include <catch2/catch.hpp>

TEST_CASE("rate_steps: when an encoder is opened anew for another bitrate")
{
    struct {
        int ms;        // since the last change
        int requested; // of 1000 kbit/s
        int taken;
    } table[] = {
        {999, 100, 0},                        // too soon, however much lower
        {1000, 850, 850},                     // 15 % lower
        {1000, 851, 0},                       // not enough
        {60000, 851, 0},                      // ... at any time
        {60000, 1249, 0},                     // 25 % higher is enough
        {60000, 1250, 1250}, {3999, 5000, 0}, // a rise waits for 4 s
        {4000, 5000, 5000},
    };
    for (auto &row : table) {
        rate_steps r;
        rate_steps_init(&r, 1000000, 7);
        rate_steps_request(&r, row.requested * 1000);
        INFO(row.requested << " after " << row.ms << " ms");
        CHECK(rate_steps_take(&r, 7 + row.ms * USEC_PER_MSEC) == row.taken * 1000);
    }
}

TEST_CASE("rate_steps: the newest request applies, once")
{
    rate_steps r;
    rate_steps_init(&r, 1000000, 0);
    rate_steps_request(&r, 200000);
    CHECK(rate_steps_take(&r, USEC_PER_SEC / 2) == 0);
    rate_steps_request(&r, 400000);
    CHECK(rate_steps_take(&r, USEC_PER_SEC) == 400000);
    CHECK(rate_steps_take(&r, 60 * USEC_PER_SEC) == 0);
    rate_steps_request(&r, 2000000000); // no overflow
    CHECK(rate_steps_take(&r, 60 * USEC_PER_SEC) == 2000000000);
}
