// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/congestion/delivery_rate.h"

#include <catch2/catch.hpp>

namespace
{
constexpr usec_t MS = USEC_PER_MSEC;

// Packets of 1000 bytes, one every `gap`.
void arrive(delivery_rate &d, usec_t from, usec_t to, usec_t gap)
{
    for (usec_t t = from; t < to; t += gap)
        delivery_rate_arrived(&d, 1000, t);
}
} // namespace

TEST_CASE("delivery_rate: nothing, one packet, a steady rate")
{
    delivery_rate d{};
    CHECK(delivery_rate_over(&d, 100 * MS) == 0);
    delivery_rate_arrived(&d, 1000, 5000000);
    CHECK(delivery_rate_over(&d, 100 * MS) == 0);
    arrive(d, 5010000, 5500000, 10 * MS); // 100000 bytes/s
    for (usec_t window : {10 * MS, 50 * MS, 100 * MS, 300 * MS, 10000 * MS})
        CHECK(delivery_rate_over(&d, window) == Approx(100000));
}

TEST_CASE("delivery_rate: packets less than 5 ms apart share an instant, and none is lost")
{
    delivery_rate d{};
    arrive(d, 0, 300 * MS, MS); // 1e6 bytes/s
    CHECK(delivery_rate_over(&d, 100 * MS) == Approx(1e6).epsilon(0.06));
    CHECK(d.bytes == 300e3);
}

TEST_CASE("delivery_rate: a short window sees a step that a long one averages")
{
    delivery_rate d{};
    arrive(d, 0, 200 * MS, 10 * MS);
    arrive(d, 200 * MS, 241 * MS, 40 * MS); // a quarter of the rate
    CHECK(delivery_rate_over(&d, 40 * MS) == Approx(25000));
    CHECK(delivery_rate_over(&d, 100 * MS) == Approx(70000)); // 7 packets since 140 ms
}

TEST_CASE("delivery_rate: a packet that was overtaken counts at the newest arrival")
{
    delivery_rate d{};
    arrive(d, 0, 101 * MS, 10 * MS);
    double before = delivery_rate_over(&d, 50 * MS);
    delivery_rate_arrived(&d, 1000, 35 * MS);
    CHECK(delivery_rate_over(&d, 50 * MS) == Approx(before + 1000 / 0.05));
}

TEST_CASE("delivery_rate: the max is of the present and the previous three seconds")
{
    delivery_rate d{};
    CHECK(delivery_rate_max(&d) == 0);
    arrive(d, 0, 1000 * MS, 5 * MS); // 200000 bytes/s
    delivery_rate_note(&d, 1000 * MS);
    arrive(d, 1000 * MS, 9000 * MS, 20 * MS);
    CHECK(delivery_rate_max(&d) == Approx(200000));
    delivery_rate_note(&d, 3000 * MS); // the next span
    CHECK(delivery_rate_max(&d) == Approx(200000));
    delivery_rate_note(&d, 6000 * MS);
    CHECK(delivery_rate_max(&d) == Approx(50000));
}
