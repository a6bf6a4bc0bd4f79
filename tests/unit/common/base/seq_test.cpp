// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "common/base/rng.h"
#include "common/base/seq.h"
#include "tests/support/holds.hpp"

TEST_CASE("seq: the nearest number with the given low bits")
{
    const struct {
        int64_t reference;
        uint16_t seq;
        int64_t extended;
    } cases[] = {
        {0, 0, 0},
        {5, 7, 7},
        {65535, 0, 65536},       // wraps forward
        {65536, 65535, 65535},   // and back
        {0, 65535, -1},          // before the beginning
        {100000, 34464, 100000}, // 100000 = 65536 + 34464
        {100000, 34463, 99999},
        {0x10000, 0x7fff, 0x17fff}, // 32767 ahead
        {0x10000, 0x8000, 0x8000},  // 32768: taken as behind
    };
    for (const auto &c : cases)
        CHECK(seq16_extend(c.reference, c.seq) == c.extended);
    CHECK(seq32_extend(0xffffffff, 0) == 0x100000000);
    CHECK(seq32_extend(0x100000000, 0xffffffff) == 0xffffffff);
    CHECK(seq32_extend(0x500000005, 3) == 0x500000003);
}

TEST_CASE("seq: any number within half the range is restored")
{
    struct rng rng = rng_seeded(1);
    for (int i = 0; i < 100000; i++) {
        int64_t reference = (int64_t)rng_below(&rng, (uint64_t)1 << 48);
        int64_t near = reference + (int64_t)rng_below(&rng, 65536) - 32768;
        HOLDS(seq16_extend(reference, (uint16_t)near) == near);
        int64_t far = reference + (int64_t)rng_below(&rng, (uint64_t)1 << 32) - ((int64_t)1 << 31);
        HOLDS(seq32_extend(reference, (uint32_t)far) == far);
    }
}
