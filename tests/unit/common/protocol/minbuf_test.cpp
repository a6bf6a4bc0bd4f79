// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <vector>

#include "common/base/err.h"
#include "common/protocol/minbuf.h"

namespace
{

struct row {
    const char *params;
    uint32_t cwnd, unacked, sacked, notsent_bytes;
    uint32_t packets; // that may be written at once; 0: none is admitted
    uint32_t wake_below;
};

tcp_snapshot snapshot(const row &r)
{
    tcp_snapshot s{};
    s.cwnd = r.cwnd;
    s.unacked = r.unacked;
    s.sacked = r.sacked;
    s.notsent_bytes = r.notsent_bytes;
    s.mss = 1000;
    return s;
}

} // namespace

TEST_CASE("minbuf: the admission rule, A * cwnd + min(B, cwnd) + sacked packets")
{
    // mss 1000. In the buffer: unacked packets and the unsent bytes in packets, rounded up.
    const std::vector<row> table = {
        // (1,0): limit cwnd. Nothing may wait unsent.
        {"1,0", 10, 9, 0, 0, 1, 1},
        {"1,0", 10, 10, 0, 0, 0, 1},
        {"1,0", 10, 9, 0, 1, 0, 1},  // one byte counts as a packet
        {"1,0", 10, 12, 3, 0, 1, 1}, // 12 < 10 + 3 SACKed
        {"1,0", 10, 13, 3, 0, 0, 1},
        {"1,0", 4, 10, 0, 0, 0, 1}, // the window shrank below what is in flight
        // (1,3): limit cwnd + 3.
        {"1,3", 10, 10, 0, 2000, 1, 3000},
        {"1,3", 10, 10, 0, 2001, 0, 3000},
        {"1,3", 10, 12, 0, 0, 1, 3000},
        {"1,3", 10, 13, 0, 0, 0, 3000},
        {"1,3", 10, 4, 0, 900, 8, 3000}, // 13 less 4 in flight less 1 unsent
        {"1,3", 2, 2, 0, 1000, 1, 2000}, // min(B, cwnd) = 2: limit 4
        {"1,3", 2, 2, 0, 2000, 0, 2000},
        {"", 10, 10, 0, 2000, 1, 3000}, // the default is (1,3)
        // (2,0): limit 2 cwnd.
        {"2,0", 10, 10, 0, 9000, 1, 10000},
        {"2,0", 10, 10, 0, 10000, 0, 10000},
    };
    for (const row &r : table) {
        INFO(r.params << " cwnd " << r.cwnd << " unacked " << r.unacked << " sacked " << r.sacked
                      << " unsent " << r.notsent_bytes);
        minbuf m;
        REQUIRE(minbuf_parse(r.params, &m) == 0);
        tcp_snapshot s = snapshot(r);
        CHECK(minbuf_packets(&m, &s) == r.packets);
        CHECK(minbuf_admits(&m, &s) == (r.packets > 0));
        CHECK(minbuf_wake_below(&m, &s) == r.wake_below);
    }
}

TEST_CASE("minbuf: auto keeps unsent data below a time at the measured rate")
{
    minbuf m;
    REQUIRE(minbuf_parse("auto,20", &m) == 0);
    tcp_snapshot s{};
    s.mss = 1000;
    s.cwnd = 10;
    s.delivery_bps = 8e6; // 1 MB/s: 20 ms are 20,000 bytes
    s.notsent_bytes = 19000;
    CHECK(minbuf_admits(&m, &s));
    CHECK(minbuf_packets(&m, &s) == 1);
    s.notsent_bytes = 12500; // 7 more are 19,500, 8 would be 20,500
    CHECK(minbuf_packets(&m, &s) == 7);
    s.notsent_bytes = 19001;
    CHECK_FALSE(minbuf_admits(&m, &s));
    CHECK(minbuf_wake_below(&m, &s) == 19000);

    s.delivery_bps = 0; // no estimate yet: a window a round trip, 10,000 B / 10 ms = 1 MB/s
    s.srtt = 10 * USEC_PER_MSEC;
    CHECK_FALSE(minbuf_admits(&m, &s));
    s.notsent_bytes = 19000;
    CHECK(minbuf_admits(&m, &s));

    s.srtt = 0; // nothing is known: one packet at a time
    CHECK_FALSE(minbuf_admits(&m, &s));
    s.notsent_bytes = 0;
    CHECK(minbuf_admits(&m, &s));
    CHECK(minbuf_wake_below(&m, &s) == 1);
}

