// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <memory>

#include "sender/sound_queue.h"

namespace
{

int packets[2 * SOUND_QUEUE_PACKETS];

} // namespace

TEST_CASE("sound_queue: packets leave in order; late ones are given up, first of all the oldest")
{
    auto q = std::make_unique<sound_queue>();
    CHECK(sound_queue_front(q.get()) == nullptr);
    CHECK(sound_queue_take(q.get()) == nullptr);
    for (int i = 0; i < 4; i++)
        CHECK(sound_queue_push(q.get(), &packets[i], i * 20) == nullptr);
    CHECK(sound_queue_front(q.get()) == &packets[0]);
    CHECK(sound_queue_take(q.get()) == &packets[0]);
    // A bound of 100: the one of 20 may wait until 120.
    CHECK(sound_queue_expired(q.get(), 100, 120) == nullptr);
    CHECK(sound_queue_expired(q.get(), 100, 141) == &packets[1]);
    CHECK(sound_queue_expired(q.get(), 100, 141) == &packets[2]);
    CHECK(sound_queue_expired(q.get(), 100, 141) == nullptr);
    CHECK(q->dropped == 2);
    CHECK(sound_queue_take(q.get()) == &packets[3]);
    CHECK(q->count == 0);
}

TEST_CASE("sound_queue: when it is full the oldest makes room")
{
    auto q = std::make_unique<sound_queue>();
    for (int i = 0; i < SOUND_QUEUE_PACKETS; i++)
        CHECK(sound_queue_push(q.get(), &packets[i], 0) == nullptr);
    CHECK(sound_queue_push(q.get(), &packets[SOUND_QUEUE_PACKETS], 0) == &packets[0]);
    CHECK(q->count == SOUND_QUEUE_PACKETS);
    CHECK(q->dropped == 1);
    for (int i = 1; i <= SOUND_QUEUE_PACKETS; i++)
        CHECK(sound_queue_take(q.get()) == &packets[i]);
}
