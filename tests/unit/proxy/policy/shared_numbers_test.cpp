// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/policy/shared_numbers.h"

#include <catch2/catch.hpp>

#include "tests/support/two_sizes.hpp"

namespace
{
const usec_t SEC = USEC_PER_SEC;

struct rig {
    ladder l = two_sizes();
    shared_numbers n{};
    int64_t fps = 0;
    rig()
    {
        shared_numbers_init(&n, &l);
        fps = int64_t(n.fps);
        CHECK(shared_numbers_begin(&n, 500, -1, SEC) == 0);
        shared_numbers_note(&n, 500, SEC);
    }
};
} // namespace

TEST_CASE("shared_numbers: a second flow of the same origin has the same numbers")
{
    rig r;
    CHECK(shared_numbers_begin(&r.n, 500 + r.fps, -1, 2 * SEC) == 0);
    CHECK(shared_numbers_begin(&r.n, 490, -1, 2 * SEC) == 0); // a little late
}

TEST_CASE("shared_numbers: an origin that was away and counts on keeps its numbers")
{
    rig r;
    CHECK(shared_numbers_begin(&r.n, 500 + 4 * r.fps, 500, 5 * SEC) == 0);
}

TEST_CASE("shared_numbers: an origin that counts anew continues where the clock is, for all flows")
{
    rig r;
    int64_t shift = shared_numbers_begin(&r.n, 0, 500, 5 * SEC);
    CHECK(shift % r.n.period == 0);
    CHECK(shift >= 501 + 4 * r.fps);
    CHECK(shift < 501 + 4 * r.fps + r.n.period);
    shared_numbers_note(&r.n, shift, 5 * SEC);
    CHECK(shared_numbers_begin(&r.n, r.fps, 498, 6 * SEC) == shift); // the other flow
}

TEST_CASE("shared_numbers: never a number that the flow has had")
{
    rig r;
    int64_t shift = shared_numbers_begin(&r.n, 400, 500, SEC);
    CHECK(400 + shift > 500);
    shared_numbers_note(&r.n, 400, SEC); // an old one: nothing changes
    CHECK(r.n.last == 500);
}
