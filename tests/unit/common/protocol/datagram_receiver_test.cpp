// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

#include "common/base/rng.h"
#include "common/base/seq.h"
#include "common/protocol/datagram_receiver.h"

namespace
{

const usec_t MS = USEC_PER_MSEC;

struct endpoint {
    std::unique_ptr<struct datagram_receiver> r = std::make_unique<struct datagram_receiver>();
    struct ccfb report = {};

    endpoint()
    {
        datagram_receiver_init(r.get(), 7, 0);
    }
    void get(int seq, usec_t at, uint8_t ecn = 0, uint32_t bytes = 1200)
    {
        datagram_receiver_packet(r.get(), 9, (uint16_t)seq, ecn, bytes, nullptr, at);
    }
    void wish(usec_t interval, unsigned packets)
    {
        struct feedback_wish w = {interval, packets};
        datagram_receiver_packet(r.get(), 9, 0, 0, 1200, &w, 0);
    }
    usec_t due() const
    {
        return datagram_receiver_next_report(r.get());
    }
    // "5:+.c": begins at 5; arrived, not, arrived with CE.
    std::string tell(usec_t now)
    {
        if (!datagram_receiver_report(r.get(), &report, now))
            return "nothing";
        std::string text = std::to_string(report.begin_seq) + ":";
        for (int i = 0; i < report.count; i++)
            text += !report.metric[i].received ? '.' : report.metric[i].ecn == 3 ? 'c' : '+';
        return text;
    }
};

} // namespace

TEST_CASE("datagram receiver: each packet is reported twice")
{
    endpoint e;
    CHECK(e.due() == USEC_NEVER);
    CHECK(e.tell(0) == "nothing");
    e.get(65534, 10 * MS);
    e.get(65535, 15 * MS);
    CHECK(e.due() == 20 * MS);
    CHECK(e.tell(20 * MS) == "65534:++");
    CHECK(e.report.ssrc == 7);
    CHECK(e.report.media_ssrc == 9);
    CHECK(e.report.timestamp == ccfb_timestamp(20 * MS));
    CHECK(e.report.metric[0].offset == 10); // 10 ms are 10.24/1024 s
    CHECK(e.report.metric[1].offset == 5);
    CHECK(e.due() == USEC_NEVER);
    e.get(0, 21 * MS);
    CHECK(e.due() == 40 * MS);
    CHECK(e.tell(40 * MS) == "65534:+++");
    e.get(1, 41 * MS);
    CHECK(e.tell(60 * MS) == "0:++");
    e.get(3, 61 * MS);
    CHECK(e.tell(80 * MS) == "1:+.+");
    CHECK(e.tell(80 * MS) == "nothing");
    CHECK(e.r->reports == 4);
}

TEST_CASE("datagram receiver: the first report does not wait for its budget")
{
    endpoint e;
    e.get(0, 1 * MS, 0, 100); // 5 % of it are 6 bytes
    CHECK(e.due() == 20 * MS);
    CHECK(e.tell(20 * MS) == "0:+");
    e.get(1, 30 * MS, 0, 100);
    CHECK(e.due() == 70 * MS);
}

TEST_CASE("datagram receiver: late packets, duplicates and marks are reported twice")
{
    endpoint e;
    for (int seq : {10, 11, 13, 14})
        e.get(seq, MS);
    CHECK(e.tell(20 * MS) == "10:++.++");
    e.get(15, 21 * MS);
    CHECK(e.tell(40 * MS) == "10:++.+++");
    e.get(16, 41 * MS);
    CHECK(e.tell(60 * MS) == "15:++");
    e.get(12, 61 * MS); // late
    CHECK(e.tell(80 * MS) == "12:+++++");
    CHECK(e.report.metric[0].offset == 19);
    CHECK(e.report.metric[1].offset == 81); // the first arrival
    e.get(17, 81 * MS);
    CHECK(e.tell(100 * MS) == "12:++++++");
    e.get(13, 101 * MS); // a duplicate is no news
    CHECK(e.due() == USEC_NEVER);
    e.get(13, 102 * MS, 3); // but its mark is
    CHECK(e.due() <= 102 * MS);
    CHECK(e.r->marked == 1);
    CHECK(e.tell(102 * MS) == "13:c++++");
    CHECK(e.report.metric[0].offset == 103); // 101 ms: still the first arrival
    e.get(13, 103 * MS, 3);                  // it has one
    e.get(18, 104 * MS, 3);
    e.get(19, 105 * MS, 2); // ECT(0)
    CHECK(e.r->marked == 2);
    e.get(18 + 32768 - 1, 106 * MS, 3); // numbers begin anew, the count goes on
    CHECK(e.r->marked == 3);
}

