// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cmath>

#include "player/goddard_monitor.h"

namespace
{
const usec_t ms = USEC_PER_MSEC;
const usec_t start = 1000 * USEC_PER_SEC;

goddard_monitor fresh()
{
    goddard_monitor m;
    goddard_monitor_init(&m, 5 * USEC_PER_SEC); // bins of 100 ms
    return m;
}

void add(goddard_monitor &m, usec_t at, int received, int lost, int late, int64_t bytes)
{
    const goddard_frames f = {received, lost, late, bytes};
    goddard_monitor_add(&m, &f, start + at);
}
} // namespace

TEST_CASE("goddard monitor: without frames nothing is known")
{
    goddard_monitor m = fresh();
    CHECK(std::isnan(goddard_monitor_loss_lately(&m, start)));
    CHECK(std::isnan(goddard_monitor_loss_since_decision(&m)));
    CHECK(goddard_monitor_throughput(&m, start) == 0);
}

TEST_CASE("goddard monitor: lost and late are missed, of all frames")
{
    goddard_monitor m = fresh();
    add(m, 0, 16, 3, 1, 0);
    CHECK(goddard_monitor_loss_lately(&m, start) == Approx(4.0 / 20));
    CHECK(goddard_monitor_loss_since_decision(&m) == Approx(4.0 / 20));
}

TEST_CASE("goddard monitor: loss leaves the window after the interval, not the time since a "
          "decision")
{
    goddard_monitor m = fresh();
    add(m, 0, 0, 10, 0, 0);
    add(m, 4000 * ms, 10, 0, 0, 0);
    CHECK(goddard_monitor_loss_lately(&m, start + 4999 * ms) == Approx(0.5));
    CHECK(goddard_monitor_loss_lately(&m, start + 5000 * ms) == 0);
    CHECK(goddard_monitor_loss_since_decision(&m) == Approx(0.5));
    CHECK(std::isnan(goddard_monitor_loss_lately(&m, start + 9000 * ms)));
}

TEST_CASE("goddard monitor: a decision empties the frames and keeps the bytes")
{
    goddard_monitor m = fresh();
    add(m, 0, 5, 5, 0, 50000);
    goddard_monitor_decided(&m);
    CHECK(std::isnan(goddard_monitor_loss_lately(&m, start)));
    CHECK(std::isnan(goddard_monitor_loss_since_decision(&m)));
    CHECK(goddard_monitor_throughput(&m, start + 1000 * ms) == Approx(400e3));
}

TEST_CASE("goddard monitor: throughput of a steady stream, at first and in the window")
{
    goddard_monitor m = fresh();
    for (int i = 0; i < 100; i++) { // 1000 bytes each 100 ms: 80 kbit/s
        add(m, i * 100 * ms, 1, 0, 0, 1000);
        CAPTURE(i);
        CHECK(goddard_monitor_throughput(&m, start + (i + 1) * 100 * ms - 1) ==
              Approx(80e3).epsilon(0.001));
    }
    // A second of silence: a fifth less. Six: none.
    CHECK(goddard_monitor_throughput(&m, start + 11000 * ms - 1) == Approx(64e3).epsilon(0.001));
    CHECK(goddard_monitor_throughput(&m, start + 16000 * ms) == 0);
}

TEST_CASE("goddard monitor: bytes of one instant are not an endless rate")
{
    goddard_monitor m = fresh();
    add(m, 0, 1, 0, 0, 1000);
    CHECK(goddard_monitor_throughput(&m, start) == Approx(80e3)); // over one bin
}
