// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "player/policy/rewind.h"

static struct rewind live(double kept = 60)
{
    struct rewind r = {};
    struct rewind_place place = {kept, 0, -1, false};
    CHECK_FALSE(rewind_placed(&r, &place));
    return r;
}

static bool answer(struct rewind *r, double behind, int64_t first, bool sought = true)
{
    struct rewind_place place = {60, behind, first, sought};
    return rewind_placed(r, &place);
}

TEST_CASE("rewind: back, and to the present")
{
    usec_t wait;
    struct rewind r = live();
    REQUIRE(rewind_by(&r, -10, 1000) == REWIND_WANTED);
    CHECK(r.to == 10);
    CHECK(answer(&r, 12.5, 500)); // the key frame before
    CHECK(r.behind == 12.5);
    CHECK_FALSE(rewind_shown(&r, 499, 2000, &wait)); // from before
    REQUIRE(rewind_shown(&r, 500, 2500, &wait));
    CHECK(wait == 1500);
    CHECK_FALSE(rewind_shown(&r, 501, 3000, &wait));

    REQUIRE(rewind_by(&r, -10, 4000) == REWIND_WANTED);
    CHECK(r.to == 22.5);
    REQUIRE(rewind_by(&r, -10, 4100) == REWIND_WANTED); // before the response
    CHECK(r.to == 32.5);
    CHECK(answer(&r, 36, 700));
    REQUIRE(rewind_by(&r, 10, 5000) == REWIND_WANTED);
    CHECK(r.to == 26);
    CHECK(answer(&r, 27, 900));

    REQUIRE(rewind_to(&r, 0, 6000) == REWIND_WANTED);
    CHECK(answer(&r, 0, 1000));
    CHECK(r.behind == 0);
    CHECK(rewind_by(&r, 10, 7000) == REWIND_AT_LIMIT);
}

TEST_CASE("rewind: as far as the server keeps")
{
    struct rewind r = live(25);
    REQUIRE(rewind_to(&r, 1000, 0) == REWIND_WANTED);
    CHECK(r.to == 25);
    struct rewind_place place = {25, 28, 10, true};
    CHECK(rewind_placed(&r, &place));
    CHECK(rewind_by(&r, -10, 0) == REWIND_AT_LIMIT);
    CHECK(rewind_by(&r, 10, 0) == REWIND_WANTED);
}

TEST_CASE("rewind: the last step is to the present")
{
    struct rewind r = live();
    REQUIRE(rewind_to(&r, 10.5, 0) == REWIND_WANTED);
    CHECK(answer(&r, 10.5, 10));
    REQUIRE(rewind_by(&r, 10, 0) == REWIND_WANTED);
    CHECK(r.to == 0);
}

TEST_CASE("rewind: a server without a past")
{
    struct rewind r = live(0);
    CHECK(rewind_by(&r, -10, 0) == REWIND_IMPOSSIBLE);
    CHECK(rewind_to(&r, 0, 0) == REWIND_IMPOSSIBLE);
}

TEST_CASE("rewind: a refusal, and nothing to go back to")
{
    struct rewind r = live();
    REQUIRE(rewind_by(&r, -10, 0) == REWIND_WANTED);
    rewind_refused(&r);
    CHECK(r.behind == 0);
    REQUIRE(rewind_by(&r, -10, 0) == REWIND_WANTED);
    CHECK(r.to == 10);
    CHECK_FALSE(answer(&r, 0, -1)); // the server has no past yet
    CHECK(r.behind == 0);
    CHECK(rewind_by(&r, 10, 0) == REWIND_AT_LIMIT);
}

TEST_CASE("rewind: after a pause in the past the server begins at a key frame")
{
    struct rewind r = live();
    REQUIRE(rewind_by(&r, -10, 0) == REWIND_WANTED);
    CHECK(answer(&r, 11, 100));
    CHECK(answer(&r, 20, 400, false));
    CHECK(r.behind == 20);
    r = live(); // --start: nothing came before
    CHECK_FALSE(answer(&r, 20, 0, false));
    CHECK(r.behind == 20);
}
