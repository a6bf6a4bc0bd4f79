// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cmath>

#include "stream/goddard/loss_window.h"

namespace
{
const usec_t ms = USEC_PER_MSEC;
const usec_t start = 1000 * USEC_PER_SEC;

loss_window fresh()
{
    loss_window m;
    loss_window_init(&m, 5 * USEC_PER_SEC); // bins of 100 ms
    return m;
}

void add(loss_window &m, usec_t at, int received, int lost, int late, int64_t bytes)
{
    const goddard_frames f = {received, lost, late, bytes};
    loss_window_add(&m, &f, start + at);
}
} // namespace

TEST_CASE("goddard monitor: without frames the loss is unknown")
{
    loss_window m = fresh();
    CHECK(std::isnan(loss_window_loss_lately(&m, start)));
    CHECK(std::isnan(loss_window_loss_since_decision(&m)));
    CHECK(loss_window_throughput(&m, start) == 0);
}

TEST_CASE("goddard monitor: lost and late frames are missed, as a fraction of all frames")
{
    loss_window m = fresh();
    add(m, 0, 16, 3, 1, 0);
    CHECK(loss_window_loss_lately(&m, start) == Approx(4.0 / 20));
    CHECK(loss_window_loss_since_decision(&m) == Approx(4.0 / 20));
}

TEST_CASE("goddard monitor: loss leaves the window after the interval, not the time since a "
          "decision")
{
    loss_window m = fresh();
    add(m, 0, 0, 10, 0, 0);
    add(m, 4000 * ms, 10, 0, 0, 0);
    CHECK(loss_window_loss_lately(&m, start + 4999 * ms) == Approx(0.5));
    CHECK(loss_window_loss_lately(&m, start + 5000 * ms) == 0);
    CHECK(loss_window_loss_since_decision(&m) == Approx(0.5));
    CHECK(std::isnan(loss_window_loss_lately(&m, start + 9000 * ms)));
}

TEST_CASE("goddard monitor: a decision resets the frames and keeps the bytes")
{
    loss_window m = fresh();
    add(m, 0, 5, 5, 0, 50000);
    loss_window_decided(&m);
    CHECK(std::isnan(loss_window_loss_lately(&m, start)));
    CHECK(std::isnan(loss_window_loss_since_decision(&m)));
    CHECK(loss_window_throughput(&m, start + 1000 * ms) == Approx(400e3));
}

TEST_CASE("goddard monitor: throughput of a steady stream, at first and in the window")
{
    loss_window m = fresh();
    for (int i = 0; i < 100; i++) { // 1000 bytes each 100 ms: 80 kbit/s
        add(m, i * 100 * ms, 1, 0, 0, 1000);
        CAPTURE(i);
        CHECK(loss_window_throughput(&m, start + (i + 1) * 100 * ms - 1) ==
              Approx(80e3).epsilon(0.001));
    }
    // A second of silence: a fifth less. Six: none.
    CHECK(loss_window_throughput(&m, start + 11000 * ms - 1) == Approx(64e3).epsilon(0.001));
    CHECK(loss_window_throughput(&m, start + 16000 * ms) == 0);
}

TEST_CASE("goddard monitor: bytes of one instant do not give an infinite rate")
{
    loss_window m = fresh();
    add(m, 0, 1, 0, 0, 1000);
    CHECK(loss_window_throughput(&m, start) == Approx(80e3)); // over one bin
}
