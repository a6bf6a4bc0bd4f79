// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/camera_rate.h"

#include <catch2/catch.hpp>
#include <vector>

namespace
{

struct fps rate_of(const std::vector<uint32_t> &stamps, struct fps described = {0, 1},
                   bool reorders = false)
{
    struct camera_rate r = {};
    r.has_b_frames = reorders;
    for (uint32_t stamp : stamps) {
        camera_rate_add(&r, stamp);
        camera_rate_add(&r, stamp); // its next packet
    }
    CHECK(camera_rate_reorders(&r) == reorders);
    return camera_rate_read(&r, described);
}

std::vector<uint32_t> every(double ticks, int count, uint32_t first = 4294960000U)
{
    std::vector<uint32_t> out;
    for (int i = 0; i < count; i++)
        out.push_back(first + (uint32_t)(int64_t)(i * ticks));
    return out;
}

void check(struct fps got, int num, int den)
{
    CHECK(got.num == num);
    CHECK(got.den == den);
}

} // namespace

TEST_CASE("a camera's rate is measured, and rounded to a usual one")
{
    check(rate_of(every(3600, 13)), 25, 1);
    check(rate_of(every(3600, 13), {15, 1}), 25, 1); // the description is wrong
    check(rate_of(every(3003, 13)), 30000, 1001);
    check(rate_of(every(2970, 13)), 30, 1); // a clock of milliseconds: 33 ms
    check(rate_of(every(1500, 40)), 60, 1);
    check(rate_of(every(90000, 3)), 1, 1);
    check(rate_of(every(90000 / 17.0, 13)), 17000, 1000);
    check(rate_of(every(10, 13)), 240000, 1000);
    check(rate_of(every(500000, 13)), 1, 1);
}

TEST_CASE("a camera's rate before it can be measured")
{
    check(rate_of({}), 25, 1);
    check(rate_of({1, 2}), 25, 1);
    check(rate_of({}, {15, 1}), 15, 1);
    check(rate_of({}, {15, 0}), 25, 1);
    check(rate_of({}, {1000, 1}), 25, 1);
}

TEST_CASE("a camera's rate with B frames, and after a leap")
{
    // I P B B P B B ..., 25 a second
    std::vector<uint32_t> stamps = {0};
    for (uint32_t i = 3; i <= 12; i += 3)
        for (uint32_t k : {i, i - 2, i - 1})
            stamps.push_back(k * 3600);
    check(rate_of(stamps, {0, 1}, true), 25, 1);
    std::vector<uint32_t> leaps = {0, 3600, 7200};
    for (uint32_t stamp : every(1800, 12, 900000000))
        leaps.push_back(stamp);
    check(rate_of(leaps), 50, 1);
}

TEST_CASE("a camera's rate with time stamps that jitter, which are no B frames")
{
    std::vector<uint32_t> stamps; // 22 ms early or late, at 40 ms
    for (uint32_t i = 0; i < 13; i++)
        stamps.push_back(9000 + i * 3600 + (i % 3 == 1 ? 1980u : i % 3 == 2 ? -1980u : 0u));
    struct camera_rate r = {};
    for (uint32_t stamp : stamps)
        camera_rate_add(&r, stamp);
    CHECK(r.goes_back);
    CHECK_FALSE(camera_rate_reorders(&r));
    check(camera_rate_read(&r, {0, 1}), 25, 1);
}

TEST_CASE("the usual rate above another one")
{
    struct row {
        double rate;
        int num, den;
    };
    const row table[] = {{25, 25, 1},         {24.5, 25, 1},      {25.5, 25755, 1000},
                         {29.5, 30000, 1001}, {29.98, 30, 1},     {58.5, 60000, 1001},
                         {0.99, 1, 1},        {100, 101000, 1000}};
    for (const row &r : table) {
        INFO(r.rate);
        fps f = camera_rate_above(r.rate);
        CHECK(f.num == r.num);
        CHECK(f.den == r.den);
    }
}
