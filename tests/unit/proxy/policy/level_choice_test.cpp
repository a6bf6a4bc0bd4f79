// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/policy/level_choice.h"

#include <catch2/catch.hpp>

#include <cmath>

namespace
{
const usec_t TARGET = 250 * USEC_PER_MSEC;

level_choice_inputs in(int adapted, usec_t waiting = 0, double capacity = 0)
{
    level_choice_inputs i{};
    i.level = 3;
    i.level_bps = 400000;
    i.follows = true;
    i.adapted = adapted;
    i.capacity_bps = capacity;
    i.waiting = waiting;
    i.target = TARGET;
    return i;
}

int of(level_choice *c, const level_choice_inputs &i)
{
    return level_choice_of(c, &i);
}
} // namespace

TEST_CASE("level_choice: what the viewer asked for, if it is alone or does not follow")
{
    level_choice c{};
    level_choice_inputs alone = in(1, TARGET), fixed = in(1, TARGET);
    alone.alone = true;
    fixed.follows = false;
    CHECK(of(&c, alone) == 3);
    CHECK(of(&c, fixed) == 3);
    CHECK(of(&c, in(1, TARGET)) == 1); // another viewer came
}

TEST_CASE("level_choice: an adaptation that has measured nothing is not followed")
{
    level_choice c{};
    CHECK(of(&c, in(0)) == 3);
    CHECK(of(&c, in(1, 0, double(NAN))) == 3);
    CHECK(of(&c, in(1, 0, 400000)) == 3); // enough
    CHECK(of(&c, in(0, TARGET / 2 - 1)) == 3);
}

TEST_CASE("level_choice: an access that is too slow is followed until it is not")
{
    for (const level_choice_inputs &slow : {in(1, TARGET / 2), in(1, 0, 399999)}) {
        level_choice c{};
        CHECK(of(&c, slow) == 1);
        CHECK(of(&c, in(0)) == 0);
        CHECK(of(&c, in(2)) == 2);
        CHECK(of(&c, in(4)) == 3); // never more than asked for
        CHECK(of(&c, in(2)) == 3); // another episode would have to begin
    }
}