TEST_CASE("datagram receiver: when a report is due")
{
    endpoint e;
    SECTION("the requested interval, within bounds")
    {
        const usec_t wishes[][2] = {
            {30 * MS, 30 * MS}, {1, 5 * MS}, {0, 20 * MS}, {USEC_NEVER, 1000 * MS}, {-1, 5 * MS}};
        for (const auto &w : wishes) {
            e.wish(w[0], 0);
            CHECK(e.due() == w[1]);
        }
    }
    SECTION("the requested number of packets")
    {
        e.wish(500 * MS, 3);
        e.get(1, MS);
        CHECK(e.due() == 500 * MS);
        e.get(2, 2 * MS);
        CHECK(e.due() <= 2 * MS);
    }
    SECTION("a hole, with the third packet after it")
    {
        for (int seq : {0, 2, 3})
            e.get(seq, MS);
        CHECK(e.due() == 20 * MS);
        e.get(4, MS);
        CHECK(e.due() <= MS);
        CHECK(e.tell(MS) == "0:+.+++");
        e.get(5, MS); // once
        CHECK(e.due() == 21 * MS);
    }
    SECTION("a hole that was filled in time")
    {
        for (int seq : {0, 2, 3, 1, 4})
            e.get(seq, MS);
        CHECK(e.due() == 20 * MS);
    }
    SECTION("a mark")
    {
        e.get(0, MS);
        e.get(1, MS, 3);
        CHECK(e.due() <= MS);
        CHECK(e.tell(MS) == "0:+c");
        e.get(2, MS);
        CHECK(e.due() == 21 * MS);
    }
    SECTION("half a report")
    {
        e.wish(1000 * MS, 0);
        for (int seq = 1; seq < 255; seq++)
            e.get(seq, MS);
        CHECK(e.due() == 1000 * MS);
        e.get(255, MS);
        CHECK(e.due() <= MS);
    }
}

TEST_CASE(
    "datagram receiver: reports use at most 5 % of the received rate, and one in 50 ms is allowed")
{
    const struct {
        uint32_t bytes;
        int every_ms;
        int least, most; // reports in 20 s
    } cases[] = {
        {1200, 1, 995, 1001}, // nothing but the interval in the way
        {100, 10, 395, 405},  // 640 bytes/s for reports of about 60: only those always allowed
        {20, 40, 395, 401},   // a still picture's packets: each is reported within 50 ms
        {20, 100, 195, 201},  // 24 bytes/s
        {400, 5, 500, 1000},  // 4280 bytes/s for reports of about 60
    };
    for (const auto &c : cases) {
        endpoint e;
        double received = 0, paid = 0;
        int reports = 0;
        for (int ms = 0; ms < 20000; ms++) {
            if (ms % c.every_ms == 0) {
                e.get(ms / c.every_ms, ms * MS, 0, c.bytes);
                received += c.bytes + 28;
            }
            if (e.due() <= ms * MS && e.tell(ms * MS) != "nothing") {
                reports++;
                paid += (double)ccfb_bytes(e.report.count) + 28;
            }
        }
        INFO(c.bytes << " bytes every " << c.every_ms << " ms: " << reports << " reports");
        CHECK(reports >= c.least);
        CHECK(reports <= c.most);
        CHECK((paid <= 0.05 * received || reports <= 401));
    }
}

TEST_CASE("datagram receiver: more packets than a report holds")
{
    endpoint e;
    std::vector<int> told(1400);
    usec_t now = 0;
    auto report = [&] {
        REQUIRE(e.tell(now) != "nothing");
        REQUIRE(e.report.count <= CCFB_MAX_PACKETS);
        for (int i = 0; i < e.report.count; i++)
            told[e.report.begin_seq + (size_t)i]++;
    };
    for (int seq = 0; seq < 1300; seq++)
        e.get(seq, now);
    for (int i = 0; i < 3; i++) {
        CHECK(e.due() <= now);
        report();
    }
    CHECK(e.due() == USEC_NEVER);
    for (int seq = 1300; seq < 1400; seq++)
        e.get(seq, now);
    now = 20 * MS;
    report();
    CHECK(e.due() == USEC_NEVER);
    for (int n : told)
        REQUIRE(n >= 1);
}

