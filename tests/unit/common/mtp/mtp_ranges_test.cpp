// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <set>

#include "common/base/rng.h"
#include "common/mtp/mtp_ranges.h"

TEST_CASE("mtp_ranges: adjacent and overlapping ranges are merged")
{
    mtp_ranges rs{};
    CHECK(mtp_ranges_add(&rs, 10, 12));
    CHECK(mtp_ranges_add(&rs, 14, 16));
    CHECK(mtp_ranges_add(&rs, 5, 6));
    CHECK(rs.count == 3);
    CHECK(mtp_ranges_skip(&rs, 10) == 12);
    CHECK(mtp_ranges_skip(&rs, 12) == 12);
    CHECK(mtp_ranges_within(&rs, 11, 15) == 2);
    CHECK(mtp_ranges_add(&rs, 12, 14));
    CHECK(rs.count == 2);
    CHECK(rs.at[1].begin == 10);
    CHECK(rs.at[1].end == 16);
    mtp_ranges_trim(&rs, 11);
    CHECK(rs.count == 1);
    CHECK(rs.at[0].begin == 11);
}

TEST_CASE("mtp_ranges: a full set refuses only an additional range")
{
    mtp_ranges rs{};
    for (int64_t i = 0; i < MTP_RANGES; i++)
        CHECK(mtp_ranges_add(&rs, 3 * i, 3 * i + 1));
    CHECK_FALSE(mtp_ranges_add(&rs, 3 * MTP_RANGES, 3 * MTP_RANGES + 1));
    CHECK(rs.count == MTP_RANGES);
    CHECK(mtp_ranges_add(&rs, 1, 2));
    CHECK(mtp_ranges_add(&rs, 0, 3 * MTP_RANGES));
    CHECK(rs.count == 1);
}

TEST_CASE("mtp_ranges: equals a set of numbers, for random input")
{
    rng r = rng_seeded(5);
    for (int round = 0; round < 200; round++) {
        mtp_ranges rs{};
        std::set<int64_t> model;
        for (int i = 0; i < 40; i++) {
            int64_t begin = (int64_t)rng_below(&r, 100);
            int64_t end = begin + 1 + (int64_t)rng_below(&r, 6);
            if (rng_below(&r, 10) == 0) {
                mtp_ranges_trim(&rs, begin);
                model.erase(model.begin(), model.lower_bound(begin));
            } else {
                REQUIRE(mtp_ranges_add(&rs, begin, end));
                for (int64_t n = begin; n < end; n++)
                    model.insert(n);
            }
        }
        for (int64_t n = 0; n < 110; n++) {
            REQUIRE((mtp_ranges_skip(&rs, n) > n) == (model.count(n) > 0));
            REQUIRE(mtp_ranges_within(&rs, n, n + 1) == (int64_t)model.count(n));
        }
        REQUIRE(mtp_ranges_within(&rs, -5, 200) == (int64_t)model.size());
        for (int i = 1; i < rs.count; i++)
            REQUIRE(rs.at[i - 1].end < rs.at[i].begin);
    }
}
