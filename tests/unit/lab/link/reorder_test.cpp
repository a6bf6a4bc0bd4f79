// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <vector>

#include "lab/link/reorder.h"
#include "tests/unit/lab/link/collector.hpp"

using came = std::vector<std::pair<uint32_t, usec_t>>;

TEST_CASE("reorder: with probability 0, or by no time, all pass at once")
{
    collector c;
    reorder r;
    reorder_init(&r, &c.sink.node, 0, 500, 1);
    node_push(&r.node, c.make(0), 1);
    reorder_set(&r, 1, 0);
    node_push(&r.node, c.make(1), 2);
    CHECK(c.came == came{{0, 1}, {1, 2}});
    CHECK(node_next_run_at(&r.node) == USEC_NEVER);
}

TEST_CASE("reorder: later packets overtake a held one")
{
    collector c;
    reorder r;
    reorder_init(&r, &c.sink.node, 1, 500, 1);
    node_push(&r.node, c.make(0), 10);
    reorder_set(&r, 0, 500);
    node_push(&r.node, c.make(1), 20);
    CHECK(node_next_run_at(&r.node) == 510);
    run_node(&r.node, 600);
    node_push(&r.node, c.make(2), 600);
    CHECK(c.came == came{{1, 20}, {0, 510}, {2, 600}});
}

TEST_CASE("reorder: held packets leave in the order of time, those of one instant in the order of "
          "arrival")
{
    collector c;
    reorder r;
    struct {
        usec_t now, by;
    } const table[] = {
        {0, 1000},  // 0: 1000
        {10, 990},  // 1: 1000, after it
        {20, 100},  // 2: 120, before both
        {30, 2000}, // 3: 2030
        {40, 960},  // 4: 1000, after 1
        {50, 1980}, // 5: 2030, after 3
        {60, 10},   // 6: 70, first
    };
    reorder_init(&r, &c.sink.node, 1, 1, 1);
    uint32_t i = 0;
    for (const auto &t : table) {
        reorder_set(&r, 1, t.by);
        node_push(&r.node, c.make(i++), t.now);
    }
    run_node(&r.node, 5000);
    CHECK(c.came == came{{6, 70}, {2, 120}, {0, 1000}, {1, 1000}, {4, 1000}, {3, 2030}, {5, 2030}});
    CHECK(node_next_run_at(&r.node) == USEC_NEVER);
}

TEST_CASE("reorder: the probability and the set time apply")
{
    collector c;
    reorder r;
    reorder_init(&r, &c.sink.node, 0.1, 2500, 7);
    const uint32_t n = 50000; // 1 ms apart
    for (uint32_t i = 0; i < n; i++) {
        run_node(&r.node, i * 1000);
        node_push(&r.node, c.make(i), i * 1000);
    }
    run_node(&r.node, USEC_NEVER - 1);
    REQUIRE(c.came.size() == n);
    int held = 0;
    for (const auto &p : c.came) {
        usec_t took = p.second - (usec_t)p.first * 1000;
        if (took != 0 && took != 2500)
            FAIL("packet " << p.first << " took " << took);
        held += took == 2500;
    }
    CHECK(held == Approx(5000).margin(270)); // standard deviation 67
}

TEST_CASE("reorder: destroying it returns its packets")
{
    collector c;
    reorder r;
    reorder_init(&r, &c.sink.node, 1, 500, 1);
    node_push(&r.node, c.make(0), 0);
    node_destroy(&r.node);
    CHECK(c.pool.out == 0);
}
