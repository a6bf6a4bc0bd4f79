// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/qoe/speed_meter.h"

#include <catch2/catch.hpp>

#include <cmath>

TEST_CASE("speed meter: the mean is weighted by duration")
{
    const usec_t sec = USEC_PER_SEC;
    speed_meter m{};
    speed_meter_set(&m, 1.05, 0);
    CHECK(std::isnan(speed_meter_mean(&m, sec)));
    CHECK(std::isnan(speed_meter_least(&m)));
    CHECK(std::isnan(speed_meter_most(&m)));
    speed_meter_start(&m, 10 * sec);
    CHECK(speed_meter_mean(&m, 10 * sec) == 1);
    speed_meter_set(&m, 1.05, 13 * sec); // 3 s at 1
    speed_meter_start(&m, 14 * sec);
    speed_meter_set(&m, 0.98, 14 * sec); // 1 s at 1.05
    CHECK(speed_meter_mean(&m, 14 * sec) == Approx(4.05 / 4));
    CHECK(speed_meter_mean(&m, 16 * sec) == Approx((4.05 + 1.96) / 6)); // 2 s at 0.98
    CHECK(speed_meter_least(&m) == 0.98);
    CHECK(speed_meter_most(&m) == 1.05);
}
