// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "lab/watch/numbering.h"

TEST_CASE("numbering: numbers that were read, and the frame that is due if none can be read")
{
    const int none = NUMBERING_NOTHING_NEW;
    const struct {
        int ms, read, number;
    } rows[] = {
        // 20 frames a second: 50 ms each. Nothing was read yet; then two frames; then repeated
        // ones.
        {0, -1, none},
        {100, 7, 7},
        {150, 8, 8},
        {151, 8, none},
        {152, 5, none},
        // Broken ones after 9: not due yet, but the one after 9; due; two at once; 299 ms, 5
        // frames.
        {200, 9, 9},
        {249, -1, 10},
        {301, -1, 11},
        {302, -1, 12},
        {499, -1, 14},
        // 17 comes after what was taken for it; 299 ms from there.
        {600, -1, 17},
        {601, 17, none},
        {900, -1, 22},
        {1000, 40, 40},
    };
    struct numbering n = numbering_of({20, 1});
    for (const auto &row : rows) {
        INFO(row.ms << " ms");
        CHECK(numbering_next(&n, row.read, row.ms * USEC_PER_MSEC) == row.number);
    }
    CHECK(n.unreadable == 7);
    CHECK(n.repeated == 3);
}

TEST_CASE("numbering: 30000/1001 frames a second")
{
    struct numbering n = numbering_of({30000, 1001});
    CHECK(numbering_next(&n, 100, 0) == 100);
    CHECK(numbering_next(&n, -1, 1000 * USEC_PER_SEC) == 100 + 29970);
}
