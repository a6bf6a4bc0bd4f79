// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/loop_end.h"

#include <catch2/catch.hpp>

TEST_CASE("loop_end: waits for handles, up to the limit")
{
    uv_loop_t loop;
    REQUIRE(uv_loop_init(&loop) == 0);
    CHECK(loop_end(&loop, 10 * USEC_PER_SEC)); // it has none
    uv_timer_t timer;
    uv_timer_init(&loop, &timer);
    uv_timer_start(
        &timer, [](uv_timer_t *t) { uv_close((uv_handle_t *)t, nullptr); }, 5, 0);
    CHECK(loop_end(&loop, 10 * USEC_PER_SEC));
    uv_async_t hangs;
    uv_async_init(&loop, &hangs, nullptr);
    CHECK_FALSE(loop_end(&loop, 5 * USEC_PER_MSEC));
    uv_close((uv_handle_t *)&hangs, nullptr);
    CHECK(loop_end(&loop, 10 * USEC_PER_SEC));
    CHECK(uv_loop_close(&loop) == 0);
}
