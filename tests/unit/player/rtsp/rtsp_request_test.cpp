// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/rtsp/rtsp_request.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>

#include "common/base/err.h"

namespace
{
struct text text_of(const char *s)
{
    return {s, std::strlen(s)};
}
} // namespace

TEST_CASE("rtsp request: what is written is what a server reads")
{
    struct rtsp_request r = {};
    r.method = RTSP_SET_PARAMETER;
    r.uri = "rtsp://h/live";
    r.cseq = 7;
    r.session = "abc";
    r.headers = "Range: npt=now-\r\n";
    r.body = "level: 2\r\n";
    char out[512];
    int len = rtsp_request_format(&r, out, sizeof(out));
    REQUIRE(len > 0);
    struct rtsp_item item;
    size_t used;
    REQUIRE(rtsp_decode((const uint8_t *)out, (size_t)len, &item, &used) == 0);
    CHECK(used == (size_t)len);
    CHECK(item.kind == RTSP_REQUEST);
    CHECK(item.method == RTSP_SET_PARAMETER);
    CHECK(text_is(item.uri, "rtsp://h/live"));
    CHECK(item.cseq == 7);
    CHECK(text_is(rtsp_header(&item, "session"), "abc"));
    CHECK(text_is(rtsp_header(&item, "range"), "npt=now-"));
    CHECK(text_is(item.body, "level: 2\r\n"));
    CHECK(rtsp_request_format(&r, out, (size_t)len) == ERR_FULL); // no room for the end
}

TEST_CASE("rtsp request: without session and body")
{
    struct rtsp_request r = {};
    r.method = RTSP_OPTIONS;
    r.uri = "rtsp://h/live";
    r.cseq = 1;
    r.session = "";
    char out[512];
    REQUIRE(rtsp_request_format(&r, out, sizeof(out)) > 0);
    CHECK(std::string(out) ==
          "OPTIONS rtsp://h/live RTSP/1.0\r\nCSeq: 1\r\nUser-Agent: weir-play\r\n\r\n");
}

TEST_CASE("rtsp measures: what the sender tells of itself")
{
    struct rtsp_measures m;
    rtsp_measures_read(
        text_of("clock: 1700000000123456\r\n"
                "transport: rtt_ms=12.5 rate_bps=1800000 loss=0.01 unsent_bytes=0 cwnd=10 "
                "skipped=4\r\n"
                "level: 3\r\n"),
        &m);
    CHECK(m.has_clock);
    CHECK(m.sender_wall == 1700000000123456);
    CHECK(m.level == 3);
    CHECK(m.transport.rtt_ms == Approx(12.5));
    CHECK(m.transport.rate_bps == Approx(1.8e6));
    CHECK(m.transport.loss == Approx(0.01));
    CHECK(m.transport.unsent_bytes == 0);
    CHECK(m.transport.cwnd_packets == 10);
    CHECK(std::isnan(m.transport.loss_events));
    CHECK(m.skipped == 4);
    CHECK(m.transport.variable[0].name[0] == '\0');
}

TEST_CASE("rtsp measures: the rate controller's own figures")
{
    struct rtsp_measures m;
    rtsp_measures_read(text_of("transport: allowed_bps=1200000 cc.p=0.00125 cc.=1 cc.a(=2 "
                               "cc.X_recv=900000 cc.much_too_long_a_name=3 cc.q=-1 cc.R=x cc.c=3 "
                               "cc.d=4 cc.e=5 cc.one_too_many=6\r\n"),
                       &m);
    CHECK(m.transport.allowed_bps == Approx(1.2e6));
    const struct {
        const char *name;
        double value;
    } table[] = {{"p", 0.00125}, {"X_recv", 9e5}, {"c", 3}, {"d", 4}, {"e", 5}};
    static_assert(sizeof(table) / sizeof(table[0]) == TRANSPORT_VARIABLES);
    for (int i = 0; i < TRANSPORT_VARIABLES; i++) {
        CHECK(std::string(m.transport.variable[i].name) == table[i].name);
        CHECK(m.transport.variable[i].value == Approx(table[i].value));
    }
}

TEST_CASE("rtsp measures: what is strange is as good as not told")
{
    for (const char *body :
         {"", "clock\r\n", "clock: soon\r\ntransport: rtt_ms=fast loss= =3 x\r\nlevel: -1\r\n",
          "clock: 99999999999999999999999\r\n",
          "transport: rtt_ms=100000000000000000 loss=100000000000000000\r\n"}) {
        INFO(body);
        struct rtsp_measures m;
        rtsp_measures_read(text_of(body), &m);
        CHECK_FALSE(m.has_clock);
        CHECK(m.level == -1);
        CHECK(std::isnan(m.transport.rtt_ms));
        CHECK(std::isnan(m.transport.loss));
    }
}