TEST_CASE("minbuf: waiting for the reports of acknowledgements")
{
    minbuf m;
    for (const char *params : {"1,0", "1,0,pace"}) {
        REQUIRE(minbuf_parse(params, &m) == 0);
        CHECK(minbuf_waits_for_acks(&m));
    }
    for (const char *params : {"", "1,3", "2,0", "auto,20"}) {
        REQUIRE(minbuf_parse(params, &m) == 0);
        CHECK_FALSE(minbuf_waits_for_acks(&m));
    }

    const struct {
        uint32_t cwnd, packets;
    } writes[] = {{0, 1}, {2, 1}, {31, 1}, {32, 2}, {160, 10}, {256, 16}, {10000, 16}};
    for (const auto &row : writes) {
        tcp_snapshot s{};
        s.cwnd = row.cwnd;
        CHECK(minbuf_write_limit(&s, 16) == row.packets);
    }
}

TEST_CASE("minbuf: reports of acknowledgements are wanted while media waits for them")
{
    tcp_snapshot s{};
    s.srtt = 80000;
    s.cwnd = 40;
    minbuf_acks a{};
    CHECK(minbuf_acks_refused(&a, &s, false) == 1000); // 80 ms / (2 * 40)
    CHECK_FALSE(a.wanted);

    // What is in flight is not stamped, so until the first report the timer has the short time.
    CHECK(minbuf_acks_refused(&a, &s, true) == 1000);
    CHECK(a.wanted);
    minbuf_acks_arrived(&a, true);
    CHECK(minbuf_acks_refused(&a, &s, true) == 10000); // an eighth of 80 ms

    const struct {
        usec_t srtt;
        uint32_t sacked, lost;
        usec_t wait;
    } waits[] = {{0, 0, 0, 2000},       {8000, 0, 0, 2000},  {80000, 0, 0, 10000},
                 {400000, 0, 0, 20000}, {80000, 1, 0, 2000}, {80000, 0, 1, 2000}};
    for (const auto &row : waits) {
        s.srtt = row.srtt;
        s.sacked = row.sacked;
        s.lost = row.lost;
        CHECK(minbuf_acks_refused(&a, &s, true) == row.wait);
    }

    for (int i = 1; i < MINBUF_IDLE_ACKS; i++)
        minbuf_acks_arrived(&a, false);
    CHECK(a.wanted);
    minbuf_acks_arrived(&a, true); // media waited in between
    for (int i = 1; i <= MINBUF_IDLE_ACKS; i++) {
        CHECK(a.wanted);
        minbuf_acks_arrived(&a, false);
    }
    CHECK_FALSE(a.wanted);
    minbuf_acks_arrived(&a, false); // stamps of what was in flight
    CHECK_FALSE(a.reported);
}

TEST_CASE("minbuf: parameters")
{
    minbuf m;
    CHECK(minbuf_parse("64,10000", &m) == 0);
    CHECK(minbuf_parse("auto,10000", &m) == 0);
    CHECK_FALSE(m.pace);
    const struct {
        const char *params;
        int a, b;
        usec_t unsent_limit;
    } paced[] = {{"1,0,pace", 1, 0, 0}, {"2,10,pace", 2, 10, 0}, {"auto,20,pace", 1, 3, 20000}};
    for (const auto &row : paced) {
        REQUIRE(minbuf_parse(row.params, &m) == 0);
        CHECK(m.pace);
        CHECK(m.automatic == (row.unsent_limit > 0));
        CHECK(m.unsent_limit == row.unsent_limit);
        CHECK(m.a == row.a);
        CHECK(m.b == row.b);
    }
    for (const char *bad : {"1",         "1,",
                            ",3",        "1,3,",
                            "a,b",       "1,3x",
                            "auto",      "auto,",
                            "auto,5x",   " ",
                            " 1,3",      "1, 3",
                            "+1,3",      "1,3 ",
                            "auto, 5",   "auto,+5",
                            "pace",      "1,pace",
                            "1,3,",      "1,3pace",
                            "1,3,pac",   "1,3,pace,pace",
                            "auto,pace", "auto,20,pace,"})
        CHECK(minbuf_parse(bad, &m) == ERR_MALFORMED);
    for (const char *bad :
         {"0,3", "65,0", "1,-1", "1,10001", "auto,0", "auto,10001", "auto,-3", "0,3,pace"})
        CHECK(minbuf_parse(bad, &m) == ERR_RANGE);
}

TEST_CASE("minbuf: a connection's first window is spread over half a round trip")
{
    const struct {
        usec_t srtt;
        uint64_t segments_out;
        usec_t spacing;
    } table[] = {
        {0, 0, 0},      // not measured
        {19'999, 0, 0}, // not worth a timer
        {20'000, 0, 1000},  {50'000, 0, 2500},
        {50'000, 9, 2500},  {50'000, 10, 0}, // acknowledgements clock what follows
        {100'000, 0, 5000}, {400'000, 0, 5000},
    };
    for (const auto &r : table) {
        INFO("srtt " << r.srtt << ", segments " << r.segments_out);
        tcp_snapshot s{};
        s.srtt = r.srtt;
        s.segments_out = r.segments_out;
        CHECK(minbuf_spacing(&s) == r.spacing);
    }
}
