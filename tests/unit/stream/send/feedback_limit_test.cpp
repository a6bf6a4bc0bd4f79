// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/feedback_limit.h"

#include <catch2/catch.hpp>

TEST_CASE("feedback_limit: a viewer may name each packet twice")
{
    struct step {
        uint64_t sent;
        int named;
        bool looked_at;
    };
    const step steps[] = {
        {0, 1, false},    // it was sent nothing
        {1, 1, true},     // the packet, 1 credit is left
        {1, 1, true},     // again
        {1, 1, false},    //
        {10, 17, true},   // 18 credits
        {10, 2, false},   // 1 is left
        {10, 1, true},    //
        {9010, 17, true}, // 18000, of which 4096 are kept
    };
    feedback_limit l;
    feedback_limit_init(&l, 0);
    for (const step &s : steps) {
        INFO(s.sent << " sent, " << s.named << " named");
        CHECK(feedback_limit_nack(&l, s.named, s.sent, 0) == s.looked_at);
    }
    CHECK(l.dropped == 3);
    int more = 0;
    while (feedback_limit_nack(&l, 1, 9010, 0))
        more++;
    CHECK(more == FEEDBACK_MAX_CREDIT - 17);
    CHECK_FALSE(feedback_limit_nack(&l, 1, 9010, 0));
    more = 0; // of a film, when nothing more is sent
    l.is_film = true;
    for (usec_t now = 0; now <= USEC_PER_SEC; now += USEC_PER_MSEC)
        more += feedback_limit_nack(&l, 1, 9010, now);
    CHECK(more == FEEDBACK_CREDIT_PER_SEC);
}

TEST_CASE("feedback_limit: a bucket of 10 PLIs, and 10 a second")
{
    feedback_limit l;
    feedback_limit_init(&l, 0);
    int looked_at = 0;
    for (int i = 0; i < 200; i++)
        looked_at += feedback_limit_pli(&l, 0);
    CHECK(looked_at == 10);
    for (int i = 1; i <= 200; i++) // 200 a second, for 1 s
        looked_at += feedback_limit_pli(&l, i * USEC_PER_SEC / 200);
    CHECK(looked_at >= 19);
    CHECK(looked_at <= 20);
    CHECK(l.dropped == 400 - static_cast<uint64_t>(looked_at));
}
