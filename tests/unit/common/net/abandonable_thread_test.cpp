// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/abandonable_thread.h"

#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>

namespace
{

struct work {
    std::mutex lock;
    std::condition_variable changed;
    bool may_return = false;
    bool returned = false;
    int destroyed = 0;

    void let_return()
    {
        std::lock_guard<std::mutex> guard(lock);
        may_return = true;
        changed.notify_all();
    }
};

void run(void *arg)
{
    work *w = static_cast<work *>(arg);
    std::unique_lock<std::mutex> guard(w->lock);
    w->changed.wait(guard, [&] { return w->may_return; });
    w->returned = true;
}

void destroy(void *arg)
{
    work *w = static_cast<work *>(arg);
    std::lock_guard<std::mutex> guard(w->lock);
    w->destroyed++;
    w->changed.notify_all();
}

} // namespace

TEST_CASE("abandonable thread: if it returns, the caller keeps its argument", "[threads]")
{
    work w;
    abandonable_thread *t = abandonable_thread_new(run, &w);
    REQUIRE(t);
    w.let_return();
    CHECK(abandonable_thread_end(t, 60 * USEC_PER_SEC, destroy));
    CHECK(w.returned);
    CHECK(w.destroyed == 0);
}

TEST_CASE("abandonable thread: if it hangs, it destroys its argument when it returns", "[threads]")
{
    work w;
    abandonable_thread *t = abandonable_thread_new(run, &w);
    REQUIRE(t);
    CHECK_FALSE(abandonable_thread_end(t, 1000, destroy));
    CHECK_FALSE(w.returned); // nothing lets it
    CHECK(w.destroyed == 0);
    w.let_return();
    std::unique_lock<std::mutex> guard(w.lock);
    w.changed.wait(guard, [&] { return w.destroyed > 0; });
    CHECK(w.destroyed == 1);
    CHECK(w.returned);
}
