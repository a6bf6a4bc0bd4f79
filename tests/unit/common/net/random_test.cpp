// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/random.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <set>

TEST_CASE("random: fills the whole length, and no byte after it")
{
    uint8_t out[258];
    std::set<uint8_t> seen[2];
    for (int i = 0; i < 32; i++) {
        out[0] = out[257] = 0x5a;
        REQUIRE(random_fill(out + 1, 256));
        CHECK((out[0] == 0x5a && out[257] == 0x5a));
        seen[0].insert(out[1]);
        seen[1].insert(out[256]);
    }
    // 32 equal bytes: with a probability of 2^-248.
    CHECK(seen[0].size() > 1);
    CHECK(seen[1].size() > 1);
}

TEST_CASE("random: numbers of 64 bits do not repeat")
{
    std::set<uint64_t> seen;
    for (int i = 0; i < 1000; i++) {
        uint64_t n;
        REQUIRE(random_fill(&n, sizeof(n)));
        seen.insert(n);
    }
    CHECK(seen.size() == 1000); // two equal: with a probability of 3e-14
}
