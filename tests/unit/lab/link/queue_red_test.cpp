// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cmath>
#include <map>

#include "tests/unit/lab/link/queue_fixture.hpp"

using numbers = std::vector<uint32_t>;

namespace
{

// At max and above all are dropped, below min none: with min = max the drops show the average.
queue_config step_config(double threshold_packets, double weight)
{
    queue_config c = config_of(QUEUE_RED, 1000);
    c.min.packets = c.max.packets = static_cast<uint64_t>(threshold_packets);
    c.p_max = 0.1;
    c.weight = weight;
    return c;
}

// `n` ECT arrivals that all meet `length` packets (an average of weight 1 is the length itself);
// the distances between marks, how often each.
std::map<uint32_t, int> mark_distances(queue_config c, uint32_t length, uint32_t n)
{
    c.weight = 1;
    c.ecn = true;
    queue_fixture f(c, 99);
    f.put_many(length, 0, ECN_ECT0);
    for (uint32_t i = 0; i < n; i++) {
        f.put(0, ECN_ECT0);
        f.take(0);
    }
    f.take_all(0);
    std::map<uint32_t, int> distances;
    size_t first = 0;
    while (first < f.marked.size() && f.marked[first] < length)
        first++;
    for (size_t i = first + 1; i < f.marked.size(); i++)
        distances[f.marked[i] - f.marked[i - 1]]++;
    return distances;
}

} // namespace

TEST_CASE("red: an average by hand, weight 0.5, all dropped from 4 on")
{
    queue_fixture f(step_config(4, 0.5));
    // meets     0  1    2     3      4       5
    // average   0  0.5  1.25  2.125  3.0625  4.03125
    f.put_many(6, 0);
    CHECK(f.dropped(LINK_DROP_AQM) == numbers{5});
    f.put(0); // meets 5: 4.515625
    CHECK(f.dropped(LINK_DROP_AQM) == numbers{5, 6});
    for (int i = 0; i < 3; i++)
        f.take(0);
    f.put(0); // meets 2: 3.2578125
    CHECK(f.dropped(LINK_DROP_AQM) == numbers{5, 6});
    CHECK(f.q->packets == 3);
}

TEST_CASE("red: while idle the average decays by one small packet a packet time")
{
    struct row {
        double bps;
        usec_t idle;
        bool dropped;
    };
    // The average is 4.03125 when the queue runs empty. At 8 Mbit/s 1000 bytes take 1 ms.
    const row rows[] = {
        {8e6, 0, true},          // 4.03
        {8e6, 2 * MS, true},     // 1.008
        {8e6, 2100, false},      // 0.94
        {8e6, 3 * MS, false},    // 0.504
        {4e6, 3 * MS, true},     // 1.43
        {4e6, 5 * MS, false},    // 0.71
        {0, 3600000 * MS, true}, // stands still
    };
    for (const row &r : rows) {
        CAPTURE(r.bps, r.idle);
        queue_config c = step_config(1, 0.5);
        queue_fixture f(c);
        f.q->rate_bps = r.bps;
        // Filled below the threshold that counts: the average reaches 4.03125 by the table above.
        f.q->config.min.packets = f.q->config.max.packets = 4;
        f.put_many(6, 0);
        f.take_all(10 * MS);
        f.q->config = c;
        size_t before = f.dropped(LINK_DROP_AQM).size();
        f.put(10 * MS + r.idle);
        CHECK((f.dropped(LINK_DROP_AQM).size() > before) == r.dropped);
    }
}

TEST_CASE("red: arrivals that are dropped at an empty queue do not stop the decay")
{
    queue_config c = step_config(1, 0.5);
    queue_fixture f(c);
    f.q->rate_bps = 8e6;
    f.q->config.min.packets = f.q->config.max.packets = 4;
    f.put_many(6, 0);
    f.take_all(0);
    f.q->config = c;
    f.put(1 * MS); // 2.02
    f.put(2 * MS); // 1.008
    f.put(3 * MS); // 0.504
    CHECK(f.dropped(LINK_DROP_AQM) == numbers{5, 6, 7});
    CHECK(f.q->packets == 1);
}

TEST_CASE("red: the distance between signals is uniform in 1 .. 1 / p_b")
{
    queue_config c = config_of(QUEUE_RED, 1000);
    c.max.packets = 20;
    c.p_max = 0.1;
    // At 10: p_b = 0.1 * 10 / 20 = 1 / 20, so the mean distance is 10.5.
    auto distances = mark_distances(c, 10, 100000);
    int total = 0;
    for (const auto &d : distances)
        total += d.second;
    CHECK(std::abs(total - 100000 / 10.5) < 200);
    CHECK(distances.begin()->first == 1);
    CHECK(distances.rbegin()->first <= 21); // 1 - 19 p_b rounds to a little over p_b
    for (uint32_t i = 1; i <= 20; i++)
        CHECK(std::abs(distances[i] - total / 20.0) < 5 * std::sqrt(total / 20.0));
}

TEST_CASE("red: gentle")
{
    queue_config c = config_of(QUEUE_RED, 1000);
    c.min.packets = 5;
    c.max.packets = 10;
    c.p_max = 0.1;
    c.gentle = true;
    // At 15, half-way from max to 2 max: p_b = 0.1 + 0.9 / 2 = 0.55; so 1 with 0.55, else 2.
    auto distances = mark_distances(c, 15, 100000);
    CHECK(distances.size() == 2);
    double n = distances[1] + distances[2];
    CHECK(std::abs(distances[1] - 0.55 * n) < 5 * std::sqrt(n * 0.55 * 0.45));
    CHECK(mark_distances(c, 20, 1000).size() == 1); // 2 max: each
    c.gentle = false;
    CHECK(mark_distances(c, 10, 1000).size() == 1); // max: each
}

TEST_CASE("red: thresholds in bytes; below min no packet is signalled; the hard limit")
{
    queue_config c = config_of(QUEUE_RED, 8);
    c.min.bytes = c.max.bytes = 3000;
    c.weight = 1;
    queue_fixture f(c);
    f.put(0, ECN_NOT, 1500);
    f.put(0, ECN_NOT, 1499);
    f.put(0, ECN_NOT, 1); // meets 2999
    f.put(0, ECN_NOT, 1); // meets 3000
    CHECK(f.dropped(LINK_DROP_AQM) == numbers{3});

    c.min.bytes = c.max.bytes = 100;
    c.ecn = true;
    queue_fixture full(c);
    full.put_many(10, 0, ECN_ECT0);
    CHECK(full.dropped(LINK_DROP_FULL) == numbers{8, 9});
    full.put(0, ECN_NOT);
    full.take_all(0);
    CHECK(full.marked == numbers{1, 2, 3, 4, 5, 6, 7});
}
