// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "common/base/rng.h"
#include "common/congestion/pacer.h"

static bool may_send(const pacer *p, usec_t now)
{
    return pacer_next_timeout(p) <= now;
}

TEST_CASE("pacer: a table of instants")
{
    // 8 Mbit/s = 1 byte/us; burst 2000.
    pacer p;
    pacer_init(&p, 8e6, 2000, 0);
    CHECK(may_send(&p, 0));
    pacer_sent(&p, 1500, 0); // 500 left
    CHECK(may_send(&p, 0));
    pacer_sent(&p, 1500, 0); // 1000 in debt
    CHECK_FALSE(may_send(&p, 0));
    CHECK(pacer_next_timeout(&p) == 1001);
    CHECK_FALSE(may_send(&p, 1000));
    CHECK(may_send(&p, 1001));
    CHECK(may_send(&p, 1000000)); // idle: no more than the burst is earned
    pacer_sent(&p, 2000, 1000000);
    CHECK_FALSE(may_send(&p, 1000000));
}

TEST_CASE("pacer: a new rate takes effect at once")
{
    pacer p;
    pacer_init(&p, 8e6, 1000, 0);
    pacer_sent(&p, 2000, 0); // 1000 in debt
    pacer_set_rate(&p, 16e6, 500);
    CHECK(pacer_next_timeout(&p) == 500 + 250 + 1); // 500 left to pay at 2 bytes/us
}

TEST_CASE("pacer: whatever the sizes and wake-ups, never more than burst + rate * T + a packet, "
          "and the mean is the rate")
{
    rng r = rng_seeded(7);
    pacer p;
    const double rate = 2.4e6, burst = 3000;
    pacer_init(&p, rate, burst, 0);
    usec_t now = 0;
    double sent = 0;
    while (now < 60 * USEC_PER_SEC) {
        while (may_send(&p, now)) {
            size_t bytes = 100 + rng_below(&r, 1400);
            pacer_sent(&p, bytes, now);
            sent += static_cast<double>(bytes);
            REQUIRE(sent <= burst + rate / 8 * usec_to_sec(now) + 1500);
        }
        now = pacer_next_timeout(&p) + static_cast<usec_t>(rng_below(&r, 300)); // wakes up late
    }
    CHECK(sent * 8 / usec_to_sec(now) == Approx(rate).epsilon(0.01));
}
