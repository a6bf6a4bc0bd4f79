// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstdlib>
#include <thread>
#include <vector>

#include "common/net/mailbox.h"

namespace
{

struct item {
    int poster;
    int number;
};

struct reader {
    uv_loop_t loop;
    mailbox *box;
    std::vector<int> last{-1, -1};
    int count = 0;
    bool ordered = true;
    int wanted = 0;
};

void on_item(void *ctx, void *arg, usec_t)
{
    reader *r = static_cast<reader *>(ctx);
    item *i = static_cast<item *>(arg);
    r->ordered = r->ordered && i->number == r->last[static_cast<size_t>(i->poster)] + 1;
    r->last[static_cast<size_t>(i->poster)] = i->number;
    free(i);
    if (++r->count == r->wanted)
        uv_stop(&r->loop);
}

item *new_item(int poster, int number)
{
    item *i = static_cast<item *>(malloc(sizeof(item)));
    *i = {poster, number};
    return i;
}

} // namespace

TEST_CASE("mailbox: two threads post, the loop gets all of it in each one's order", "[threads]")
{
    const int each = 5000;
    reader r;
    uv_loop_init(&r.loop);
    r.box = mailbox_new(&r.loop, 16, on_item, free, &r);
    r.wanted = 2 * each;
    auto post = [&](int poster) {
        for (int n = 0; n < each; n++) {
            item *i = new_item(poster, n);
            while (!mailbox_post(r.box, i)) // full: try again
                std::this_thread::yield();
        }
    };
    std::thread a(post, 0), b(post, 1);
    uv_run(&r.loop, UV_RUN_DEFAULT);
    a.join();
    b.join();
    CHECK(r.ordered);
    CHECK(r.count == 2 * each);
    mailbox_post(r.box, new_item(0, each)); // left behind: freed with the mailbox
    mailbox_free(r.box);
    uv_run(&r.loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&r.loop) == 0);
}

TEST_CASE("worker_queue: bounded, ordered, and closed for good", "[threads]")
{
    worker_queue *q = worker_queue_new(4, free);
    std::vector<int> got;
    std::thread worker([&] {
        while (item *i = static_cast<item *>(worker_queue_pop(q, USEC_NEVER))) {
            got.push_back(i->number);
            free(i);
        }
    });
    for (int n = 0; n < 1000; n++) {
        item *i = new_item(0, n);
        while (!worker_queue_push(q, i))
            std::this_thread::yield();
    }
    worker_queue_close(q);
    worker.join();
    REQUIRE(got.size() == 1000);
    for (int n = 0; n < 1000; n++)
        CHECK(got[static_cast<size_t>(n)] == n);
    item *late = new_item(0, 0);
    CHECK_FALSE(worker_queue_push(q, late));
    free(late);
    CHECK(worker_queue_pop(q, 0) == nullptr);
    worker_queue_free(q);
}

TEST_CASE("worker_queue: a full one refuses, a passed deadline gives nothing", "[threads]")
{
    worker_queue *q = worker_queue_new(2, free);
    CHECK(worker_queue_pop(q, 1) == nullptr); // an instant long ago
    item *third = new_item(0, 3);
    CHECK(worker_queue_push(q, new_item(0, 1)));
    CHECK(worker_queue_push(q, new_item(0, 2)));
    CHECK_FALSE(worker_queue_push(q, third));
    free(third);
    CHECK(worker_queue_length(q) == 2);
    worker_queue_clear(q);
    CHECK(worker_queue_length(q) == 0);
    worker_queue_free(q);
}
