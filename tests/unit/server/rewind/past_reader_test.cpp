// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rewind/past_reader.h"

#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>

#include "common/base/err.h"
#include "common/net/abandonable_thread.h"

namespace
{

// Threads that hang until the gate opens.
struct gate {
    std::mutex lock;
    std::condition_variable changed;
    bool open = false;
    int inside = 0;

    void abandon_one()
    {
        abandonable_thread *t = abandonable_thread_new(
            [](void *arg) {
                gate *g = static_cast<gate *>(arg);
                std::unique_lock<std::mutex> l(g->lock);
                g->inside++;
                g->changed.notify_all();
                g->changed.wait(l, [&] { return g->open; });
            },
            this);
        REQUIRE(t);
        {
            std::unique_lock<std::mutex> l(lock);
            changed.wait(l, [&] { return inside > 0; });
            inside = 0;
        }
        REQUIRE_FALSE(abandonable_thread_end(t, 0, [](void *) {}));
    }
    void release()
    {
        std::lock_guard<std::mutex> l(lock);
        open = true;
        changed.notify_all();
    }
};

} // namespace

TEST_CASE("past_reader: while too many threads hang, none is added", "[threads]")
{
    static gate g; // the threads outlive this function's frame
    int before = abandonable_thread_count();
    past_reader *r = past_reader_new("/nonexistent/%Y.mkv");
    REQUIRE(r);
    for (int i = before; i < PAST_READERS_LEFT; i++)
        g.abandon_one();
    CHECK(abandonable_thread_count() == PAST_READERS_LEFT);
    CHECK_FALSE(past_reader_new("/nonexistent/%Y.mkv"));
    past_reader_seek(r, 0); // one that was there works on
    record_group *group = nullptr;
    int err = ERR_AGAIN;
    while (err == ERR_AGAIN)
        err = past_reader_poll(r, &group);
    CHECK(err == ERR_NOT_FOUND);
    past_reader_free(r);
    g.release();
    while (abandonable_thread_count() > before)
        ;
    r = past_reader_new("/nonexistent/%Y.mkv");
    CHECK(r);
    past_reader_free(r);
}
