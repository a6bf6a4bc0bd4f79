// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/goddard/startup_rate.h"

#include <catch2/catch.hpp>

#include <vector>

namespace
{

const usec_t ms = 1000;
const size_t PACKET = 1000;

struct outcome {
    bool known;
    usec_t at; // of the packet that told it, from the first one on
    double kbps;
};

// Packets at these times, in ms.
outcome of(usec_t rtt, const std::vector<double> &arrivals)
{
    const usec_t begin = 7000 * ms;
    startup_rate r;
    startup_rate_init(&r);
    startup_rate_set_rtt(&r, rtt);
    for (double at : arrivals)
        if (startup_rate_packet(&r, PACKET, begin + static_cast<usec_t>(at * 1000)))
            return {true, r.span, r.bps / 1e3};
    return {false, r.span, r.bps / 1e3};
}

// Simulates a slow start from `window` packets: each `rtt` twice as many, at most one packet per
// `gap` ms.
std::vector<double> slow_start(double rtt, double gap, int window, double until)
{
    std::vector<double> all;
    double free_at = 0;
    for (double round = 0; round < until; round += rtt, window *= 2)
        for (int i = 0; i < window; i++) {
            all.push_back(std::max(round, free_at));
            free_at = all.back() + gap;
        }
    return all;
}

} // namespace

TEST_CASE("startup_rate: 200 ms, if that is four round trips")
{
    // A packet each 20 ms is 400 kbit/s; the 11th is 200 ms after the first.
    std::vector<double> even;
    for (int i = 0; i < 100; i++)
        even.push_back(20.0 * i);
    for (usec_t rtt : {0 * ms, 10 * ms, 50 * ms}) {
        outcome o = of(rtt, even);
        CHECK(o.known);
        CHECK(o.at == 200 * ms);
        CHECK(o.kbps == Approx(400));
    }
    // Longer round trips: intervals of 200 ms at least, and the second one is no fuller.
    const struct {
        double rtt;
        usec_t at;
    } table[] = {{51, 400 * ms}, {200, 400 * ms}, {300, 600 * ms}, {470, 960 * ms}};
    for (const auto &row : table) {
        CAPTURE(row.rtt);
        outcome o = of(static_cast<usec_t>(row.rtt) * ms, even);
        CHECK(o.known);
        CHECK(o.at == row.at);
        CHECK(o.kbps == Approx(400));
    }
}

TEST_CASE("startup_rate: slow start ends with the first round that no longer grows")
{
    // 750 kbit/s are a packet each 10.67 ms, 44 a round trip. Rounds have 10, 20, 40 packets, then
    // the path is full; the first has 170 kbit/s, the fourth and fifth all of it.
    outcome o = of(470 * ms, slow_start(470, 8000. / 750, 10, 5000));
    CHECK(o.known);
    CHECK(o.kbps == Approx(750).epsilon(0.02));
    CHECK(o.at < 5 * 480 * ms);
    // A path of 10 Mbit/s is never full; the media is, here from the third round of 40 packets on.
    std::vector<double> media = slow_start(300, 0.8, 10, 700);
    for (double t = 900; t < 5000; t += 7.5)
        media.push_back(t);
    o = of(300 * ms, media);
    CHECK(o.known);
    CHECK(o.kbps == Approx(40 * 8 / 0.3).epsilon(0.05));
    // The round trip was longer when it was told, and shorter.
    for (double told : {350., 470., 600.}) {
        CAPTURE(told);
        o = of(static_cast<usec_t>(told) * ms, slow_start(470, 8000. / 750, 10, 8000));
        CHECK(o.known);
        CHECK(o.kbps == Approx(750).epsilon(0.1));
    }
}

TEST_CASE("startup_rate: it ends after the max time, but not without packets")
{
    // Twice as many each second, for ever.
    outcome o = of(1000 * ms, slow_start(1000, 0, 1, 9000));
    CHECK(o.known);
    CHECK(o.at == 5000 * ms);
    CHECK(o.kbps == Approx(8 * 16)); // of the fifth round, up to the first packet of the sixth
    CHECK_FALSE(of(0, {}).known);
    CHECK_FALSE(of(0, {0}).known);
    CHECK_FALSE(of(0, {0, 199}).known);
    CHECK_FALSE(of(470 * ms, {0, 469}).known);
}
