// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "common/congestion/arc_bandwidth.h"

TEST_CASE("arc bandwidth: Eq. 8 by hand")
{
    arc_bandwidth b;
    arc_bandwidth_init(&b, 0.5, false);
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
    arc_bandwidth_init(&b, 0.5, false);
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
    arc_bandwidth_init(&b, 0.5, false);
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

TEST_CASE("arc bandwidth: the two readings of Eq. 7 for a steady flow")
{
    // 100 bytes every `gap` ms, an SRTT of 100 ms: 100 / gap bytes/ms arrive. From arrival to
    // arrival an interval really takes the next multiple of the gap.
    struct {
        int gap;              // ms
        double grid, arrival; // bytes/s
    } table[] = {
        {10, 10000, 10000},                    // ten gaps are one SRTT
        {1, 100000, 100000}, {30, 3333, 4000}, // four packets in 120 ms, divided by 100 ms
        {60, 1667, 2000},                      // two in 120 ms
        {90, 1111, 2000},                      // two in 180 ms
        {250, 400, 1000},                      // one in 250 ms; the grid has samples of 0
    };
    for (const auto &row : table) {
        arc_bandwidth b[2];
        for (bool from_arrival : {false, true}) {
            arc_bandwidth_init(&b[from_arrival], 5, from_arrival);
            for (int i = 0; i < 4000; i++)
                arc_bandwidth_arrived(&b[from_arrival], 100, i * row.gap * USEC_PER_MSEC, 100000);
        }
        INFO(row.gap << " ms");
        CHECK(b[0].mean == Approx(row.grid).epsilon(0.03));
        CHECK(b[1].mean == Approx(row.arrival).epsilon(0.001));
    }
}

TEST_CASE("arc bandwidth: silence halves, and is no sample")
{
    arc_bandwidth b;
    arc_bandwidth_init(&b, 0.5, false);
    arc_bandwidth_arrived(&b, 1000, 0, 10000);
    arc_bandwidth_arrived(&b, 1000, 10000, 10000);
    CHECK(b.mean == Approx(100000));
    arc_bandwidth_halve(&b);
    arc_bandwidth_halve(&b);
    arc_bandwidth_arrived(&b, 1000, 60 * USEC_PER_SEC, 10000);
    CHECK(b.mean == Approx(25000));
}
