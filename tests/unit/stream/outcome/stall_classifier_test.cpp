// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

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
    stall_cause begin(usec_t t, packets_say say = PACKETS_AHEAD)
    {
        return stall_classifier_begin(&w, say, t * ms);
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