TEST_CASE("datagram receiver: no report request for longer than the history")
{
    endpoint e;
    for (int seq = 0; seq < 60000; seq++)
        e.get(seq, seq);
    std::string all;
    CHECK(e.tell(60000) == "57952:" + std::string(512, '+'));
    for (int i = 0; i < 3; i++)
        CHECK(e.tell(60000) == std::to_string(57952 + 512 * (i + 1)) + ":" + std::string(512, '+'));
    CHECK(e.tell(60000) == "nothing");
}

TEST_CASE("datagram receiver: jumps, and another source")
{
    endpoint e;
    e.get(0, 0);
    for (int i = 0; i < 20; i++)
        e.get(0, 0); // enough is received to pay for a report
    CHECK(e.tell(20 * MS) == "0:+");
    SECTION("an outage is reported as a loss, as soon as it is certain")
    {
        for (int seq : {20000, 20001})
            e.get(seq, 21 * MS);
        CHECK(e.due() == 40 * MS);
        e.get(20002, 21 * MS);
        CHECK(e.due() <= 21 * MS);
        CHECK(e.tell(40 * MS) == "19873:" + std::string(127, '.') + "+++");
    }
    SECTION("backwards")
    {
        e.get(60000, 21 * MS);
        CHECK(e.tell(40 * MS) == "60000:+");
    }
    SECTION("another source")
    {
        datagram_receiver_packet(e.r.get(), 10, 4, 0, 1200, nullptr, 21 * MS);
        CHECK(e.tell(40 * MS) == "4:+");
        CHECK(e.report.media_ssrc == 10);
    }
}

TEST_CASE("datagram receiver: a packet stamped after the report has no arrival time")
{
    endpoint e;
    e.get(0, 30 * MS);
    e.get(1, 19 * MS);
    CHECK(e.tell(20 * MS) == "0:++");
    CHECK(e.report.metric[0].offset == CCFB_NO_OFFSET);
    CHECK(e.report.metric[1].offset == 1);
}

// Random reordering within 100, loss and duplicates: all reports are correct, and every arrival is
// reported twice, except those of the last report.
TEST_CASE("datagram receiver: random arrivals are reported correctly and twice")
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        INFO("seed " << seed);
        struct rng r = rng_seeded(seed);
        endpoint e;
        const int count = 5000;
        std::vector<usec_t> arrived(count, -1);
        std::vector<int> told(count, 0);
        int64_t base = 200;
        usec_t now = 0;
        for (int i = 0; i < 12000; i++) {
            now += 300;
            base = i * (count - 200) / 12000 + 100;
            int64_t n = base + (int64_t)rng_below(&r, 100) - 50;
            if (rng_below(&r, 2) || i == 0) {
                e.get((int)n, now);
                if (arrived[(size_t)n] < 0)
                    arrived[(size_t)n] = now;
            }
            if (e.due() > now)
                continue;
            REQUIRE(e.tell(now) != "nothing");
            for (int k = 0; k < e.report.count; k++) {
                size_t m = e.report.begin_seq + (size_t)k;
                REQUIRE(e.report.metric[k].received == (arrived[m] >= 0));
                told[m] += e.report.metric[k].received;
            }
        }
        int seldom = 0;
        for (int n = 0; n < base - 200; n++)
            seldom += arrived[(size_t)n] >= 0 && told[(size_t)n] < 2;
        CHECK(seldom == 0);
    }
}

TEST_CASE("datagram receiver: so many of the next packets are reported as marked or as missing")
{
    endpoint e;
    e.get(10, 0, 2);
    datagram_receiver_mark(e.r.get(), 3);
    e.get(11, 0, 2); // ECN-capable
    e.get(11, 0, 2); // a duplicate does not count
    e.get(12, 0, 0); // not
    e.get(13, 0, 1);
    e.get(14, 0, 2);
    CHECK(e.tell(20 * MS) == "10:+c.c+");
    CHECK(e.r->marked == 0); // of the path
    CHECK(e.r->to_mark == 0);
    datagram_receiver_mark(e.r.get(), 5000);
    CHECK(e.r->to_mark == DATAGRAM_RECEIVER_WINDOW / 2);
}
