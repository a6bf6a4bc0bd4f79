// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/policy/record_order.h"

#include <catch2/catch.hpp>

#include <vector>

namespace
{

std::vector<int> pulled(record_order *o, usec_t now, bool all = false)
{
    std::vector<int> out;
    while (void *frame = record_order_pull(o, all, now))
        out.push_back(*static_cast<int *>(frame));
    return out;
}

} // namespace

TEST_CASE("record_order: without a hold, frames leave at once")
{
    int f[] = {0, 1, 2, 3};
    record_order o;
    record_order_init(&o, 0);
    CHECK(record_order_push(&o, 0, &f[0], 5));
    CHECK(pulled(&o, 5) == std::vector<int>{0});
    CHECK(record_order_push(&o, 3, &f[3], 6));
    CHECK(pulled(&o, 6) == std::vector<int>{3});
    CHECK_FALSE(record_order_push(&o, 2, &f[2], 7)); // too late
    CHECK_FALSE(record_order_push(&o, 3, &f[3], 7)); // again
    CHECK(pulled(&o, 7).empty());
}

TEST_CASE("record_order: a repaired frame takes its place")
{
    int f[] = {0, 1, 2, 3};
    record_order o;
    record_order_init(&o, 400);
    CHECK(record_order_push(&o, 0, &f[0], 0));
    CHECK(record_order_push(&o, 2, &f[2], 10));
    CHECK(record_order_push(&o, 1, &f[1], 300));
    CHECK_FALSE(record_order_push(&o, 1, &f[1], 300));
    CHECK(pulled(&o, 399).empty());
    CHECK(pulled(&o, 400) == std::vector<int>{0});
    CHECK(pulled(&o, 410) == std::vector<int>{1, 2}); // 2 is due, and 1 precedes it
    CHECK(record_order_push(&o, 3, &f[3], 500));
    CHECK(pulled(&o, 500, true) == std::vector<int>{3});
}

TEST_CASE("record_order: when it is full, the first frame leaves")
{
    int f = 7;
    record_order o;
    record_order_init(&o, 1000000);
    for (int i = 0; i < RECORD_ORDER_MAX; i++)
        CHECK(record_order_push(&o, i, &f, 0));
    CHECK(pulled(&o, 0).size() == 1);
    CHECK(record_order_push(&o, 1000, &f, 0));
}
