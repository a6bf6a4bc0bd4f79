// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

#include "common/base/rng.h"
#include "common/net/clock.h"
#include "common/net/timer.h"

namespace
{

// Timers that are all due in one wake-up and record that they fired.
struct rig {
    struct entry {
        rig *owner;
        timer *t;
        int id;
    };
    uv_loop_t loop;
    std::vector<entry> entries;
    std::vector<int> fired;
    void (*also)(entry *) = nullptr;

    static void on_timer(void *ctx, usec_t)
    {
        auto *e = static_cast<entry *>(ctx);
        e->owner->fired.push_back(e->id);
        if (e->owner->also)
            e->owner->also(e);
    }

    explicit rig(int count) : entries(static_cast<size_t>(count))
    {
        uv_loop_init(&loop);
        for (int i = 0; i < count; i++) {
            entry &e = entries[static_cast<size_t>(i)];
            e = {this, timer_new(&loop, on_timer, &e), i};
            REQUIRE(e.t);
        }
    }

    ~rig()
    {
        for (entry &e : entries)
            timer_free(e.t);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }

    void set(int i, usec_t when)
    {
        timer_set(entries[static_cast<size_t>(i)].t, when);
    }

    std::vector<int> run()
    {
        fired.clear();
        uv_run(&loop, UV_RUN_NOWAIT);
        return fired;
    }
};

} // namespace

TEST_CASE("timer: each timer fires once, in the order of time")
{
    rig r(5);
    const usec_t when[] = {400, 100, USEC_NEVER, 300, 200};
    for (int i = 0; i < 5; i++)
        r.set(i, when[i]);
    CHECK(r.run() == std::vector<int>{1, 4, 3, 0});
    CHECK(r.run().empty());
}

TEST_CASE("timer: the last setting applies")
{
    rig r(3);
    for (int i = 0; i < 3; i++)
        r.set(i, 100 + i);
    r.set(0, 500);
    r.set(1, USEC_NEVER);
    CHECK(r.run() == std::vector<int>{2, 0});
    r.set(0, clock_now() + 3600 * USEC_PER_SEC);
    r.set(1, clock_now() + 3600 * USEC_PER_SEC);
    CHECK(r.run().empty());
    r.set(1, 1);
    CHECK(r.run() == std::vector<int>{1});
}

TEST_CASE("timer: a timer that a callback sets for now waits for the next wake-up")
{
    rig r(2);
    r.also = [](rig::entry *e) { timer_set(e->t, 1); };
    r.set(0, 1);
    r.set(1, 2);
    for (int i = 0; i < 3; i++) {
        std::vector<int> fired = r.run();
        std::sort(fired.begin(), fired.end());
        CHECK(fired == std::vector<int>{0, 1});
    }
    r.also = nullptr;
    r.run();
}

TEST_CASE("timer: a callback may free its timer and another one that is due")
{
    rig r(3);
    r.also = [](rig::entry *e) {
        for (int i = 0; i < 2; i++) {
            timer_free(e->owner->entries[static_cast<size_t>(i)].t);
            e->owner->entries[static_cast<size_t>(i)].t = nullptr;
        }
        e->owner->also = nullptr;
    };
    for (int i = 0; i < 3; i++)
        r.set(i, 1 + i);
    CHECK(r.run() == std::vector<int>{0, 2});
}

TEST_CASE("timer: many timers, set, moved and disarmed at random, fire in order")
{
    rig r(300);
    rng random = rng_seeded(7);
    std::vector<usec_t> when(300, USEC_NEVER);
    for (int i = 0; i < 5000; i++) {
        int k = static_cast<int>(rng_below(&random, 300));
        usec_t at = rng_below(&random, 5) ? 1 + static_cast<usec_t>(rng_below(&random, 1000000))
                                          : USEC_NEVER;
        when[static_cast<size_t>(k)] = at;
        r.set(k, at);
    }
    std::vector<int> fired = r.run();
    auto set = std::count_if(when.begin(), when.end(), [](usec_t w) { return w != USEC_NEVER; });
    CHECK(static_cast<long>(fired.size()) == set);
    CHECK(std::is_sorted(fired.begin(), fired.end(), [&](int a, int b) {
        return when[static_cast<size_t>(a)] < when[static_cast<size_t>(b)];
    }));
}
