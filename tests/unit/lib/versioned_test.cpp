// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/versioned.h"

#include <catch2/catch.hpp>
#include <cstdint>

namespace
{

struct now {
    size_t size;
    uint64_t a, b;
};

struct later {
    size_t size;
    uint64_t a, b, c;
};

} // namespace

TEST_CASE("versioned: members that an earlier program lacks are 0")
{
    now given = {sizeof(size_t) + sizeof(uint64_t), 1, 2}; // `b` is not the configuration's
    now taken = {9, 9, 9};
    CHECK(versioned_copy(&taken, sizeof(taken), &given));
    CHECK(taken.a == 1);
    CHECK(taken.b == 0);
}

TEST_CASE("versioned: members of a later program are taken only if they are 0")
{
    later given = {sizeof(later), 1, 2, 0};
    now taken;
    CHECK(versioned_copy(&taken, sizeof(taken), &given));
    CHECK(taken.a == 1);
    CHECK(taken.b == 2);
    given.c = 1;
    CHECK_FALSE(versioned_copy(&taken, sizeof(taken), &given));
}

TEST_CASE("versioned: without a size it is faulty")
{
    now given = {0, 1, 2}, taken;
    CHECK_FALSE(versioned_copy(&taken, sizeof(taken), &given));
    given.size = sizeof(size_t) - 1;
    CHECK_FALSE(versioned_copy(&taken, sizeof(taken), &given));
    given.size = sizeof(given);
    CHECK(versioned_copy(&taken, sizeof(taken), &given));
    CHECK(taken.b == 2);
    given.size = 100000; // what is behind `given` is not read
    CHECK_FALSE(versioned_copy(&taken, sizeof(taken), &given));
    given.size = SIZE_MAX;
    CHECK_FALSE(versioned_copy(&taken, sizeof(taken), &given));
    taken = {9, 9, 9};
    CHECK_FALSE(versioned_copy(&taken, sizeof(taken), nullptr));
    CHECK(taken.b == 0);
}
