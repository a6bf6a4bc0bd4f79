// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/tcp_linux.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "lab/sim/tcp_sender.h"

namespace
{
const usec_t MS = USEC_PER_MSEC;
const usec_t RTO = 300 * MS;

tcp_linux fresh()
{
    tcp_linux l;
    tcp_linux_init(&l, 0);
    return l;
}
} // namespace

TEST_CASE("tcp_linux: the window grows if it was full, in slow start if half of it was used")
{
    struct {
        int64_t in_flight;
        double cwnd, ssthresh;
        bool grows;
    } const table[] = {
        {10, 10, 100, true}, {6, 10, 100, true}, {5, 10, 100, false},
        {10, 10, 10, true},  {9, 10, 10, false}, {6, 10, 10, false},
    };
    for (const auto &row : table) {
        INFO(row.in_flight << " of " << row.cwnd);
        tcp_linux l = fresh();
        CHECK(tcp_linux_validate(&l, row.cwnd, row.in_flight, 0, row.in_flight, RTO, 0) ==
              row.cwnd);
        CHECK(tcp_linux_grows(&l, row.cwnd, row.ssthresh) == row.grows);
    }
    // It was full in the last window: still so until that is acknowledged.
    tcp_linux l = fresh();
    tcp_linux_validate(&l, 10, 10, 0, 10, RTO, 0);
    tcp_linux_validate(&l, 10, 4, 8, 12, RTO, 10 * MS);
    CHECK(tcp_linux_grows(&l, 10, 10));
    tcp_linux_validate(&l, 10, 4, 12, 16, RTO, 20 * MS);
    CHECK_FALSE(tcp_linux_grows(&l, 10, 10));
}

TEST_CASE("tcp_linux: a window that is not used for an RTO decays, but not below 10")
{
    tcp_linux l = fresh();
    CHECK(tcp_linux_validate(&l, 40, 4, 0, 4, RTO, RTO - 1) == 40);
    CHECK(tcp_linux_validate(&l, 40, 12, 0, 12, RTO, RTO) == 26); // halfway to 12
    CHECK(tcp_linux_validate(&l, 26, 4, 12, 16, RTO, 2 * RTO - 1) == 26);
    CHECK(tcp_linux_validate(&l, 26, 4, 12, 16, RTO, 2 * RTO) == 18); // halfway to 10
    CHECK(tcp_linux_validate(&l, 9, 2, 16, 18, RTO, 3 * RTO) == 9);
}

TEST_CASE("tcp_linux: in recovery one packet leaves for two that arrive")
{
    tcp_linux l = fresh();
    tcp_linux_recover(&l, 10);
    int out = 0;
    for (int i = 0; i < 4; i++) { // the pipe stays at 9 - what arrived + what left
        int64_t pipe = 9 - i + out;
        if (static_cast<double>(pipe) <= 5)
            break;
        double cwnd = tcp_linux_reduce(&l, 5, pipe, 1);
        while (static_cast<double>(pipe) + 1 <= cwnd) {
            pipe++;
            l.out++;
            out++;
        }
    }
    CHECK(out == 2);
}

TEST_CASE("tcp_linux: a hole is lost after a quarter of a round trip; a silent path is probed")
{
    tcp_sender s{};
    tcp_sender_config c{};
    c.variant = TCP_SACK;
    c.packets = 4;
    c.initial_window = 10;
    c.max_window = 1000;
    c.min_rto = 200 * MS;
    c.timestamps = c.as_linux = true;
    REQUIRE(tcp_sender_init(&s, &c) == 0);
    for (int64_t seq = 0; seq < 4; seq++)
        REQUIRE(tcp_sender_pull(&s, 0) == seq);
    REQUIRE(tcp_sender_pull(&s, 0) == -1);
    tcp_ack one = {1, 0, {}};
    tcp_sender_echo(&s, &one, 0, 100 * MS);
    tcp_sender_ack(&s, &one, 100 * MS);
    CHECK(tcp_sender_pull(&s, 100 * MS) == -1);
    // 1 is missing, 2 arrived: one duplicate ACK.
    tcp_ack hole = {1, 1, {{2, 3}}};
    tcp_sender_ack(&s, &hole, 101 * MS);
    CHECK(tcp_sender_pull(&s, 101 * MS) == -1);
    CHECK(tcp_sender_next_timeout(&s) == 126 * MS);
    tcp_sender_timeout(&s, 126 * MS);
    CHECK(s.in_recovery);
    CHECK(tcp_sender_pull(&s, 126 * MS) == 1);
    CHECK(s.timeouts == 0);
    tcp_ack all = {3, 0, {}};
    tcp_sender_ack(&s, &all, 230 * MS);
    // 3 was lost, too, and nothing follows.
    while (tcp_sender_pull(&s, 230 * MS) >= 0)
        ;
    usec_t probe = tcp_sender_next_timeout(&s);
    CHECK(probe > 400 * MS);
    tcp_sender_timeout(&s, probe);
    CHECK(tcp_sender_pull(&s, probe) == 3);
    tcp_sender_destroy(&s);
}

TEST_CASE("tcp_linux: with CUBIC a recovery begins at seven tenths, and the window grows back")
{
    tcp_sender s{};
    tcp_sender_config c{};
    c.variant = TCP_SACK;
    c.growth = TCP_CUBIC;
    c.packets = INT64_MAX;
    c.initial_window = 20;
    c.max_window = 1000;
    c.min_rto = 200 * MS;
    c.timestamps = c.as_linux = true;
    REQUIRE(tcp_sender_init(&s, &c) == 0);
    for (int64_t seq = 0; seq < 20; seq++)
        REQUIRE(tcp_sender_pull(&s, 0) == seq);
    usec_t now = 100 * MS;
    tcp_ack hole = {0, 1, {{1, 20}}}; // 0 is lost
    for (int i = 0; i < 3; i++)
        tcp_sender_ack(&s, &hole, now);
    CHECK(s.in_recovery);
    CHECK(s.ssthresh == Approx(0.7 * 20));
    // Each round trip all that left is acknowledged. K = cbrt(6 / 0.4) = 2.5 s.
    double before = 0;
    for (; now < 2700 * MS; now += 100 * MS) {
        int64_t sent_to = s.una;
        for (int64_t seq = tcp_sender_pull(&s, now); seq >= 0; seq = tcp_sender_pull(&s, now))
            sent_to = std::max(sent_to, seq + 1);
        tcp_ack all = {std::max(s.high, sent_to), 0, {}};
        tcp_sender_echo(&s, &all, now, now + 100 * MS);
        tcp_sender_ack(&s, &all, now + 100 * MS);
        if (now < 500 * MS)
            before = s.cwnd;
    }
    CHECK_FALSE(s.in_recovery);
    CHECK(before < 19);
    CHECK(s.cwnd > 19);
    CHECK(s.cwnd < 36); // Reno from half of it: 36
    tcp_sender_destroy(&s);
}
