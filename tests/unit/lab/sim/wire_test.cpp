// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/wire.h"

#include <catch2/catch.hpp>

#include "tests/unit/lab/link/collector.hpp"

TEST_CASE("wire: rate, then delay")
{
    collector c;
    wire w;
    wire_init(&w, &c.sink.node, 100000000, 1000, 0, 1);
    // 1500 bytes take 120 us, 40 bytes 3.2 us; whole microseconds, rounded up at the end only.
    static const struct {
        usec_t at;
        uint32_t bytes;
        usec_t leaves;
    } table[] = {
        {0, 1500, 1120}, {0, 1500, 1240}, {10, 40, 1244}, {10, 40, 1247},
        {10, 40, 1250},  {10, 40, 1253},  {10, 40, 1256}, {5000, 40, 6004},
    };
    std::vector<usec_t> expected;
    for (const auto &row : table) {
        run_node(&w.node, row.at);
        node_push(&w.node, c.make(1, row.bytes), row.at);
        expected.push_back(row.leaves);
    }
    run_node(&w.node, 1000000);
    CHECK(c.times() == expected);
    node_destroy(&w.node);
}

TEST_CASE("wire: overhead is random, below its bound, and keeps the order")
{
    collector c;
    wire w;
    wire_init(&w, &c.sink.node, 1000000000, 0, 1000, 7);
    for (uint32_t i = 0; i < 1000; i++) {
        run_node(&w.node, i * 500);
        node_push(&w.node, c.make(i), i * 500);
    }
    run_node(&w.node, 1000000);
    usec_t sum = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        REQUIRE(c.came[i].first == i);
        usec_t took = c.came[i].second - i * 500;
        REQUIRE(took >= 12);
        REQUIRE(took < 1000 + 12 + 13);
        sum += took;
    }
    CHECK(sum / 1000 > 500); // the mean of the draws; waiting for the packet before adds to it
    node_destroy(&w.node);
}
