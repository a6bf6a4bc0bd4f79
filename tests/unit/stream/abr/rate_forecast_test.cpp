// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "stream/abr/rate_forecast.h"

namespace
{
struct path {
    rate_forecast f{};
    usec_t now = 0;

    path()
    {
        rate_forecast_init(&f);
    }
    // Samples of 100 ms at this rate.
    void at(double mbit, double seconds, rate_limited_by limit = RATE_LIMIT_NETWORK)
    {
        for (int i = 0; i < seconds * 10 - 0.5; i++) {
            now += 100 * USEC_PER_MSEC;
            const rate_sample s = {(int64_t)(mbit * 1e6 / 8 / 10), 100 * USEC_PER_MSEC, limit};
            rate_forecast_sample(&f, &s, now);
        }
    }
    rate_estimate read() const
    {
        return rate_forecast_read(&f, now);
    }
};
} // namespace

TEST_CASE("rate forecast: nothing is known at first, then the first 100 ms tell")
{
    path p;
    CHECK_FALSE(p.read().known);
    CHECK(p.read().bps == 0);
    const rate_sample half = {12500, 50 * USEC_PER_MSEC, RATE_LIMIT_NETWORK};
    rate_forecast_sample(&p.f, &half, 50 * USEC_PER_MSEC);
    CHECK_FALSE(p.read().known);
    rate_forecast_sample(&p.f, &half, 100 * USEC_PER_MSEC);
    CHECK(p.read().known);
    CHECK(p.read().bps == Approx(2e6));
    CHECK(p.read().error == Approx(0.35));
}

TEST_CASE("rate forecast: a steady path has no error and no spread")
{
    path p;
    p.at(2, 60);
    CHECK(p.read().bps == Approx(2e6));
    CHECK(p.read().usual_bps == Approx(2e6));
    CHECK(p.read().error == Approx(0).margin(1e-6));
    CHECK(p.read().low_bps == Approx(2e6));
    CHECK(p.read().spread < 0.15);
}

TEST_CASE("rate forecast: it falls with the faster mean, and rises with the slower one")
{
    path p;
    p.at(4, 60);
    p.at(1, 2); // the half-life of the faster mean: 1 + 3 / 2
    CHECK(p.read().bps == Approx(2.5e6));
    p.at(1, 60);
    p.at(4, 6); // that of the slower one
    CHECK(p.read().bps == Approx(2.5e6).epsilon(0.01));
}

TEST_CASE("rate forecast: the error is the largest of the last five")
{
    path p;
    p.at(4, 20);
    p.at(1, 2.2); // the first sample begins the first span. Forecast 4, then 1: the error is 3
    CHECK(p.read().error == Approx(3).epsilon(0.1));
    CHECK(p.read().low_bps == Approx(p.read().bps / (1 + p.read().error)));
    p.at(1, 8);
    CHECK(p.read().error > 2.5);
    p.at(1, 4); // five more spans of 2 s have passed
    CHECK(p.read().error < 2);
}

TEST_CASE("rate forecast: while idle it stays, and its error widens")
{
    path p;
    p.at(2, 30);
    p.now += 20 * USEC_PER_SEC;
    CHECK(p.read().bps == Approx(2e6));
    CHECK(p.read().error == Approx(0.2));
    p.now += 3600 * USEC_PER_SEC;
    CHECK(p.read().error == Approx(1));
}

TEST_CASE("rate forecast: what the media limits can only raise it")
{
    path p;
    p.at(2, 30);
    p.at(0.5, 10, RATE_LIMIT_MEDIA);
    CHECK(p.read().bps == Approx(2e6));
    p.at(3, 1, RATE_LIMIT_MEDIA);
    CHECK(p.read().bps == Approx(3e6));
    p.at(2, .5); // the network is heard again
    CHECK(p.read().bps == Approx(2.5e6));
    p.at(2, 5);
    CHECK(p.read().bps == Approx(2e6).epsilon(.01));
    p.at(3, 1, RATE_LIMIT_MEDIA);
    p.at(4, 1); // it does not contradict
    CHECK(p.read().bps >= 3e6);
    path fresh;
    fresh.at(1, 1, RATE_LIMIT_MEDIA);
    CHECK(fresh.read().known);
    CHECK(fresh.read().bps == Approx(1e6));
}

TEST_CASE("rate forecast: what waited for a lost packet and comes at once is no faster path")
{
    path p;
    p.at(1, 30);
    for (int i = 0; i < 20; i++) {
        p.at(0, .5);
        p.at(6, .1, RATE_LIMIT_MEDIA);
    }
    CHECK(p.read().bps < 1e6);
    p.at(6, .2, RATE_LIMIT_MEDIA); // of two the second is no burst
    CHECK(p.read().bps == Approx(6e6));
}

TEST_CASE("rate forecast: what is known ages without samples")
{
    path p;
    p.at(.2, 60);
    p.at(4, 1);
    const double at_once = p.read().bps;
    path old;
    old.at(.2, 60);
    for (int i = 0; i < 2; i++) { // a full buffer is filled for a second, and waits
        old.now += 7 * USEC_PER_SEC;
        old.at(4, 1);
    }
    CHECK(at_once < .8e6);
    CHECK(old.read().bps > 2.5e6);
    CHECK(old.read().usual_bps > 1.5e6);
}

TEST_CASE("rate forecast: an outage is no zero, and ends")
{
    path p;
    p.at(2, 20);
    p.at(0, 60);
    CHECK(p.read().bps >= 1000);
    CHECK(p.read().low_bps > 0);
    p.at(2, 40);
    CHECK(p.read().bps == Approx(2e6).epsilon(0.05));
}

TEST_CASE("rate forecast: persistence tells long changes from noise")
{
    path slow;
    path noisy;
    for (int i = 0; i < 30; i++) {
        slow.at(i / 5 % 2 ? 3 : 1, 2); // 10 s each
        noisy.at(i % 2 ? 3 : 1, 2);
    }
    CHECK(slow.read().persistence > 0.4);
    CHECK(noisy.read().persistence == 0);
    CHECK(noisy.read().spread > 0.3);
    CHECK(noisy.read().usual_bps == Approx(2e6).epsilon(0.15));
}
