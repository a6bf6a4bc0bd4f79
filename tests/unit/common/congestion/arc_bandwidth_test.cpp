// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "common/congestion/arc_bandwidth.h"

TEST_CASE("arc bandwidth: Eq. 8 by hand")
{
    arc_bandwidth b;
    arc_bandwidth_init(&b, 0.5);
    const usec_t srtt = 100000;
    arc_bandwidth_arrived(&b, 100, 0, srtt);
    arc_bandwidth_arrived(&b, 210, srtt, srtt);
    CHECK(b.mean == 1000); // the first sample sets the estimate: 100 bytes in 0.1 s
    // T = 0.1: (1 - 0.1) / (1 + 0.1) * 1000 + 0.1 / 1.1 * (2100 + 1000) = 818.18 + 281.82
    arc_bandwidth_arrived(&b, 210, 2 * srtt, srtt);
    CHECK(b.mean == Approx(1100));
    // again: 0.9 / 1.1 * 1100 + 0.1 / 1.1 * 4200 = 900 + 381.82
    arc_bandwidth_arrived(&b, 0, 3 * srtt, srtt);
    CHECK(b.mean == Approx(1281.818));
}

TEST_CASE("arc bandwidth: a long sample is resampled")
{
    // T = 0.3 = two of tau/4 = 0.125 and a rest of 0.05. From 1000 to a sample of 1900:
    //   0.125: gain 1/9: 1000 + (1900 + 1000 - 2000) / 9 = 1100
    //   0.125:           1100 + (3800 - 2200) / 9        = 1277.78
    //   0.05:  gain 0.05 / 1.05: 1277.78 + (3800 - 2555.56) / 21 = 1337.04
    arc_bandwidth b;
    arc_bandwidth_init(&b, 0.5);
    arc_bandwidth_arrived(&b, 100, 0, 100000);
    arc_bandwidth_arrived(&b, 570, 100000, 100000);
    CHECK(b.mean == 1000);
    arc_bandwidth_arrived(&b, 0, 400000, 300000); // the SRTT is three times as long now
    CHECK(b.mean == Approx(1337.037));
    arc_bandwidth_arrived(&b, 0, 1000000 * USEC_PER_SEC, 300000); // very long: bounded work
    CHECK(b.mean == Approx(0).margin(1e-9));
}

TEST_CASE("arc bandwidth: intervals of one SRTT from the first arrival on")
{
    arc_bandwidth b;
    arc_bandwidth_init(&b, 0.5);
    const usec_t t = 1000000000, srtt = 100000;
    for (int i = 0; i < 10; i++)
        arc_bandwidth_arrived(&b, 1000, t + i * 10000, srtt);
    CHECK_FALSE(b.any);
    arc_bandwidth_arrived(&b, 1000, t + srtt, srtt); // 10 packets of 1000 bytes in 0.1 s
    CHECK(b.mean == Approx(100000));
    // One packet in the second interval, none in the third: samples of 10000 and 0 bytes/s.
    //   100000 * 9/11 + 110000 / 11 = 91818.18;  91818.18 * 9/11 + 10000 / 11 = 76033.06
    arc_bandwidth_arrived(&b, 1000, t + 3 * srtt + 5, srtt);
    CHECK(b.mean == Approx(76033.06));
    CHECK(b.from == t + 3 * srtt);
    arc_bandwidth_arrived(&b, 1000, t + 3 * srtt - 7, srtt); // overtaken: counted here
    CHECK(b.gained == 2000);
}

TEST_CASE("arc bandwidth: silence halves, and is no sample")
{
    arc_bandwidth b;
    arc_bandwidth_init(&b, 0.5);
    arc_bandwidth_arrived(&b, 1000, 0, 10000);
    arc_bandwidth_arrived(&b, 1000, 10000, 10000);
    CHECK(b.mean == Approx(100000));
    arc_bandwidth_halve(&b);
    arc_bandwidth_halve(&b);
    arc_bandwidth_arrived(&b, 1000, 60 * USEC_PER_SEC, 10000);
    CHECK(b.mean == Approx(25000));
}
