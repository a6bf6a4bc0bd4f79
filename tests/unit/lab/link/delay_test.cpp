// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "lab/link/delay.h"
#include "tests/unit/lab/link/collector.hpp"

using times = std::vector<usec_t>;

TEST_CASE("delay: each packet leaves `delay` after its arrival")
{
    collector c;
    delay d;
    delay_init(&d, &c.sink.node, 500, 0, 1);
    CHECK(node_next_run_at(&d.node) == USEC_NEVER);
    for (uint32_t i = 0; i < 3; i++)
        node_push(&d.node, c.make(i), 100 * i);
    CHECK(node_next_run_at(&d.node) == 500);
    run_node(&d.node, 599);
    CHECK(c.times() == times{500});
    CHECK(node_next_run_at(&d.node) == 600);
    run_node(&d.node, 10000);
    CHECK(c.times() == times{500, 600, 700});
    CHECK(c.flows() == std::vector<uint32_t>{0, 1, 2});
    CHECK(node_next_run_at(&d.node) == USEC_NEVER);
}

TEST_CASE("delay: packets without delay pass at once, without waking")
{
    collector c;
    delay d;
    delay_init(&d, &c.sink.node, 0, 0, 1);
    node_push(&d.node, c.make(0), 7);
    CHECK(c.times() == times{7});
    CHECK(node_next_run_at(&d.node) == USEC_NEVER);
}

TEST_CASE("delay: a reduced delay keeps the order of earlier packets")
{
    collector c;
    delay d;
    delay_init(&d, &c.sink.node, 1000, 0, 1);
    node_push(&d.node, c.make(0), 0); // 1000
    delay_set(&d, 100, 0);
    node_push(&d.node, c.make(1), 10); // 110, but not before 1000
    delay_set(&d, 0, 0);
    node_push(&d.node, c.make(2), 20); // the same
    run_node(&d.node, 1000);
    node_push(&d.node, c.make(3), 1000); // at once
    delay_set(&d, 2000, 0);
    node_push(&d.node, c.make(4), 1001);
    run_node(&d.node, 5000);
    CHECK(c.times() == times{1000, 1000, 1000, 1000, 3001});
    CHECK(c.flows() == std::vector<uint32_t>{0, 1, 2, 3, 4});
}

TEST_CASE("delay: jitter is uniform within its bounds when packets are far apart")
{
    collector c;
    delay d;
    delay_init(&d, &c.sink.node, 1000, 600, 3);
    const int n = 20000;
    double sum = 0, squares = 0;
    usec_t least = USEC_NEVER, most = 0;
    for (int i = 0; i < n; i++) {
        node_push(&d.node, c.make(0), i * 10000);
        run_node(&d.node, i * 10000 + 9999);
        usec_t took = c.came.back().second - i * 10000;
        least = std::min(least, took);
        most = std::max(most, took);
        sum += (double)took;
        squares += (double)(took * took);
    }
    CHECK((least >= 400 && least <= 405));
    CHECK((most <= 1600 && most >= 1595));
    // Uniform over 1201 values: standard deviation sqrt((1201^2 - 1) / 12) = 346.7; that of the
    // mean of 20,000 is 2.5.
    double mean = sum / n;
    CHECK(mean == Approx(1000).margin(10));
    CHECK(std::sqrt(squares / n - mean * mean) == Approx(346.7).epsilon(0.02));
}

TEST_CASE("delay: jitter larger than the delay stops at 0: a quarter is not delayed")
{
    collector c;
    delay d;
    delay_init(&d, &c.sink.node, 500, 1000, 4); // from -500 to 1500
    int at_once = 0;
    for (int i = 0; i < 10000; i++) {
        size_t before = c.came.size();
        node_push(&d.node, c.make(0), i * 10000);
        at_once += c.came.size() > before;
        run_node(&d.node, i * 10000 + 9999);
    }
    CHECK(c.came.size() == 10000);
    CHECK(at_once == Approx(2500).margin(150)); // standard deviation 43
}

TEST_CASE("delay: jitter keeps the order")
{
    collector c;
    delay d;
    delay_init(&d, &c.sink.node, 5000, 5000, 5);
    for (uint32_t i = 0; i < 5000; i++) {
        run_node(&d.node, i * 100);
        node_push(&d.node, c.make(i), i * 100);
    }
    run_node(&d.node, 10 * USEC_PER_SEC);
    REQUIRE(c.came.size() == 5000);
    for (uint32_t i = 0; i < 5000; i++) {
        usec_t took = c.came[i].second - i * 100;
        if (c.came[i].first != i || took < 0 || took > 10000 ||
            (i > 0 && c.came[i].second < c.came[i - 1].second))
            FAIL("packet " << i);
    }
}

TEST_CASE("delay: destroying it returns its packets")
{
    collector c;
    delay d;
    delay_init(&d, &c.sink.node, 5000, 0, 5);
    node_push(&d.node, c.make(0), 0);
    node_push(&d.node, c.make(1), 0);
    node_destroy(&d.node);
    CHECK(c.pool.out == 0);
}
