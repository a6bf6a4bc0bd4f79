// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "common/base/siphash.h"

namespace
{

// The key of the paper's appendix: bytes 00 01 .. 0f.
const siphash_key key = {{0x0706050403020100, 0x0f0e0d0c0b0a0908}};

const uint8_t counting[15] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};

uint64_t of_bytes(size_t len)
{
    siphash h;
    siphash_init(&h, &key);
    return siphash_finish(&h, counting, len);
}

} // namespace

TEST_CASE("siphash: the vectors of the paper and of the reference code")
{
    CHECK(of_bytes(15) == 0xa129ca6149be45e5); // appendix A: bytes 00 01 .. 0e
    CHECK(of_bytes(0) == 0x726fdb47dd0e0e31);
    CHECK(of_bytes(1) == 0x74f839c593dc67fd);
    CHECK(of_bytes(8) == 0x93f5f5799a932462);
}

TEST_CASE("siphash: words and bytes give the same hash")
{
    siphash h;
    siphash_init(&h, &key);
    siphash_word(&h, 0x0706050403020100);
    CHECK(siphash_finish(&h, counting + 8, 7) == of_bytes(15));
}
