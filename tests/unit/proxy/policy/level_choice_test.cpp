// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/policy/level_choice.h"

#include <catch2/catch.hpp>

namespace
{
const usec_t MS = USEC_PER_MSEC;
const usec_t TARGET = 250 * MS;

level_choice_inputs in(int adapted, usec_t waiting = 0, bool alone = false, bool follows = true)
{
    level_choice_inputs i{};
    i.level = 3;
    i.follows = follows;
    i.adapted = adapted;
    i.alone = alone;
    i.waiting = waiting;
    i.target = TARGET;
    return i;
}

int at(level_choice *c, const level_choice_inputs &i, usec_t now)
{
    return level_choice_of(c, &i, now);
}
} // namespace

TEST_CASE("level_choice: what the viewer asked for, if it is alone or does not follow")
{
    level_choice c{};
    for (usec_t now : {0 * MS, 1000 * MS, 10000 * MS}) {
        CHECK(at(&c, in(1, TARGET, true), now) == 3);
        CHECK(at(&c, in(1, TARGET, false, false), now) == 3);
    }
}

TEST_CASE("level_choice: at the start the adaptation has measured nothing")
{
    level_choice c{};
    CHECK(at(&c, in(0), 0) == 3);
    CHECK(at(&c, in(1), 1000 * MS) == 3);
    CHECK(at(&c, in(1), LEVEL_CHOICE_START - 1) == 3);
    CHECK(at(&c, in(1), LEVEL_CHOICE_START) == 1);
}

TEST_CASE("level_choice: frames that wait end the start")
{
    level_choice c{};
    CHECK(at(&c, in(0), 0) == 3);
    CHECK(at(&c, in(0, TARGET / 2 - 1), 500 * MS) == 3);
    CHECK(at(&c, in(0, TARGET / 2), 520 * MS) == 0);
    CHECK(at(&c, in(0), 540 * MS) == 0); // for good
}

TEST_CASE("level_choice: once the adaptation has arrived, it is followed")
{
    level_choice c{};
    CHECK(at(&c, in(0), 0) == 3);
    CHECK(at(&c, in(4), 400 * MS) == 3); // never more than asked for
    CHECK(at(&c, in(2), 500 * MS) == 2);
    CHECK(at(&c, in(3), 900 * MS) == 3);
}
