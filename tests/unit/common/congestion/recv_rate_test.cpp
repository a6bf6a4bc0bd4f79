// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cmath>

#include "common/congestion/recv_rate.h"

static const usec_t ms = USEC_PER_MSEC;

TEST_CASE("recv rate: evenly spaced packets give their rate at any time")
{
    recv_rate r = {};
    for (int i = 0; i < 500; i++) { // 1000 bytes each 2 ms
        recv_rate_arrived(&r, 1000, 7 * ms + i * 2 * ms, 100 * ms);
        recv_rate_measure(&r, 100 * ms);
        if (i > 100)
            CHECK(r.rate == Approx(500000));
    }
}

TEST_CASE("recv rate: the first packet, and one after a silence, count as one packet per R")
{
    recv_rate r = {};
    recv_rate_measure(&r, 100 * ms);
    CHECK(r.rate == 0);
    recv_rate_arrived(&r, 1000, -3, 100 * ms);
    recv_rate_measure(&r, 100 * ms);
    CHECK(r.rate == Approx(10000));
    recv_rate_arrived(&r, 2000, 60 * USEC_PER_SEC, 100 * ms);
    recv_rate_measure(&r, 100 * ms);
    CHECK(r.rate == Approx(20000));
    recv_rate_arrived(&r, 2000, 60 * USEC_PER_SEC, 100 * ms); // with it
    recv_rate_measure(&r, 100 * ms);
    CHECK(r.rate == Approx(40000));
}

TEST_CASE("recv rate: reordered arrivals and an arbitrary clock")
{
    recv_rate r = {};
    recv_rate_arrived(&r, 1000, 0, 100 * ms);
    recv_rate_arrived(&r, 1000, 50 * ms, 100 * ms);
    recv_rate_arrived(&r, 1000, 40 * ms, 100 * ms); // late: takes no time
    recv_rate_arrived(&r, 1000, 100 * ms, 100 * ms);
    recv_rate_measure(&r, 100 * ms);
    CHECK(r.rate == Approx(30000)); // three packets in 100 ms
    for (usec_t at : {INT64_MAX, INT64_MIN, (int64_t)0, INT64_MIN, INT64_MAX}) {
        recv_rate_arrived(&r, 1000, at, 100 * ms);
        recv_rate_measure(&r, 100 * ms);
        CHECK(r.rate > 0);
        CHECK(r.rate < 1e6);
    }
}

TEST_CASE("recv rate: X_recv_set")
{
    recv_rate r = {};
    CHECK(std::isinf(recv_set_max(&r)));
    recv_set_update(&r, 50, 100 * ms, 0);
    recv_set_update(&r, 30, 100 * ms, 100 * ms);
    recv_set_update(&r, 40, 100 * ms, 200 * ms);
    CHECK(recv_set_max(&r) == 50); // two R old
    recv_set_update(&r, 20, 100 * ms, 201 * ms);
    CHECK(recv_set_max(&r) == 40);
    recv_set_halve(&r);
    CHECK(recv_set_max(&r) == 20);
    recv_set_maximize(&r, 25, 202 * ms);
    CHECK(r.count == 1);
    CHECK(recv_set_max(&r) == 25);
    recv_set_maximize(&r, 5, 300 * ms);
    CHECK(recv_set_max(&r) == 25);
    // Reports of a quarter of R share an item.
    for (int i = 0; i < 25; i++)
        recv_set_update(&r, 30 - i, 100 * ms, 300 * ms + i * ms);
    CHECK(r.count == 1);
    CHECK(recv_set_max(&r) == 30);
    for (int i = 1; i <= 20; i++)
        recv_set_update(&r, i, 100 * ms, 300 * ms + i * 25 * ms);
    CHECK(r.count == RECV_SET); // 2 R
    CHECK(recv_set_max(&r) == 20);
    recv_set_update(&r, 5, 1000 * ms, 1050 * ms); // more than it has room for: the newest
    CHECK(r.count == RECV_SET);
    CHECK(recv_set_max(&r) == 20);
}
