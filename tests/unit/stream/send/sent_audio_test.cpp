// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstdint>

#include "stream/send/sent_audio.h"

namespace
{

constexpr usec_t MS = USEC_PER_MSEC;
int data[2 * SENT_AUDIO_PACKETS];

} // namespace

TEST_CASE("sent_audio: a requested packet is due once, the oldest first, across a wrap")
{
    sent_audio a;
    sent_audio_init(&a, false);
    for (int i = 0; i < 6; i++)
        CHECK(sent_audio_add(&a, static_cast<uint16_t>(65533 + i), &data[i], i * 20 * MS) ==
              nullptr);
    CHECK(sent_audio_next(&a) == nullptr);
    sent_audio_request(&a, 1, 100 * MS, 300 * MS);
    sent_audio_request(&a, 65534, 100 * MS, 300 * MS);
    sent_audio_request(&a, 65534, 100 * MS, 300 * MS);
    REQUIRE(sent_audio_next(&a));
    CHECK(sent_audio_next(&a)->data == &data[1]);
    sent_audio_copied(&a, 301 * MS);
    REQUIRE(sent_audio_next(&a));
    CHECK(sent_audio_next(&a)->data == &data[4]);
    sent_audio_copied(&a, 301 * MS);
    CHECK(sent_audio_next(&a) == nullptr);
}

TEST_CASE("sent_audio: a packet that may be under way is not sent, nor one more often than allowed")
{
    struct row {
        usec_t min_rtt, age; // since it left
        bool due;
    };
    const row table[] = {{100 * MS, 74 * MS, false},
                         {100 * MS, 75 * MS, true},
                         {0, 19 * MS, false},
                         {0, 20 * MS, true}};
    for (const row &r : table) {
        INFO(r.min_rtt << " us, " << r.age << " us");
        sent_audio a;
        sent_audio_init(&a, false);
        sent_audio_add(&a, 7, &data[0], 0);
        usec_t now = 0;
        for (int copies = 0; copies < SENT_AUDIO_COPIES; copies++) {
            now += r.age;
            sent_audio_request(&a, 7, r.min_rtt, now);
            CHECK((sent_audio_next(&a) != nullptr) == r.due);
            if (r.due)
                sent_audio_copied(&a, now);
            else
                now -= r.age;
        }
        if (r.due)
            sent_audio_request(&a, 7, r.min_rtt, now + USEC_PER_SEC);
        CHECK(sent_audio_next(&a) == nullptr);
    }
}

TEST_CASE("sent_audio: the last packets are kept; each is given back once")
{
    sent_audio a;
    sent_audio_init(&a, false);
    for (int i = 0; i < 2 * SENT_AUDIO_PACKETS; i++)
        CHECK(sent_audio_add(&a, static_cast<uint16_t>(i), &data[i], i) ==
              (i < SENT_AUDIO_PACKETS ? nullptr : &data[i - SENT_AUDIO_PACKETS]));
    CHECK(sent_audio_find(&a, SENT_AUDIO_PACKETS - 1) == nullptr);
    CHECK(sent_audio_find(&a, SENT_AUDIO_PACKETS) == &data[SENT_AUDIO_PACKETS]);
    sent_audio_request(&a, 3, 0, USEC_PER_SEC); // not kept any more
    CHECK(sent_audio_next(&a) == nullptr);
    sent_audio_request(&a, SENT_AUDIO_PACKETS + 3, 0, USEC_PER_SEC);
    CHECK(sent_audio_next(&a) != nullptr);
    int removed = 0;
    while (sent_audio_remove(&a))
        removed++;
    CHECK(removed == SENT_AUDIO_PACKETS);
    CHECK(sent_audio_next(&a) == nullptr); // what was due is gone, too
}
