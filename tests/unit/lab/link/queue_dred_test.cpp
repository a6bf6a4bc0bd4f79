// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cmath>

#include "tests/unit/lab/link/queue_fixture.hpp"

namespace
{

queue_config dred_config(queue_kind kind)
{
    queue_config c = config_of(kind, 40);
    c.min.packets = 10;
    c.max.packets = 20;
    c.p_min = 0.1;
    c.p_max = kind == QUEUE_DRED ? 1.0 : 0.95;
    return c;
}

void fill_to(queue_fixture &f, uint64_t length)
{
    double p_min = f.q->config.p_min, p_max = f.q->config.p_max;
    f.q->config.p_min = f.q->config.p_max = 0;
    while (f.q->packets < length)
        f.put(0);
    f.q->config.p_min = p_min;
    f.q->config.p_max = p_max;
}

// Returns the fraction of drops of 1e5 arrivals that all meet `length` packets.
double dropped_share(const queue_config &c, uint64_t length)
{
    queue_fixture f(c, 7);
    fill_to(f, length);
    for (int i = 0; i < 100000; i++) {
        f.put(0);
        if (f.q->packets > length)
            f.take(0);
    }
    return static_cast<double>(f.dropped(LINK_DROP_AQM).size()) / 1e5;
}

} // namespace

TEST_CASE("dred, drd: the probability at each length")
{
    struct row {
        uint64_t length;
        double dred, drd;
    };
    const row rows[] = {
        {0, 0, 0},         {10, 0, 0},    // not beyond min
        {11, 0.19, 0.185},                // 0.1 + 0.9 / 10; 0.1 + 0.85 / 10
        {15, 0.55, 0.525},                // half-way
        {19, 0.91, 0.865}, {20, 1, 0.95}, // max
        {39, 1, 0.95},                    // up to the limit
    };
    for (const row &r : rows) {
        CAPTURE(r.length);
        auto bound = [](double p) { return 5 * std::sqrt(p * (1 - p) / 1e5); };
        CHECK(std::abs(dropped_share(dred_config(QUEUE_DRED), r.length) - r.dred) <= bound(r.dred));
        CHECK(std::abs(dropped_share(dred_config(QUEUE_DRD), r.length) - r.drd) <= bound(r.drd));
    }
}

TEST_CASE("dred: at the paper's setting, max = limit, ECT is marked before and dropped beyond")
{
    queue_config c = dred_config(QUEUE_DRED);
    c.max.packets = c.limit.packets = 20;
    c.p_min = 1;
    c.ecn = true;
    queue_fixture f(c);
    f.put_many(25, 0, ECN_ECT0);
    CHECK(f.dropped(LINK_DROP_FULL) == std::vector<uint32_t>{20, 21, 22, 23, 24});
    CHECK(f.dropped(LINK_DROP_AQM).empty());
    f.take_all(0);
    std::vector<uint32_t> expected = {11, 12, 13, 14, 15, 16, 17, 18, 19}; // 10 meets 10
    CHECK(f.marked == expected);
}

TEST_CASE("dred: without `ecn` ECT packets are dropped, too; with `ecn` the others are")
{
    queue_config c = dred_config(QUEUE_DRED);
    queue_fixture off(c);
    fill_to(off, 20);
    off.put_many(5, 0, ECN_ECT1);
    CHECK(off.dropped(LINK_DROP_AQM).size() == 5);
    c.ecn = true;
    queue_fixture on(c);
    fill_to(on, 20);
    on.put_many(5, 0, ECN_NOT);
    on.put_many(5, 0, ECN_ECT1);
    on.put_many(5, 0, ECN_CE); // stays CE, was not marked here
    CHECK(on.dropped(LINK_DROP_AQM).size() == 5);
    on.take_all(0);
    CHECK(on.marked == std::vector<uint32_t>{25, 26, 27, 28, 29});
}

TEST_CASE("drd: 95 % of a permanent burst is dropped, and finally the limit applies")
{
    queue_fixture f(dred_config(QUEUE_DRD), 3);
    f.put_many(10000, 0);
    CHECK(f.q->packets == 40);
    CHECK(f.dropped(LINK_DROP_FULL).size() > 9000);
}

TEST_CASE("dred: thresholds in bytes, and of unlike units")
{
    queue_config c = dred_config(QUEUE_DRED);
    c.p_min = 1;
    c.min = {3000, 0};
    c.max = {6000, 0};
    queue_fixture bytes(c);
    bytes.put_many(4, 0); // meet 0, 1500, 3000, 4500
    CHECK(bytes.dropped(LINK_DROP_AQM) == std::vector<uint32_t>{3});
    c.min = {0, 2}; // 2 packets of 1500 bytes
    queue_fixture mixed(c);
    mixed.put_many(4, 0);
    CHECK(mixed.dropped(LINK_DROP_AQM) == std::vector<uint32_t>{3});
}
