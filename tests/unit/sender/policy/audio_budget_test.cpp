// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/audio_budget.h"

#include <catch2/catch.hpp>

namespace
{

// Offers units of `unit` every `apart`; returns the audio that is taken in a minute.
usec_t taken(usec_t unit, usec_t apart)
{
    struct audio_budget b = {};
    usec_t sum = 0;
    for (usec_t now = 5 * USEC_PER_SEC; now < 65 * USEC_PER_SEC; now += apart) {
        if (!audio_budget_is_open(&b, now))
            continue;
        audio_budget_take(&b, unit);
        sum += unit;
    }
    return sum;
}

} // namespace

TEST_CASE("audio_budget: real time passes, a flood does not")
{
    CHECK(taken(20000, 20000) == 60 * USEC_PER_SEC);
    CHECK(taken(128000, 128000) >= 60 * USEC_PER_SEC - 128000);
    CHECK(taken(20000, 1000) <= 2 * 60 * USEC_PER_SEC + AUDIO_BUDGET_BURST + 20000);
    CHECK(taken(20000, 1000) > 100 * USEC_PER_SEC);
    CHECK(taken(2000000, 1000) <= 2 * 60 * USEC_PER_SEC + AUDIO_BUDGET_BURST + 2000000);
}

TEST_CASE("audio_budget: a burst passes, again after a silence")
{
    struct audio_budget b = {};
    for (usec_t now : {USEC_PER_SEC, 100 * USEC_PER_SEC}) {
        usec_t sum = 0;
        for (; audio_budget_is_open(&b, now); sum += 100000)
            audio_budget_take(&b, 100000);
        CHECK(sum == AUDIO_BUDGET_BURST);
    }
}
