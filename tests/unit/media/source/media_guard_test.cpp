// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/media_guard.h"

#include <catch2/catch.hpp>

#include "common/base/err.h"

TEST_CASE("media_guard: reading may continue until the deadline, which may be replaced")
{
    media_guard *g = media_guard_new(USEC_NEVER);
    REQUIRE(g);
    CHECK(media_guard_check(g) == 0);
    media_guard_until(g, 0); // long ago
    CHECK(media_guard_check(g) == ERR_TIMED_OUT);
    media_guard_until(g, USEC_NEVER - 1);
    CHECK(media_guard_check(g) == 0);
    media_guard_unref(g);
    g = media_guard_new(0);
    CHECK(media_guard_check(g) == ERR_TIMED_OUT);
    media_guard_unref(g);
}

TEST_CASE("media_guard: a stop applies to all holders, and takes precedence over the deadline")
{
    media_guard *g = media_guard_new(0), *shared = media_guard_ref(g);
    CHECK(shared == g);
    media_guard_stop(g);
    CHECK(media_guard_check(shared) == ERR_CLOSED);
    media_guard_until(shared, USEC_NEVER);
    media_guard_unref(g);
    CHECK(media_guard_check(shared) == ERR_CLOSED);
    media_guard_unref(shared);
}

TEST_CASE("media_guard: without a guard nothing ends the reading")
{
    CHECK(media_guard_ref(nullptr) == nullptr);
    media_guard_stop(nullptr);
    media_guard_until(nullptr, 0);
    CHECK(media_guard_check(nullptr) == 0);
    media_guard_unref(nullptr);
}
