// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/rtsp_params.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>

namespace
{
struct text text_of(const char *s)
{
    return {s, std::strlen(s)};
}
} // namespace

TEST_CASE("rtsp params: the values that the sender reports")
{
    struct rtsp_params m;
    rtsp_params_decode(
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

TEST_CASE("rtsp params: the variables of the rate controller")
{
    struct rtsp_params m;
    rtsp_params_decode(text_of("transport: allowed_bps=1200000 cc.p=0.00125 cc.=1 cc.a(=2 "
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

TEST_CASE("rtsp params: a malformed line counts as not reported")
{
    for (const char *body :
         {"", "clock\r\n", "clock: soon\r\ntransport: rtt_ms=fast loss= =3 x\r\nlevel: -1\r\n",
          "clock: 99999999999999999999999\r\n",
          "transport: rtt_ms=100000000000000000 loss=100000000000000000\r\n"}) {
        INFO(body);
        struct rtsp_params m;
        rtsp_params_decode(text_of(body), &m);
        CHECK_FALSE(m.has_clock);
        CHECK(m.level == -1);
        CHECK(std::isnan(m.transport.rtt_ms));
        CHECK(std::isnan(m.transport.loss));
    }
}

TEST_CASE("rtsp params: what a proxy knows of the way behind it")
{
    struct rtsp_params m;
    rtsp_params_decode(text_of("transport: rtt_ms=12.5 skipped=4 backbone.rtt_ms=200.25 "
                               "backbone.loss=0.02 backbone.delay_ms=101.5 backbone.away_s=1.5 "
                               "proxy.delay_ms=7 "
                               "proxy.limit_bps=x proxy.unknown=3\r\n"),
                       &m);
    CHECK(m.transport.rtt_ms == Approx(12.5));
    CHECK(m.skipped == 4);
    CHECK(m.relay.backbone_rtt_ms == Approx(200.25));
    CHECK(m.relay.backbone_loss == Approx(0.02));
    CHECK(m.relay.backbone_delay_ms == Approx(101.5));
    CHECK(m.relay.backbone_away_s == Approx(1.5));
    CHECK(m.relay.proxy_delay_ms == Approx(7));
    CHECK(std::isnan(m.relay.proxy_limit_bps));
    CHECK(std::isnan(m.relay.backbone_skipped));
}

TEST_CASE("rtsp params: a source that is away, since when, and why")
{
    struct rtsp_params m;
    rtsp_params_decode(text_of("transport: rtt_ms=12.5\r\n"), &m);
    CHECK(std::isnan(m.source_away_s));
    rtsp_params_decode(text_of("transport: rtt_ms=1\r\nsource-away: 4.25 it answers 401\r\n"), &m);
    CHECK(m.source_away_s == Approx(4.25));
    CHECK(std::string(m.source_why) == "it answers 401");
    rtsp_params_decode(text_of("source-away: 5\r\n"), &m);
    CHECK(m.source_away_s == 5);
    CHECK(std::string(m.source_why).empty());
    std::string longest = "source-away: 5 " + std::string(500, 'x') + "\r\n";
    rtsp_params_decode(text_of(longest.c_str()), &m);
    CHECK(strlen(m.source_why) == RTSP_PARAMS_WHY - 1);
    for (const char *bad : {"source-away:\r\n", "source-away: x y\r\n", "source-away: -1 y\r\n"}) {
        rtsp_params_decode(text_of(bad), &m);
        CHECK(std::isnan(m.source_away_s));
    }
}
