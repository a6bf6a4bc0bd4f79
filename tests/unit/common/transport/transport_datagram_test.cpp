// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/wire/rtp.h"
#include "tests/unit/common/transport/path.hpp"

namespace
{

const uint32_t SSRC = 7;
const uint16_t FIRST_SEQ = 65530; // goes round

// The viewer keeps what came.
struct path : test::path {
    uint16_t seq = FIRST_SEQ;
    std::set<int> marks;

    void on_far(const datagram &d) override
    {
        came.push_back(load_be16(d.data + 2));
        marks.insert(d.ecn);
    }

    path(const char *name, bool feedback, bool proved = true)
    {
        transport_path lent{};
        lent.feedback = feedback;
        lent.ssrc = SSRC;
        lent.first_seq = FIRST_SEQ;
        open(name, lent, proved);
    }

    // As many packets as there is room for at this instant, at most `most`.
    int fill(usec_t now, int most = 1000)
    {
        uint8_t bytes[1000] = {2 << 6};
        int sent = 0;
        for (; sent < most && t->media.ops->room(&t->media, now); sent++) {
            store_be16(bytes + 2, seq++);
            store_be32(bytes + 8, SSRC);
            const media_packet p = {bytes, 12, bytes + 12, sizeof(bytes) - 12, 0, 0};
            REQUIRE(t->media.ops->send(&t->media, TRACK_VIDEO, &p, now) == 0);
        }
        t->media.ops->flush(&t->media, now);
        return sent;
    }

    void turn(size_t wanted)
    {
        while (came.size() < wanted)
            uv_run(&loop, UV_RUN_ONCE);
    }

    // The viewer's report of the first packets: all arrived just now.
    void report(uint16_t count, usec_t now, uint32_t ssrc = SSRC)
    {
        ccfb f{};
        f.ssrc = 9;
        f.media_ssrc = ssrc;
        f.begin_seq = FIRST_SEQ;
        f.count = count;
        f.timestamp = ccfb_timestamp(now);
        for (int i = 0; i < count; i++)
            f.metric[i].received = true;
        uint8_t out[1200];
        size_t len = 0;
        REQUIRE(ccfb_append(&f, out, sizeof(out), &len) == 0);
        t->ops->on_rtcp(t, out, len, now);
    }
};

} // namespace

TEST_CASE("transport_datagram: parameters go to the controller")
{
    const struct {
        const char *name;
        bool good;
    } table[] = {
        {"udp", true},
        {"udp:", true},
        {"udp:rate=1000000", true},
        {"udp:1", false},
        {"udp:rate=x", false},
        {"psp", true},
        {"psp-plain", true},
        {"tfrc", true},
        {"tfrc:komssys", true},
        {"arc", true},
        {"arc:report=packet", true},
        {"arc:report=never", false},
        {"scream", true},
        {"scream:target=40,ecn=classic", true},
        {"scream:ecn=none", false},
        {"tfrc:nosuch", false},
        {"psp-", false},
    };
    for (const auto &row : table) {
        INFO(row.name);
        const transport_kind *kind;
        const char *params;
        CHECK((transport_find(row.name, &kind, &params) == 0) == row.good);
    }
}

TEST_CASE("transport_datagram: nothing leaves before the address is proved")
{
    path p("udp", true, false);
    usec_t now = clock_now();
    CHECK(p.fill(now) == 0);
    uint8_t rtcp[8] = {};
    CHECK(p.t->ops->send_rtcp(p.t, TRACK_VIDEO, rtcp, sizeof(rtcp), now) == ERR_AGAIN);
    CHECK(p.rooms == 0);
    p.prove();
    p.t->ops->on_writable(p.t, now);
    CHECK(p.rooms == 1);
    CHECK(p.fill(now, 3) > 0);
    p.turn(1);
    CHECK(p.came[0] == FIRST_SEQ);
}

