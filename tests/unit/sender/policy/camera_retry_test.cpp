// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/camera_retry.h"

#include <catch2/catch.hpp>

TEST_CASE("a camera that is away is tried every second for 15 s, then less often")
{
    struct camera_retry r;
    camera_retry_init(&r);
    CHECK(camera_retry_came(&r, 1) == 0);
    for (int outage = 0; outage < 2; outage++) {
        const usec_t begin = (100 + 1000 * outage) * USEC_PER_SEC;
        usec_t now = begin;
        int waits = 0, told = 0;
        for (; now < begin + 60 * USEC_PER_SEC; waits++) {
            bool slower;
            usec_t due = camera_retry_ended(&r, false, &slower, now);
            CHECK(due - now == (now - begin < 15 * USEC_PER_SEC ? 1 : 5) * USEC_PER_SEC);
            told += slower;
            now = due;
        }
        CHECK(waits == 15 + 9);
        CHECK(told == 1);
        CHECK(camera_retry_came(&r, now) == now - begin);
        CHECK(camera_retry_came(&r, now + 1) == 0);
    }
}

TEST_CASE("a camera that refuses the password is asked rarely")
{
    struct camera_retry r;
    bool slower;
    camera_retry_init(&r);
    CHECK(camera_retry_ended(&r, true, &slower, 7) == 7 + CAMERA_RETRY_REFUSED);
    CHECK_FALSE(slower);
}
