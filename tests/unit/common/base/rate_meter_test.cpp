// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cmath>

#include "common/base/rate_meter.h"

TEST_CASE("rate_meter: a steady stream, its end, and silence")
{
    rate_meter m{};
    CHECK(std::isnan(rate_meter_bps(&m, 5)));
    usec_t now = 10 * USEC_PER_SEC;
    for (int i = 0; i < 300; i++, now += 10 * USEC_PER_MSEC) { // 1000 B every 10 ms: 800 kbit/s
        rate_meter_add(&m, 1000, now);
        if (i == 5)
            CHECK(std::isnan(rate_meter_bps(&m, now))); // 50 ms are too short for a rate
        if (i >= 20)
            CHECK(rate_meter_bps(&m, now) == Approx(800e3).epsilon(0.06));
    }
    CHECK(rate_meter_bps(&m, now + 500 * USEC_PER_MSEC) == Approx(400e3).epsilon(0.15));
    CHECK(rate_meter_bps(&m, now + 5 * USEC_PER_SEC) == 0);
}
