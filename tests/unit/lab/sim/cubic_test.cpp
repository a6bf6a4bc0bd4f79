// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/cubic.h"

#include <catch2/catch.hpp>

namespace
{
constexpr usec_t RTT = 100 * USEC_PER_MSEC;

// The window `seconds` after a congestion at `cwnd` packets, one ACK for each packet.
double window_after(struct cubic *c, double cwnd, double seconds)
{
    cwnd = cubic_loss(c, cwnd);
    double acked = 0;
    for (usec_t now = 0; now <= static_cast<usec_t>(seconds * 1e6); now += USEC_PER_MSEC)
        for (acked += cwnd / 100; acked >= 1; acked--)
            cwnd = cubic_ack(c, cwnd, 1, RTT, now);
    return cwnd;
}
} // namespace

TEST_CASE("cubic: seven tenths at a loss, the old window after K, then beyond it")
{
    // K = cbrt(0.3 * 400 / 0.4) = 6.69 s; W(K + 3) = 400 + 0.4 * 27
    const struct {
        double seconds, window, error;
    } table[] = {{0, 280, 3}, {3, 378, 5}, {6.69, 400, 3}, {9.69, 411, 5}};
    for (const auto &row : table) {
        struct cubic c;
        cubic_init(&c);
        CHECK(window_after(&c, 400, row.seconds) == Approx(row.window).margin(row.error));
    }
}

TEST_CASE("cubic: on a short path it grows as Reno does")
{
    struct cubic c;
    cubic_init(&c);
    // K = 1.96 s, but Reno's share is 0.53 packets per round trip: 7 + 20 * 0.53 > W(2 s) = 10
    CHECK(window_after(&c, 10, 2) > 13);
}

TEST_CASE("cubic: a loss below the last window gives way to a new flow")
{
    struct cubic c;
    cubic_init(&c);
    CHECK(cubic_loss(&c, 100) == Approx(70));
    CHECK(c.w_max == 100);
    CHECK(cubic_loss(&c, 80) == Approx(56));
    CHECK(c.w_max == Approx(68)); // 0.85 of 80
    CHECK(cubic_loss(&c, 2) == 2);
}
