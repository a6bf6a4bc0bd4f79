// SPDX-License-Identifier: GPL-2.0-or-later
// Properties of every discipline.
#include <catch2/catch.hpp>

#include "common/base/rng.h"
#include "tests/unit/lab/link/queue_fixture.hpp"

namespace
{

queue_config any_config(queue_kind kind)
{
    queue_config c = config_of(kind, 50);
    c.limit.bytes = 40000;
    c.ecn = true;
    c.mark.packets = 15;
    c.min.packets = 10;
    c.max.packets = 30;
    c.p_min = 0.1;
    c.p_max = kind == QUEUE_RED ? 0.1 : 0.95;
    c.weight = 0.02;
    c.gentle = true;
    c.target = kind == QUEUE_CODEL ? 5 * MS : 15 * MS;
    c.interval = kind == QUEUE_CODEL ? 100 * MS : 16 * MS;
    c.alpha = 0.16;
    c.beta = 3.2;
    c.k = 2;
    c.step = MS;
    return c;
}

// 20000 arrivals of random size and ECN bits, in bursts, at about the rate of the departures.
void random_traffic(queue_fixture &f, uint64_t seed)
{
    rng r = rng_seeded(seed);
    f.q->rate_bps = 10e6;
    usec_t now = 0;
    while (f.next < 20000) {
        now += static_cast<usec_t>(rng_below(&r, 3000));
        for (uint64_t n = rng_below(&r, 60); n > 0; n--)
            f.put(now, static_cast<ecn>(rng_below(&r, 4)),
                  40 + static_cast<uint32_t>(rng_below(&r, 1461)));
        for (uint64_t n = rng_below(&r, 60); n > 0; n--) {
            now += static_cast<usec_t>(rng_below(&r, 1000));
            f.take(now);
        }
        REQUIRE(f.q->packets <= 50);
        REQUIRE(f.q->bytes <= 40000);
    }
    f.take_all(now);
}

} // namespace

TEST_CASE("queue: every packet is dequeued or dropped once; the counters return to 0")
{
    const int kind = GENERATE(range(0, static_cast<int>(QUEUE_KINDS)));
    CAPTURE(kind);
    queue_fixture f(any_config(static_cast<queue_kind>(kind)));
    random_traffic(f, 42);
    CHECK(f.q->packets == 0);
    CHECK(f.q->bytes == 0);
    CHECK(f.c.pool.out == 0);
    std::vector<uint32_t> seen = f.out;
    for (const auto &d : f.c.dropped)
        seen.push_back(d.first);
    std::sort(seen.begin(), seen.end());
    REQUIRE(seen.size() == f.next);
    for (uint32_t i = 0; i < f.next; i++)
        REQUIRE(seen[i] == i);
    CHECK_FALSE(f.c.dropped.empty());
    CHECK_FALSE(f.marked.empty());
}

TEST_CASE("queue: the same seed gives the same run")
{
    const int kind = GENERATE(range(0, static_cast<int>(QUEUE_KINDS)));
    queue_fixture a(any_config(static_cast<queue_kind>(kind)), 5);
    queue_fixture b(any_config(static_cast<queue_kind>(kind)), 5);
    random_traffic(a, 1);
    random_traffic(b, 1);
    CHECK(a.out == b.out);
    CHECK(a.marked == b.marked);
    CHECK(a.c.dropped == b.c.dropped);
}

TEST_CASE("queue: freeing it returns its packets to their pool")
{
    const int kind = GENERATE(range(0, static_cast<int>(QUEUE_KINDS)));
    collector c;
    queue_config config = any_config(static_cast<queue_kind>(kind));
    queue *q = queue_new(&config, &c.drops.dropper, 1);
    for (uint32_t i = 0; i < 6; i++) {
        packet *p = c.make(i);
        p->ecn = i % 2 ? ECN_ECT1 : ECN_NOT;
        q->ops->enqueue(q, p, 0);
    }
    CHECK(c.pool.out == 6);
    queue_free(q);
    CHECK(c.pool.out == 0);
    CHECK(c.dropped.empty());
}

TEST_CASE("queue: the wait is added to earlier waits of the packet")
{
    const int kind = GENERATE(range(0, static_cast<int>(QUEUE_KINDS)));
    queue_fixture f(any_config(static_cast<queue_kind>(kind)));
    packet *p = f.c.make(0);
    p->queue_delay = 7;
    f.q->ops->enqueue(f.q, p, 100);
    CHECK(p->queued_at == 100);
    f.take(350);
    CHECK(f.waits == std::vector<usec_t>{257});
}

TEST_CASE("queue: freeing NULL is allowed")
{
    queue_free(nullptr);
}