TEST_CASE("transport_datagram: the size of packets")
{
    const struct {
        const char *name;
        bool feedback;
        size_t bytes; // on the loopback
    } table[] = {
        {"arc", true, 1472},  {"psp", true, 1472},  {"psp-plain", true, 1472},
        {"arc", false, 1200}, {"tfrc", true, 1200}, {"scream", true, 1200},
        {"udp", true, 1200},  {"psp", false, 1200},
    };
    for (const auto &row : table) {
        INFO(row.name << " " << row.feedback);
        path p(row.name, row.feedback, false);
        CHECK(p.t->media.max_packet == 1200); // the route is unknown
        p.prove();
        p.t->media.ops->room(&p.t->media, clock_now());
        CHECK(p.t->media.max_packet == row.bytes);
    }
}

TEST_CASE("transport_datagram: large packets that never arrive are made smaller")
{
    path p("psp:link=100000000", true);
    usec_t now = clock_now();
    REQUIRE(p.t->media.ops->room(&p.t->media, now));
    REQUIRE(p.t->media.max_packet == 1472);
    uint8_t bytes[1472] = {2 << 6};
    uint16_t seq = FIRST_SEQ;
    for (int i = 0; i < 10; i++) { // seven large packets, then three small ones
        size_t len = i < 7 ? sizeof(bytes) : 500;
        store_be16(bytes + 2, seq++);
        const media_packet packet = {bytes, 12, bytes + 12, len - 12, 0, 0};
        usec_t at = now + i * USEC_PER_MSEC;
        REQUIRE(p.t->media.ops->room(&p.t->media, at));
        REQUIRE(p.t->media.ops->send(&p.t->media, TRACK_VIDEO, &packet, at) == 0);
        p.t->media.ops->flush(&p.t->media, at);
    }
    // Only the small ones are reported as arrived; seven losses may be chance.
    ccfb f{};
    f.ssrc = 9;
    f.media_ssrc = SSRC;
    f.begin_seq = FIRST_SEQ;
    f.count = 10;
    f.timestamp = ccfb_timestamp(now + 20 * USEC_PER_MSEC);
    for (int i = 7; i < 10; i++)
        f.metric[i].received = true;
    uint8_t out[1200];
    size_t len = 0;
    REQUIRE(ccfb_append(&f, out, sizeof(out), &len) == 0);
    p.t->ops->on_rtcp(p.t, out, len, now + 20 * USEC_PER_MSEC);
    CHECK(p.info(now).counts.lost == 7);
    CHECK(p.t->media.max_packet == 1472);
    // An eighth.
    for (int i = 10; i < 14; i++) {
        usec_t at = now + (30 + i) * USEC_PER_MSEC;
        size_t bytes_now = i == 10 ? sizeof(bytes) : 500;
        store_be16(bytes + 2, seq++);
        const media_packet packet = {bytes, 12, bytes + 12, bytes_now - 12, 0, 0};
        while (!p.t->media.ops->room(&p.t->media, at))
            at += USEC_PER_MSEC;
        REQUIRE(p.t->media.ops->send(&p.t->media, TRACK_VIDEO, &packet, at) == 0);
        p.t->media.ops->flush(&p.t->media, at);
    }
    ccfb g{};
    g.ssrc = 9;
    g.media_ssrc = SSRC;
    g.begin_seq = static_cast<uint16_t>(FIRST_SEQ + 10);
    g.count = 4;
    g.timestamp = ccfb_timestamp(now + USEC_PER_SEC / 2);
    for (int i = 1; i < 4; i++)
        g.metric[i].received = true;
    len = 0;
    REQUIRE(ccfb_append(&g, out, sizeof(out), &len) == 0);
    p.t->ops->on_rtcp(p.t, out, len, now + USEC_PER_SEC / 2);
    CHECK(p.info(now).counts.lost == 8);
    CHECK(p.t->media.max_packet == 1200);
}

