// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "common/base/rng.h"
#include "lab/link/delay.h"
#include "lab/link/world.h"
#include "tests/unit/lab/link/collector.hpp"

namespace
{

using event = std::pair<int, usec_t>; // who, when

struct waker {
    struct node node; // first
    int name;
    std::vector<event> *log;
    std::function<void(waker &, usec_t)> then;
};

void run(struct node *n, usec_t now)
{
    waker *k = reinterpret_cast<waker *>(n);
    k->log->emplace_back(k->name, now);
    node_wake_at(n, USEC_NEVER);
    if (k->then)
        k->then(*k, now);
}

const node_ops OPS = {nullptr, run, nullptr};

struct wakers {
    struct world world;
    std::deque<waker> all;
    std::vector<event> log;

    explicit wakers(int count)
    {
        world_init(&world, 0);
        for (int i = 0; i < count; i++) {
            all.push_back({{}, i, &log, nullptr});
            node_init(&all.back().node, &OPS, nullptr);
            REQUIRE(world_add(&world, &all.back().node) == 0);
        }
    }
    ~wakers()
    {
        world_destroy(&world);
    }
    void wake(int i, usec_t at)
    {
        node_wake_at(&all[(size_t)i].node, at);
    }
};

} // namespace

TEST_CASE("world: in the order of time, and of adding at one instant, in any order of waking")
{
    wakers w(5);
    CHECK(world_next(&w.world) == USEC_NEVER);
    w.wake(4, 20);
    w.wake(2, 10);
    w.wake(0, 20);
    w.wake(3, 10);
    w.wake(1, 30);
    CHECK(world_next(&w.world) == 10);
    world_run(&w.world, 20); // up to and including
    CHECK(w.log == std::vector<event>{{2, 10}, {3, 10}, {0, 20}, {4, 20}});
    CHECK(world_next(&w.world) == 30);
    CHECK(w.world.now == 20);
    world_run(&w.world, 29);
    CHECK(w.log.size() == 4);
    world_run(&w.world, USEC_NEVER); // all that wait, but nobody at USEC_NEVER
    CHECK(w.log.back() == event{1, 30});
    CHECK(w.world.now == 30);
}

TEST_CASE("world: a late call runs each node at its own instant")
{
    wakers w(2);
    w.all[0].then = [&](waker &k, usec_t now) { node_wake_at(&k.node, now + 7); };
    w.all[1].then = [&](waker &k, usec_t now) { node_wake_at(&k.node, now + 10); };
    w.wake(0, 7);
    w.wake(1, 10);
    world_run(&w.world, 30);
    CHECK(w.log ==
          std::vector<event>{{0, 7}, {1, 10}, {0, 14}, {1, 20}, {0, 21}, {0, 28}, {1, 30}});
}

TEST_CASE("world: nodes wake, postpone and wake others")
{
    wakers w(3);
    w.all[0].then = [&](waker &, usec_t now) {
        w.wake(2, now);        // this instant still
        w.wake(1, now + 5);    // earlier than it asked for
        w.wake(1, USEC_NEVER); // not at all
        w.wake(1, now + 6);    // or so
    };
    w.wake(0, 1);
    w.wake(1, 100);
    w.wake(2, 50);
    world_run(&w.world, 200);
    CHECK(w.log == std::vector<event>{{0, 1}, {2, 1}, {1, 7}});
}

TEST_CASE("world: a time that has passed runs at once")
{
    wakers w(1);
    world_run(&w.world, 100);
    w.wake(0, 40);
    world_run(&w.world, 100);
    CHECK(w.log == std::vector<event>{{0, 100}});
}

TEST_CASE("world: removed nodes are not run, the others are")
{
    wakers w(20);
    for (int i = 0; i < 20; i++)
        w.wake(i, 100 - i);
    for (int i = 0; i < 20; i += 2)
        world_remove(&w.world, &w.all[(size_t)i].node);
    w.wake(0, 1); // by hand, now
    CHECK(w.all[0].node.world == nullptr);
    world_run(&w.world, 1000);
    std::vector<event> expected;
    for (int i = 19; i > 0; i -= 2)
        expected.emplace_back(i, 100 - i);
    CHECK(w.log == expected);
    REQUIRE(world_add(&w.world, &w.all[0].node) == 0); // again, with what it wants
    world_run(&w.world, 1000);
    CHECK(w.log.back() == event{0, 1000});
}

TEST_CASE("world: destroying it leaves its nodes unchanged")
{
    wakers w(3);
    w.wake(1, 5);
    world_destroy(&w.world);
    for (const waker &k : w.all)
        CHECK(k.node.world == nullptr);
    CHECK(node_next_run_at(&w.all[1].node) == 5);
    w.wake(1, 6);
}

TEST_CASE("world: equals a sorted list, for 100,000 events of 200 nodes")
{
    wakers w(200);
    rng r = rng_seeded(1);
    std::vector<event> expected;
    for (int round = 0; round < 500; round++) {
        std::vector<std::pair<usec_t, int>> plan;
        for (int i = 0; i < 200; i++) {
            usec_t at = round * 100 + (usec_t)rng_below(&r, 100);
            w.wake(i, round * 100 + (usec_t)rng_below(&r, 100)); // thinks better of it
            w.wake(i, at);
            plan.emplace_back(at, i);
        }
        std::sort(plan.begin(), plan.end());
        for (const auto &p : plan)
            expected.emplace_back(p.second, p.first);
        world_run(&w.world, round * 100 + 99);
    }
    CHECK(w.log == expected);
}

TEST_CASE("world: the same seed gives the same times, in one call or in many")
{
    auto times = [](uint64_t seed, usec_t step) {
        collector c;
        world w;
        delay first, second;
        world_init(&w, 0);
        delay_init(&second, &c.sink.node, 3000, 2000, seed + 1);
        delay_init(&first, &second.node, 5000, 4000, seed);
        REQUIRE(world_add(&w, &first.node) == 0);
        REQUIRE(world_add(&w, &second.node) == 0);
        for (usec_t now = 0; now < 100000; now += step) {
            world_run(&w, now);
            if (now % 1000 == 0)
                node_push(&first.node, c.make((uint32_t)now), now);
        }
        world_run(&w, USEC_NEVER);
        world_destroy(&w);
        return c.came;
    };
    const auto reference = times(42, 1000);
    CHECK(reference.size() == 100);
    CHECK(times(42, 1000) == reference);
    CHECK(times(42, 10) == reference);
    CHECK(times(43, 1000) != reference);
}
