// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <string>

#include "common/base/err.h"
#include "common/wire/rtsp_transport.h"

static struct text text_from(const char *s)
{
    return {s, strlen(s)};
}

TEST_CASE("rtsp_transport: offers")
{
    struct rtsp_transport t[RTSP_MAX_OFFERS];
    // RFC 2326, 12.39, with a transport of ours in between; the comma in minbuf:1,3 parts nothing
    REQUIRE(
        rtsp_transport_decode(
            text_from(
                "RTP/AVP;multicast;ttl=127;mode=\"PLAY\", "
                "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=minbuf:1,3;x-cc=reno,"
                "RTP/UNKNOWN;unicast,RTP/AVP;unicast;client_port=3456-3457;mode=\"PLAY,RTP/AVP\""),
            t) == 3);
    CHECK(t[0].multicast);
    CHECK_FALSE(t[0].tcp);
    CHECK(t[1].tcp);
    CHECK(t[1].interleaved[0] == 0);
    CHECK(t[1].interleaved[1] == 1);
    CHECK(std::string(t[1].weir) == "minbuf:1,3");
    CHECK(std::string(t[1].cc) == "reno");
    CHECK(t[1].repair[0] == '\0');
    CHECK(t[1].client_port[0] == -1);
    CHECK(t[2].client_port[0] == 3456);
    CHECK(t[2].client_port[1] == 3457);
    CHECK(t[2].weir[0] == '\0');
    CHECK_FALSE(t[2].has_ssrc);
}

TEST_CASE("rtsp_transport: values")
{
    const struct {
        const char *value;
        int result;
    } cases[] = {
        {"RTP/AVP", 1},
        {"rtp/avp/udp;UNICAST;Client_Port=1-65535", 1},
        {"RTP/AVP;client_port=5000", 1},
        {"RTP/AVP;ssrc=DEADBEEF", 1},
        {"RTP/AVP;ssrc=1f", 1},
        {"RTP/AVP;x-weir=\"minbuf:1,3\"", 1},
        {"RTP/AVP;;", 1},
        {"RAW/RAW/UDP;client_port=x", 0}, // not ours: not read
        {"", ERR_MALFORMED},
        {"RTP", ERR_MALFORMED},
        {"RTP/AVP;client_port=0-1", ERR_MALFORMED},
        {"RTP/AVP;client_port=1-65536", ERR_MALFORMED},
        {"RTP/AVP;client_port=", ERR_MALFORMED},
        {"RTP/AVP;client_port=1-", ERR_MALFORMED},
        {"RTP/AVP;client_port=1-2-3", ERR_MALFORMED},
        {"RTP/AVP/TCP;interleaved=0-256", ERR_MALFORMED},
        {"RTP/AVP;ssrc=", 1}, // as good as not told
        {"RTP/AVP;ssrc=123456789", 1},
        {"RTP/AVP;ssrc=xyz", 1},
        {"RTP/AVP;source=192.0.2.1;ssrc=1", 1},
        {"RTP/AVP;source=;unicast", 1},
        {"RTP/AVP;x-weir=", ERR_MALFORMED},
        {"RTP/AVP;x-weir=a b", ERR_MALFORMED},
        {"RTP/AVP;x-weir=0123456789012345678901234567890123456789012345678", ERR_MALFORMED},
        {"RTP/AVP;x-cc=\x01", ERR_MALFORMED},
        {"RTP/AVP;x-weir-repair=auto", 1},
        {"RTP/AVP;x-weir-ecn", 1},
        {"RTP/AVP;x-weir-repair=", ERR_MALFORMED},
        {"RTP/AVP;x-weir-repair=a b", ERR_MALFORMED},
        {"RTP/AVPF;client_port=5000", 1},
        {"RTP/AVPF/UDP;client_port=5000", 1},
        {"RTP/SAVPG;client_port=5000", 0},
        {"RTP/AVP;x-weir-token=0123456789abcDEF", 1},
        {"RTP/AVP;x-weir-token=", ERR_MALFORMED},
        {"RTP/AVP;x-weir-token=0x12", ERR_MALFORMED},
        {"RTP/AVP;x-weir-token=00123456789ABCDEF", ERR_MALFORMED},
    };
    for (const auto &c : cases) {
        INFO(c.value);
        struct rtsp_transport t[RTSP_MAX_OFFERS];
        CHECK(rtsp_transport_decode(text_from(c.value), t) == c.result);
    }
    std::string many = "RTP/AVP";
    for (int i = 0; i < 20; i++)
        many += ",RTP/AVP";
    struct rtsp_transport t[RTSP_MAX_OFFERS];
    CHECK(rtsp_transport_decode(text_from(many.c_str()), t) == RTSP_MAX_OFFERS);
}

