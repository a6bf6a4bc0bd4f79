// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "stream/outcome/stall_classifier.h"

namespace
{

const usec_t ms = USEC_PER_MSEC;
const usec_t wall = 1700000000000 * ms; // of the sender, when our clock says 0

// One frame of one packet every 40 ms; encoding takes 10 ms and transport 20 ms.
struct stream {
    stall_classifier w;
    int64_t seq = 100;

    explicit stream(usec_t interval = 40 * ms)
    {
        stall_classifier_init(&w, interval);
        for (usec_t t = 0; t <= 1000; t += 40)
            packet(t - 20, t);
    }
    // A packet with times in ms of our clock; `lost`: packets lost before it.
    void packet(usec_t written, usec_t arrived, usec_t waited = 10, int lost = 0)
    {
        rtp_packet p{};
        p.has_adu = p.has_capture = true;
        p.adu.written_us = static_cast<uint32_t>(wall + written * ms);
        p.capture_wall = wall + (written - waited) * ms;
        seq += 1 + lost;
        stall_classifier_packet(&w, &p, seq, arrived * ms);
    }
    // The same of a frame whose sender tells when it was made; `is_slow`: its machine does not keep
    // up.
    void made(usec_t captured, usec_t made, usec_t written, usec_t arrived, bool is_slow = false)
    {
        rtp_packet p{};
        p.has_adu = p.has_capture = p.has_made = true;
        p.adu.written_us = static_cast<uint32_t>(wall + written * ms);
        p.capture_wall = wall + captured * ms;
        p.made = {static_cast<uint16_t>(made - captured), is_slow};
        seq++;
        stall_classifier_packet(&w, &p, seq, arrived * ms);
    }
    stall_cause begin(usec_t t, packets_say say = PACKETS_AHEAD)
    {
        return stall_classifier_begin(&w, say, t * ms, t * ms);
    }
    stall_cause end(usec_t t, packets_say say = PACKETS_WHOLE)
    {
        return stall_classifier_end(&w, say, t * ms);
    }
};

} // namespace

TEST_CASE("stall_classifier: no packet arrived")
{
    stream s;
    CHECK(stall_classifier_silence(&s.w, 1450 * ms) == 450 * ms);
    CHECK(s.begin(1450) == STALL_OUTAGE);
    SECTION("and the path delivers earlier packets")
    {
        s.packet(1020, 2500);
        CHECK(s.end(2500) == STALL_OUTAGE);
    }
    SECTION("and packets sent meanwhile are lost")
    {
        s.packet(2480, 2500, 10, 30);
        CHECK(s.end(2500, PACKETS_GAP) == STALL_OUTAGE);
    }
    SECTION("because the sender had no room: the first packet had waited there")
    {
        s.packet(2480, 2500, 1400);
        CHECK(s.end(2500) == STALL_OUTAGE);
    }
    SECTION("because nothing was produced")
    {
        s.packet(2480, 2500);
        s.packet(2520, 2540);
        CHECK(s.end(2600) == STALL_SENDER);
    }
    SECTION("until the end")
    {
        CHECK(s.end(9000, PACKETS_AHEAD) == STALL_OUTAGE);
    }
}

TEST_CASE("stall_classifier: a silence before the stall explains it for a limited time")
{
    stream s;
    s.packet(1020, 2000);
    CHECK(s.begin(2100) == STALL_OUTAGE);
    for (usec_t t = 2040; t <= 5000; t += 40)
        s.packet(t - 20, t);
    CHECK(s.begin(5100) == STALL_TRANSPORT); // as long as little is known
}

TEST_CASE("stall_classifier: packets arrive all the time")
{
    stream s;
    SECTION("with growing delay: the path is slower than the media")
    {
        s.packet(1020, 1200);
        CHECK(s.begin(1300) == STALL_TRANSPORT);
        s.packet(1060, 1400);
        s.packet(1440, 1460); // the refill is fresh
        CHECK(s.end(1460) == STALL_TRANSPORT);
    }
    SECTION("after waiting in the sender: it had no room")
    {
        s.packet(1180, 1200, 170);
        CHECK(s.begin(1300) == STALL_TRANSPORT);
        CHECK(s.end(1310) == STALL_TRANSPORT);
    }
    SECTION("the awaited frame was lost")
    {
        s.packet(1060, 1080, 10, 3);
        CHECK(s.begin(1200, PACKETS_GAP) == STALL_NETWORK);
        s.packet(1100, 1240);
        CHECK(s.end(1300, PACKETS_GAP) == STALL_NETWORK);
    }
    SECTION("on time, but too few")
    {
        CHECK(s.begin(1200) == STALL_TRANSPORT);
        s.packet(1300, 1320);
        CHECK(s.end(1330) == STALL_SENDER);
    }
}

