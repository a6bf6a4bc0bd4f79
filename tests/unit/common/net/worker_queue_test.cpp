// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/worker_queue.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <thread>
#include <vector>

namespace
{

struct item {
    int number;
};

item *new_item(int number)
{
    item *i = static_cast<item *>(malloc(sizeof(item)));
    REQUIRE(i);
    i->number = number;
    return i;
}

} // namespace

TEST_CASE("worker_queue: bounded, ordered, and closed permanently", "[threads]")
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
        item *i = new_item(n);
        while (!worker_queue_push(q, i))
            std::this_thread::yield();
    }
    worker_queue_close(q);
    worker.join();
    REQUIRE(got.size() == 1000);
    for (int n = 0; n < 1000; n++)
        CHECK(got[static_cast<size_t>(n)] == n);
    item *late = new_item(0);
    CHECK_FALSE(worker_queue_push(q, late));
    free(late);
    CHECK(worker_queue_pop(q, 0) == nullptr);
    worker_queue_free(q);
}

TEST_CASE("worker_queue: a full queue refuses, a passed deadline returns nothing", "[threads]")
{
    worker_queue *q = worker_queue_new(2, free);
    CHECK(worker_queue_pop(q, 1) == nullptr); // an instant long ago
    item *third = new_item(3);
    CHECK(worker_queue_push(q, new_item(1)));
    CHECK(worker_queue_push(q, new_item(2)));
    CHECK_FALSE(worker_queue_push(q, third));
    free(third);
    worker_queue_clear(q);
    CHECK_FALSE(worker_queue_is_over(q)); // but not closed
    CHECK(worker_queue_pop(q, 1) == nullptr);
    CHECK(worker_queue_push(q, new_item(4))); // there is room again
    worker_queue_close(q);
    CHECK_FALSE(worker_queue_is_over(q));
    free(worker_queue_pop(q, USEC_NEVER));
    CHECK(worker_queue_is_over(q));
    worker_queue_free(q);
}
