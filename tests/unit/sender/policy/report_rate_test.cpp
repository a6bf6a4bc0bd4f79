// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/report_rate.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

namespace
{

const usec_t S = USEC_PER_SEC;
const usec_t MS = USEC_PER_MSEC;

struct Row {
    int at;      // s
    double lost; // 0 .. 1
    int rtt;     // ms; 0: not known
    double sent; // kbit/s
    double rate; // kbit/s, expected
};

void run(report_rate &r, const std::vector<Row> &rows)
{
    for (const Row &row : rows) {
        report_rate_event e = {row.lost, row.rtt * MS, row.sent * 1e3};
        report_rate_on_report(&r, &e, row.at * S);
        INFO("at " << row.at << " s");
        CHECK(report_rate_bps(&r) / 1e3 == Approx(row.rate).epsilon(0.001));
    }
}

report_rate of(double floor, double ceiling)
{
    report_rate r;
    report_rate_init(&r, floor * 1e3, ceiling * 1e3);
    return r;
}

} // namespace

TEST_CASE("report_rate: loss brings the rate to what arrived, calm brings it back")
{
    report_rate r = of(400, 2000);
    CHECK(report_rate_bps(&r) == 2000e3); // no report yet
    run(r, {
               {1, 0, 20, 1900, 2000},                      // the first report
               {2, 0.5, 20, 2000, 900},                     // 0.9 of 1000
               {3, 0.12, 20, 0, 900 * 0.9 * 0.88},          // what was sent is not known: the rate
               {4, 0.05, 20, 700, 712.8},                   // stays
               {5, 0.02, 20, 700, 712.8 * 1.08},            // grows
               {15, 0, 20, 700, 712.8 * std::pow(1.08, 6)}, // for 5 s at most
               {16, 0.9, 20, 1000, 400},                    // the floor
               {100, 0, 20, 1000, 400 * std::pow(1.08, 5)},
           });
    for (int i = 0; i < 10; i++)
        run(r, {{105 + 5 * i, 0, 20, 1000, std::fmin(2000, 400 * std::pow(1.08, 5 * (i + 2)))}});
    CHECK(report_rate_bps(&r) == 2000e3); // the ceiling
}

TEST_CASE("report_rate: a longer round trip is a queue")
{
    report_rate r = of(400, 2000);
    run(r, {{1, 0, 20, 2000, 2000},
            {2, 0, 60, 2000, 2000},  // 40 ms
            {3, 0, 75, 2000, 2000},  // 55 ms, but 15 more
            {4, 0, 105, 2000, 1700}, // 85 ms, 30 more
            {5, 0, 110, 1700, 1836}, // no longer growing
            {6, 0, 180, 1500, 1275}, // of what was sent
            {7, 0, 0, 1275, 1377}}); // not known
}

TEST_CASE("report_rate: silence after reports halves the rate")
{
    report_rate r = of(400, 2000);
    report_rate_second(&r, 100 * S);
    CHECK(report_rate_bps(&r) == 2000e3); // a server that never reports
    run(r, {{101, 0, 20, 2000, 2000}});
    report_rate_second(&r, 115 * S);
    CHECK(report_rate_bps(&r) == 2000e3);
    report_rate_second(&r, 116 * S);
    CHECK(report_rate_bps(&r) == 1000e3);
    report_rate_second(&r, 130 * S);
    CHECK(report_rate_bps(&r) == 1000e3);
    report_rate_second(&r, 131 * S);
    report_rate_second(&r, 146 * S);
    CHECK(report_rate_bps(&r) == 400e3); // the floor
}