TEST_CASE("stall_classifier: a slow machine is no slow network")
{
    // Of the frame that ends the stall: when it was captured, made, written and arrived.
    struct {
        const char *what;
        usec_t captured, made, written, arrived;
        bool is_slow;
        stall_cause begin, end;
    } table[] = {
        {"its encoder was busy", 1040, 1250, 1251, 1271, false, STALL_TRANSPORT, STALL_SENDER},
        {"its encoder was busy for long", 1040, 2400, 2401, 2421, false, STALL_TRANSPORT,
         STALL_SENDER},
        {"it tells that it does not keep up", 1040, 1140, 1141, 1161, true, STALL_TRANSPORT,
         STALL_SENDER},
        {"made in time, and then no room", 1040, 1050, 1250, 1270, false, STALL_TRANSPORT,
         STALL_TRANSPORT},
        {"made in time, and then a long silence", 1040, 1050, 2400, 2420, false, STALL_TRANSPORT,
         STALL_OUTAGE},
        {"made late, and a slow path", 1040, 1250, 1251, 1400, true, STALL_TRANSPORT,
         STALL_TRANSPORT},
    };
    for (auto &row : table) {
        INFO(row.what);
        stream s;
        for (usec_t t = 920; t <= 1000; t += 40)
            s.made(t - 30, t - 20, t - 20, t);
        CHECK(s.begin(1080) == row.begin);
        s.made(row.captured, row.made, row.written, row.arrived, row.is_slow);
        CHECK(s.end(row.arrived) == row.end);
    }
}

TEST_CASE("stall_classifier: after a late frame too little is no slow network")
{
    struct {
        const char *what;
        usec_t made;
        bool is_slow;
        stall_cause soon, silent;
    } table[] = {
        {"a frame in time", 10, false, STALL_TRANSPORT, STALL_OUTAGE},
        {"one that was made late", 150, false, STALL_SENDER, STALL_OUTAGE},
        {"a sender that does not keep up", 10, true, STALL_SENDER, STALL_SENDER},
    };
    for (auto &row : table) {
        INFO(row.what);
        stream s;
        s.made(1000, 1010, 1010, 1030);
        s.made(1040, 1040 + row.made, 1040 + row.made, 1060 + row.made, row.is_slow);
        CHECK(s.begin(1100 + row.made) == row.soon);
        CHECK(s.begin(1500 + row.made) == row.silent);
        // What comes then decides: it had left in time.
        s.made(1080, 1090 + row.made, 1090 + row.made, 1700 + row.made);
        CHECK(s.end(1710 + row.made) == STALL_OUTAGE);
    }
}

TEST_CASE("stall_classifier: this machine came late to its work")
{
    struct {
        const char *what;
        std::vector<std::pair<usec_t, usec_t>> late; // of this machine, from 1100 on
        usec_t begun, ended;
        stall_cause begin, end;
    } table[] = {
        {"it did not", {}, 1100, 1200, STALL_TRANSPORT, STALL_SENDER},
        {"it was stopped", {{1090, 1190}}, 1100, 1200, STALL_DISPLAY, STALL_DISPLAY},
        {"it was stopped, and the sender sent nothing for longer",
         {{1090, 1140}},
         1100,
         1300,
         STALL_DISPLAY,
         STALL_SENDER},
        {"it was stopped later in the stall",
         {{1150, 1280}},
         1100,
         1290,
         STALL_TRANSPORT,
         STALL_DISPLAY},
        {"again and again",
         {{1120, 1160}, {1180, 1220}, {1240, 1280}},
         1100,
         1300,
         STALL_TRANSPORT,
         STALL_DISPLAY},
        {"for so long that nothing came", {{1100, 2400}}, 1100, 2410, STALL_DISPLAY, STALL_DISPLAY},
    };
    for (auto &row : table) {
        INFO(row.what);
        stream s;
        size_t next = 0;
        usec_t found = row.begun;
        if (!row.late.empty() && row.late[0].first <= row.begun) {
            found = row.late[0].second;
            stall_classifier_late(&s.w, row.late[next++].first * ms, found * ms);
        }
        CHECK(stall_classifier_begin(&s.w, PACKETS_AHEAD, row.begun * ms, found * ms) == row.begin);
        for (; next < row.late.size(); next++)
            stall_classifier_late(&s.w, row.late[next].first * ms, row.late[next].second * ms);
        s.packet(row.ended - 20, row.ended);
        CHECK(s.end(row.ended) == row.end);
    }
}

TEST_CASE("stall_classifier: large frame intervals and pauses are no outage")
{
    stream slow(500 * ms);
    CHECK(slow.begin(2400) == STALL_TRANSPORT); // three intervals are 1500 ms
    CHECK(slow.begin(2600) == STALL_OUTAGE);

    stream paused;
    stall_classifier_forget(&paused.w);
    CHECK(stall_classifier_silence(&paused.w, 9000 * ms) == -1);
    paused.packet(60000, 60020);
    CHECK(paused.begin(60100) != STALL_OUTAGE);
}

TEST_CASE("stall_classifier: the sender's 32 bits of microseconds may wrap between packets")
{
    stall_classifier w;
    stall_classifier_init(&w, 40 * ms);
    rtp_packet p{};
    p.has_adu = true;
    p.adu.written_us = 0xffffff00;
    stall_classifier_packet(&w, &p, 1, 0);
    p.adu.written_us = 0xffffff00u + 40000;
    stall_classifier_packet(&w, &p, 2, 40 * ms);
    CHECK(w.behind == 0);
    p.adu.written_us += 40000;
    stall_classifier_packet(&w, &p, 3, 230 * ms);
    CHECK(w.behind == 150 * ms);
}
