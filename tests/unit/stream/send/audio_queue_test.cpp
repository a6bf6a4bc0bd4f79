// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <memory>

#include "stream/send/audio_queue.h"

namespace
{

int packets[2 * AUDIO_QUEUE_PACKETS];

} // namespace

TEST_CASE("audio_queue: packets leave in order; late ones are dropped, the oldest first")
{
    auto q = std::make_unique<audio_queue>();
    CHECK(audio_queue_front(q.get()) == nullptr);
    CHECK(audio_queue_take(q.get()) == nullptr);
    for (int i = 0; i < 4; i++)
        CHECK(audio_queue_push(q.get(), &packets[i], i * 20) == nullptr);
    CHECK(audio_queue_front(q.get()) == &packets[0]);
    CHECK(audio_queue_take(q.get()) == &packets[0]);
    // With a bound of 100 the packet of time 20 may wait until 120.
    CHECK(audio_queue_expired(q.get(), 100, 120) == nullptr);
    CHECK(audio_queue_expired(q.get(), 100, 141) == &packets[1]);
    CHECK(audio_queue_expired(q.get(), 100, 141) == &packets[2]);
    CHECK(audio_queue_expired(q.get(), 100, 141) == nullptr);
    CHECK(q->dropped == 2);
    CHECK(audio_queue_take(q.get()) == &packets[3]);
    CHECK(q->count == 0);
}

TEST_CASE("audio_queue: a full queue drops the oldest")
{
    auto q = std::make_unique<audio_queue>();
    for (int i = 0; i < AUDIO_QUEUE_PACKETS; i++)
        CHECK(audio_queue_push(q.get(), &packets[i], 0) == nullptr);
    CHECK(audio_queue_push(q.get(), &packets[AUDIO_QUEUE_PACKETS], 0) == &packets[0]);
    CHECK(q->count == AUDIO_QUEUE_PACKETS);
    CHECK(q->dropped == 1);
    for (int i = 1; i <= AUDIO_QUEUE_PACKETS; i++)
        CHECK(audio_queue_take(q.get()) == &packets[i]);
}
