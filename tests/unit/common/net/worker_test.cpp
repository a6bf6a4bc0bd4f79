// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/worker.h"

#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "common/net/clock.h"

namespace
{

// Jobs are integers; the gate holds the job that runs until it is opened.
struct work {
    std::mutex lock;
    std::condition_variable changed;
    bool open = true;
    int begun = 0;
    int idle = 0;
    bool waits = false; // for on_idle
    std::vector<int> running, done, dropped;
    int jobs[64];

    work()
    {
        for (int i = 0; i < 64; i++)
            jobs[i] = i;
    }
    void set_open(bool to)
    {
        std::lock_guard<std::mutex> guard(lock);
        open = to;
        changed.notify_all();
    }
    template <typename Done> void until(Done is_done)
    {
        std::unique_lock<std::mutex> guard(lock);
        changed.wait(guard, is_done);
    }
};

work *world; // free_job has no ctx

void begin(void *ctx)
{
    work *w = static_cast<work *>(ctx);
    std::lock_guard<std::mutex> guard(w->lock);
    w->begun++;
}

void run(void *ctx, void *job)
{
    work *w = static_cast<work *>(ctx);
    std::unique_lock<std::mutex> guard(w->lock);
    w->running.push_back(*static_cast<int *>(job));
    w->changed.notify_all();
    w->changed.wait(guard, [&] { return w->open; });
    w->done.push_back(*static_cast<int *>(job));
    w->changed.notify_all();
}

void drop(void *job)
{
    std::lock_guard<std::mutex> guard(world->lock);
    world->dropped.push_back(*static_cast<int *>(job));
    world->changed.notify_all();
}

usec_t wait_until(void *ctx)
{
    work *w = static_cast<work *>(ctx);
    std::lock_guard<std::mutex> guard(w->lock);
    return w->waits ? clock_now() : USEC_NEVER;
}

void on_idle(void *ctx)
{
    work *w = static_cast<work *>(ctx);
    std::lock_guard<std::mutex> guard(w->lock);
    w->idle++;
    w->waits = false;
    w->changed.notify_all();
}

const worker_ops PLAIN = {begin, run, drop, nullptr, nullptr};
const worker_ops IDLES = {nullptr, run, drop, wait_until, on_idle};

} // namespace

TEST_CASE("worker: begins, runs jobs in order, and runs the waiting ones when finished",
          "[threads]")
{
    work w;
    world = &w;
    worker *t = worker_new(&PLAIN, 64, &w);
    REQUIRE(t);
    std::vector<int> all;
    for (int i = 0; i < 50; i++) {
        CHECK(worker_push(t, &w.jobs[i]));
        all.push_back(i);
    }
    worker_finish(t);
    CHECK(w.begun == 1);
    CHECK(w.done == all);
    CHECK_FALSE(worker_push(t, &w.jobs[50]));
    CHECK(worker_refused(t) == 1);
    worker_finish(t);
    worker_free(t);
    CHECK(w.dropped.empty());
    worker_free(nullptr);
}

TEST_CASE("worker: a full queue refuses, and waiting jobs are dropped when it is freed",
          "[threads]")
{
    work w;
    world = &w;
    w.open = false;
    worker *t = worker_new(&PLAIN, 2, &w);
    REQUIRE(t);
    CHECK(worker_push(t, &w.jobs[0]));
    w.until([&] { return w.running.size() == 1; }); // the queue is empty again
    CHECK(worker_push(t, &w.jobs[1]));
    CHECK(worker_push(t, &w.jobs[2]));
    CHECK_FALSE(worker_push(t, &w.jobs[3]));
    CHECK_FALSE(worker_push(t, nullptr));
    CHECK(worker_refused(t) == 2);
    w.set_open(true);
    w.until([&] { return w.done.size() == 3; });
    w.set_open(false);
    CHECK(worker_push(t, &w.jobs[4]));
    w.until([&] { return w.running.size() == 4; });
    CHECK(worker_push(t, &w.jobs[5]));
    std::thread opener([&] {
        w.until([&] { return w.dropped.size() == 1; }); // worker_free waits for job 4 by then
        w.set_open(true);
    });
    worker_free(t);
    opener.join();
    CHECK(w.done == std::vector<int>{0, 1, 2, 4});
    CHECK(w.dropped == std::vector<int>{5});
}

TEST_CASE("worker: on_idle is called when no job came in time, and at the end", "[threads]")
{
    work w;
    world = &w;
    w.waits = true;
    worker *t = worker_new(&IDLES, 2, &w);
    REQUIRE(t);
    w.until([&] { return w.idle == 1; });
    CHECK(worker_push(t, &w.jobs[0])); // it waits without end now
    w.until([&] { return w.done.size() == 1; });
    worker_finish(t);
    CHECK(w.idle == 1);
    worker_free(t);
}
