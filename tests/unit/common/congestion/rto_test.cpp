// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "common/congestion/rto.h"

TEST_CASE("rto: RFC 6298 step by step")
{
    struct rto r;
    rto_init(&r, 200000, 0);
    CHECK(rto_value(&r) == 1000000); // 2.1
    const struct {
        usec_t rtt, srtt, rttvar, rto;
    } steps[] = {
        {100000, 100000, 50000, 300000}, // SRTT = R, RTTVAR = R/2
        {100000, 100000, 37500, 250000}, // 3/4 50 + 1/4 0
        {180000, 110000, 48125, 302500}, // 3/4 37.5 + 80/4; 7/8 100 + 1/8 180
        {30000, 100000, 56093, 324372},  // 3/4 48.125 + 80/4; 7/8 110 + 1/8 30
    };
    for (const auto &s : steps) {
        rto_sample(&r, s.rtt);
        CHECK(r.srtt == s.srtt);
        CHECK(r.rttvar == s.rttvar);
        CHECK(rto_value(&r) == s.rto);
    }
}

TEST_CASE("rto: the slack is a lower bound of what varies")
{
    const struct {
        usec_t rtt, min, slack, rto; // of many equal round trips, ms
    } rows[] = {{300, 200, 0, 300},
                {300, 200, 200, 500},
                {20, 200, 200, 220},
                {20, 1000, 200, 1000},
                {300, 0, 50, 350}};
    for (const auto &row : rows) {
        struct rto r;
        rto_init(&r, row.min * USEC_PER_MSEC, 0);
        CHECK(r.slack == 0);
        r.slack = row.slack * USEC_PER_MSEC;
        for (int i = 0; i < 100; i++)
            rto_sample(&r, row.rtt * USEC_PER_MSEC);
        CHECK(rto_value(&r) == row.rto * USEC_PER_MSEC);
        rto_expired(&r);
        CHECK(rto_value(&r) == 2 * row.rto * USEC_PER_MSEC);
    }
    struct rto varies;
    rto_init(&varies, 0, 0);
    varies.slack = 200 * USEC_PER_MSEC;
    rto_sample(&varies, 300 * USEC_PER_MSEC); // RTTVAR is half of it
    CHECK(rto_value(&varies) == 900 * USEC_PER_MSEC);
}

TEST_CASE("rto: bounds, doubling, and the limit of doubling")
{
    struct rto r;
    rto_init(&r, USEC_PER_SEC, 0);
    const usec_t first[] = {1, 2, 4, 8, 16, 32, 60, 60};
    for (usec_t s : first) {
        CHECK(rto_value(&r) == s * USEC_PER_SEC);
        rto_expired(&r);
    }
    rto_sample(&r, 10000);
    CHECK(rto_value(&r) == USEC_PER_SEC); // the least
    rto_expired(&r);
    CHECK(rto_value(&r) == 2 * USEC_PER_SEC);
    rto_sample(&r, 90 * USEC_PER_SEC);
    CHECK(rto_value(&r) == 60 * USEC_PER_SEC); // the most
}

TEST_CASE("rto: doubling ends at the requested max, which does not limit measured values")
{
    const usec_t MS = USEC_PER_MSEC;
    const struct {
        usec_t rtt; // the only sample: RTO = 3 RTT; 0: none
        usec_t expected[6];
    } rows[] = {
        {0, {1000 * MS, 2000 * MS, 2000 * MS, 2000 * MS, 2000 * MS, 2000 * MS}},
        {50 * MS, {200 * MS, 400 * MS, 800 * MS, 1600 * MS, 2000 * MS, 2000 * MS}},
        {500 * MS, {1500 * MS, 2000 * MS, 2000 * MS, 2000 * MS, 2000 * MS, 2000 * MS}},
        {900 * MS, {2700 * MS, 2700 * MS, 2700 * MS, 2700 * MS, 2700 * MS, 2700 * MS}},
        {30 * USEC_PER_SEC,
         {60000 * MS, 60000 * MS, 60000 * MS, 60000 * MS, 60000 * MS, 60000 * MS}},
    };
    for (const auto &row : rows) {
        INFO(row.rtt);
        struct rto r;
        rto_init(&r, 200 * MS, 2000 * MS);
        if (row.rtt > 0)
            rto_sample(&r, row.rtt);
        for (usec_t expected : row.expected) {
            CHECK(rto_value(&r) == expected);
            rto_expired(&r);
        }
        rto_sample(&r, 50 * MS);
        CHECK(r.backoff == 0);
    }
}

TEST_CASE("rto: a sample below 1 us counts as 1 us, and SRTT never becomes 0")
{
    struct rto r;
    rto_init(&r, 0, 0);
    rto_sample(&r, -5);
    CHECK(r.srtt == 1);
    for (int i = 0; i < 100; i++)
        rto_sample(&r, 0);
    CHECK(r.srtt == 1);
    CHECK(rto_value(&r) >= 1);
}