TEST_CASE("transport_datagram: a wake-up sends no more than a batch")
{
    path p("udp:rate=8000000000", true); // a millisecond of it is 1000 packets
    usec_t now = clock_now();
    CHECK(p.fill(now) == UDP_SOCKET_BATCH);
    CHECK(p.fill(now) == 0);
    CHECK(p.rooms == 0); // not inside the call
    while (!p.rooms)     // the loop's next turn asks for more
        uv_run(&p.loop, UV_RUN_ONCE);
    CHECK(p.fill(clock_now()) == UDP_SOCKET_BATCH);
    p.turn(2 * UDP_SOCKET_BATCH);
    for (size_t i = 0; i < p.came.size(); i++)
        CHECK(p.came[i] == static_cast<uint16_t>(FIRST_SEQ + i));
}

TEST_CASE("transport_datagram: ECT(0) or L4S's ECT(1) where the rate answers, and only there")
{
    const struct {
        const char *name;
        bool feedback;
        int mark;
    } table[] = {{"udp", true, 0}, {"udp", false, 0},   {"tfrc", true, 2},
                 {"psp", true, 2}, {"scream", true, 1}, {"scream:ecn=classic", true, 2}};
    for (const auto &row : table) {
        INFO(row.name);
        path p(row.name, row.feedback);
        REQUIRE(p.fill(clock_now(), 1) == 1);
        p.turn(1);
        CHECK(p.marks == std::set<int>{row.mark});
        feedback_wish wish;
        CHECK(p.t->media.ops->wish(&p.t->media, &wish) == row.feedback);
        if (row.feedback)
            CHECK(wish.interval > 0);
    }
}

TEST_CASE("transport_datagram: silence, and what ends it")
{
    path p("udp", true);
    usec_t now = clock_now();
    CHECK(p.info(now).unheard == 0);
    int sent = p.fill(now, 2);
    REQUIRE(sent == 2);
    CHECK(p.info(now + 500000).unheard == 500000);
    CHECK(p.info(now + 500000).counts.arrived == 0);
    p.report(1, now + 600000, SSRC + 1); // of another stream
    CHECK(p.info(now + 600000).unheard == 600000);
    CHECK(p.info(now + 600000).counts.reports == 0);
    p.report(1, now + 700000);
    CHECK(p.info(now + 800000).unheard == 100000);
    p.report(1, now + 900000); // tells nothing new
    CHECK(p.info(now + 900000).unheard == 200000);
    p.report(2, now + 950000);
    transport_info i = p.info(now + USEC_PER_SEC);
    CHECK(i.unheard == 0); // nothing is under way
    CHECK(i.counts.arrived == 2);
    CHECK(i.counts.lies == 0);
    CHECK(i.loss == 0);
    CHECK(i.rtt_ms > 0);
    CHECK(i.allowed_bps > 0);
}

TEST_CASE("transport_datagram: reports beyond one a packet are not read")
{
    path p("udp", true);
    usec_t now = clock_now();
    REQUIRE(p.fill(now, 2) == 2);
    for (int i = 0; i < 300; i++)
        p.report(2, now + 1000 * i);
    transport_info i = p.info(now + 300000);
    CHECK(i.counts.reports == 256);
    CHECK(i.reports_ignored == 44);
}

TEST_CASE("transport_datagram: without feedback the controller is left alone")
{
    path p("udp", false);
    usec_t now = clock_now();
    REQUIRE(p.fill(now, 2) == 2);
    p.report(1, now + 1000);
    transport_info i = p.info(now + 60 * USEC_PER_SEC);
    CHECK_FALSE(i.is_reported);
    CHECK(i.unheard == 0);
    CHECK(std::isnan(i.rtt_ms));
    transport_report r = {0.25, 40000};
    p.t->ops->on_report(p.t, &r, now + 60 * USEC_PER_SEC);
    i = p.info(now + 60 * USEC_PER_SEC);
    CHECK(i.rtt_ms == Approx(40));
    CHECK(i.loss == Approx(0.25));
    CHECK(p.fill(now + 60 * USEC_PER_SEC, 1) == 1); // still at its rate
}
