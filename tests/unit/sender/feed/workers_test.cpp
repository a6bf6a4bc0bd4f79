// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/feed/workers.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "common/base/err.h"

namespace
{

// The threads block in their work until the gate opens.
struct gate {
    std::mutex lock;
    std::condition_variable changed;
    bool open = false;
    int inside = 0;

    void pass()
    {
        std::unique_lock<std::mutex> l(lock);
        inside++;
        changed.notify_all();
        changed.wait(l, [&] { return open; });
    }
    void wait_inside(int count)
    {
        std::unique_lock<std::mutex> l(lock);
        REQUIRE(changed.wait_for(l, std::chrono::seconds(600), [&] { return inside == count; }));
    }
    void release()
    {
        std::lock_guard<std::mutex> l(lock);
        open = true;
        changed.notify_all();
    }
};

struct task {
    work base; // first
    gate *at;
    std::atomic<int> runs{0};
    int done = 0, dropped = 0;

    explicit task(gate *g) : at(g)
    {
        base.run = [](work *w) {
            auto *t = reinterpret_cast<task *>(w);
            t->runs++;
            t->at->pass();
        };
        base.done = [](work *w, usec_t) { reinterpret_cast<task *>(w)->done++; };
        base.drop = [](work *w) { reinterpret_cast<task *>(w)->dropped++; };
    }
};

} // namespace

TEST_CASE("workers: a limited number runs and waits; further work is refused", "[threads]")
{
    uv_loop_t loop;
    uv_loop_init(&loop);
    gate g;
    workers *ws = workers_new(&loop, 2, 1);
    REQUIRE(ws);
    task a(&g), b(&g), c(&g), d(&g);
    CHECK(workers_add(ws, &a.base) == 0);
    g.wait_inside(1);
    CHECK(workers_add(ws, &b.base) == 0);
    g.wait_inside(2);
    CHECK(workers_add(ws, &c.base) == 0);
    CHECK(workers_add(ws, &d.base) == ERR_FULL);
    CHECK(c.runs == 0);
    g.release();
    while (a.done + b.done + c.done < 3)
        uv_run(&loop, UV_RUN_ONCE);
    CHECK(workers_add(ws, &d.base) == 0);
    while (!d.done)
        uv_run(&loop, UV_RUN_ONCE);
    for (task *t : {&a, &b, &c, &d})
        CHECK((t->runs == 1 && t->done == 1 && t->dropped == 0));
    workers_free(ws);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&loop) == 0);
}

TEST_CASE("workers: late work holds up no other", "[threads]")
{
    uv_loop_t loop;
    uv_loop_init(&loop);
    gate hangs, passes;
    passes.release();
    workers *ws = workers_new(&loop, 1, 1);
    REQUIRE(ws);
    task stuck(&hangs), next(&passes), after(&passes);
    for (int round = 0; round < 2; round++) { // the thread of the first round serves the second
        INFO(round);
        CHECK(workers_add(ws, &stuck.base) == 0);
        hangs.wait_inside(1);
        CHECK(workers_add(ws, &next.base) == 0);
        CHECK(workers_add(ws, &after.base) == ERR_FULL);
        workers_late(ws, &stuck.base);
        workers_late(ws, &stuck.base); // again: nothing
        while (next.done <= round)
            uv_run(&loop, UV_RUN_ONCE);
        CHECK(workers_add(ws, &after.base) == 0);
        while (after.done <= round)
            uv_run(&loop, UV_RUN_ONCE);
        CHECK(stuck.done == round);
        hangs.release();
        while (stuck.done <= round)
            uv_run(&loop, UV_RUN_ONCE);
        hangs.open = false;
        hangs.inside = 0;
    }
    workers_free(ws);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&loop) == 0);
}

TEST_CASE("workers: late work is bounded, and dropped as other work", "[threads]")
{
    uv_loop_t loop;
    uv_loop_init(&loop);
    gate g;
    workers *ws = workers_new(&loop, 1, 1);
    REQUIRE(ws);
    std::deque<task> tasks;
    for (int i = 0; i <= WORKERS_LATE; i++) {
        CHECK(workers_add(ws, &tasks.emplace_back(&g).base) == 0);
        g.wait_inside(i + 1);
        workers_late(ws, &tasks.back().base);
    }
    task waits(&g), refused(&g);
    CHECK(workers_add(ws, &waits.base) == 0);
    CHECK(workers_add(ws, &refused.base) == ERR_FULL);
    CHECK(waits.runs == 0);
    workers_free(ws);
    g.release();
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(waits.dropped == 1);
    for (task &t : tasks)
        CHECK((t.runs == 1 && t.dropped == 1 && t.done == 0));
    CHECK(uv_loop_close(&loop) == 0);
}

TEST_CASE("workers: freeing drops each work once, when its thread has returned", "[threads]")
{
    uv_loop_t loop;
    uv_loop_init(&loop);
    gate g;
    workers *ws = workers_new(&loop, 1, 1);
    REQUIRE(ws);
    task running(&g), waiting(&g);
    CHECK(workers_add(ws, &running.base) == 0);
    g.wait_inside(1);
    CHECK(workers_add(ws, &waiting.base) == 0);
    workers_free(ws); // does not wait for the thread
    CHECK(running.dropped == 0);
    CHECK(waiting.dropped == 1);
    g.release();
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK((running.dropped == 1 && running.done == 0));
    CHECK((waiting.dropped == 1 && waiting.runs == 0));
    CHECK(uv_loop_close(&loop) == 0);
}
