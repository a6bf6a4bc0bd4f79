// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/latency/speed_control.h"

#include <catch2/catch.hpp>

namespace
{
const usec_t ms = USEC_PER_MSEC;
}

TEST_CASE("speed_control: the speed that an excess settles at")
{
    struct {
        usec_t excess; // ms
        int32_t ppm;   // 400 a millisecond beyond the dead band of 5 ms
    } const table[] = {
        {0, 1000000},   {5, 1000000},     {-5, 1000000},    {6, 1000400},       {-6, 999600},
        {10, 1002000},  {55, 1020000},    {-55, 980000},    {130, 1050000},     {131, 1050000},
        {-130, 950000}, {10000, 1050000}, {-10000, 950000}, {3600000, 1050000},
    };
    for (const auto &row : table) {
        speed_control c;
        speed_control_init(&c, 0);
        int32_t ppm = 0;
        for (usec_t now = 0; now <= 5000 * ms; now += 100 * ms)
            ppm = speed_control_update(&c, row.excess * ms, now);
        INFO("excess " << row.excess);
        CHECK(ppm == row.ppm);
    }
}

TEST_CASE("speed_control: the speed changes by 2 % a second, however often it is asked")
{
    for (usec_t step : {1 * ms / 100, 10 * ms, 100 * ms, 500 * ms}) {
        speed_control c;
        speed_control_init(&c, 0);
        for (usec_t now = 0; now <= 2000 * ms; now += step)
            speed_control_update(&c, 10000 * ms, now);
        CHECK(c.speed_ppm == Approx(1040000).epsilon(0.002));
        for (usec_t now = 2000 * ms; now <= 3000 * ms; now += step)
            speed_control_update(&c, 0, now);
        CHECK(c.speed_ppm == Approx(1020000).epsilon(0.002));
        speed_control_rest(&c, 3000 * ms);
        CHECK(c.speed_ppm == 1000000);
    }
    speed_control c;
    speed_control_init(&c, 0);
    CHECK(speed_control_update(&c, 10000 * ms, 3600000 * ms) ==
          1020000); // a long silence is one second
}

TEST_CASE("speed_control: an excess fades without falling below the target")
{
    for (usec_t start : {100, 300, 900, -100, -300}) {
        speed_control c;
        speed_control_init(&c, 0);
        double excess = static_cast<double>(start * ms);
        double sign = start < 0 ? -1 : 1;
        usec_t done = 0;
        for (usec_t now = 0; now < 60000 * ms; now += 100 * ms) {
            int32_t ppm = speed_control_update(&c, static_cast<usec_t>(excess), now);
            excess -= (ppm - 1e6) / 1e6 * 100 * ms;
            CHECK(sign * excess > 0);
            if (!done && sign * excess <= 10 * ms)
                done = now;
        }
        INFO("start " << start);
        CHECK(sign * excess <= 6 * ms);
        // At 5 % it would be 20 times the excess; the fade and the slew cost some seconds more.
        CHECK(done <= 20 * (start < 0 ? -start : start) * ms + 15000 * ms);
    }
}