TEST_CASE("rtsp_transport: ports of the server that are none count as absent")
{
    for (const char *ports : {"0-0", "0", "", "x", "70000-70001"}) {
        INFO(ports);
        struct rtsp_transport t[RTSP_MAX_OFFERS];
        std::string value = std::string("RTP/AVP;client_port=4-5;server_port=") + ports;
        REQUIRE(rtsp_transport_decode(text_from(value.c_str()), t) == 1);
        CHECK(t[0].server_port[0] == -1);
        CHECK(t[0].server_port[1] == -1);
        CHECK(t[0].client_port[0] == 4);
    }
}

TEST_CASE("rtsp_transport: encoded and decoded")
{
    const char *const values[] = {
        "RTP/AVP;unicast;client_port=5000-5001;server_port=6000-6001;ssrc=0000BEEF",
        "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=minbuf:1,3;x-cc=reno",
        "RTP/AVP/TCP;unicast;interleaved=4",
        "RTP/AVPF;unicast;client_port=5000-5001;x-weir=arc:report=packet",
        "RTP/AVPF;unicast;server_port=6000-6001;ssrc=0000BEEF;x-weir=tfrc;"
        "x-weir-token=00FEDCBA98765432",
        "RTP/AVPF;unicast;client_port=5000-5001;x-weir=tfrc;x-cc=reno;x-weir-repair=auto;"
        "x-weir-token=00FEDCBA98765432",
        "RTP/AVP;multicast",
    };
    for (const char *value : values) {
        struct rtsp_transport t[RTSP_MAX_OFFERS];
        REQUIRE(rtsp_transport_decode(text_from(value), t) == 1);
        char out[256];
        int len = rtsp_transport_encode(&t[0], out, sizeof(out));
        CHECK(std::string(out) == value);
        CHECK(len == (int)strlen(value));
        CHECK(rtsp_transport_encode(&t[0], out, strlen(value)) == ERR_FULL);
        CHECK(rtsp_transport_encode(&t[0], out, strlen(value) + 1) == len);
        strcpy(t[0].weir, "a\r\nb");
        CHECK(rtsp_transport_encode(&t[0], out, sizeof(out)) == ERR_RANGE);
    }
}

TEST_CASE("rtsp_transport: secure profiles, and the key of SRTP")
{
    const std::string key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxw_";
    const struct {
        const char *profile;
        bool tcp, avpf;
    } table[] = {{"RTP/SAVP", false, false},
                 {"rtp/savp/udp", false, false},
                 {"RTP/SAVP/TCP", true, false},
                 {"RTP/SAVPF", false, true},
                 {"RTP/SAVPF/UDP", false, true}};
    for (const auto &row : table) {
        INFO(row.profile);
        rtsp_transport t[RTSP_MAX_OFFERS];
        std::string value = std::string(row.profile) + ";unicast;x-weir=arc;x-weir-srtp=" + key;
        REQUIRE(rtsp_transport_decode({value.data(), value.size()}, t) == 1);
        CHECK(t[0].savp);
        CHECK(t[0].tcp == row.tcp);
        CHECK(t[0].avpf == row.avpf);
        CHECK(t[0].srtp == key);
        char out[256];
        REQUIRE(rtsp_transport_encode(&t[0], out, sizeof(out)) > 0);
        CHECK(std::string(out).find(row.tcp    ? "RTP/SAVP/TCP;unicast"
                                    : row.avpf ? "RTP/SAVPF;unicast"
                                               : "RTP/SAVP;unicast") == 0);
        CHECK(std::string(out).find(";x-weir-srtp=" + key) != std::string::npos);
    }
    std::string longer = "RTP/SAVP;x-weir-srtp=" + std::string(RTSP_MAX_NAME, 'A');
    rtsp_transport t[RTSP_MAX_OFFERS];
    CHECK(rtsp_transport_decode({longer.data(), longer.size()}, t) == ERR_MALFORMED);
}
