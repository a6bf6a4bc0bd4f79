// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/transport/transport_offer.h"

#include <catch2/catch.hpp>
#include <string>

#include "common/base/err.h"

static rtsp_transport decoded(const std::string &header)
{
    rtsp_transport t[RTSP_MAX_OFFERS];
    REQUIRE(rtsp_transport_decode({header.data(), header.size()}, t) == 1);
    return t[0];
}

TEST_CASE("transport_offer: what the viewer offers for each transport")
{
    struct {
        const char *name;
        bool named, reports;
        const char *header; // but for channels and ports
    } const table[] = {
        {"minbuf:1,3", true, true, "RTP/AVP/TCP;unicast;x-weir=minbuf:1,3"},
        {"tcp", false, false, "RTP/AVP/TCP;unicast"},
        {"udp", true, false, "RTP/AVP;unicast;x-weir=udp"},
        {"udp", true, true, "RTP/AVPF;unicast;x-weir=udp"},
        {"udp", false, false, "RTP/AVP;unicast"},
        {"arc", true, true, "RTP/AVPF;unicast;x-weir=arc"},
        // It has acknowledgements of its own.
        {"mtp", true, true, "RTP/AVP;unicast;x-weir=mtp;x-weir-ecn"},
        {"mtp-raw", true, true, "RTP/AVP/TCP;unicast;x-weir=mtp-raw"},
    };
    for (const auto &row : table) {
        INFO(row.name);
        rtsp_transport t;
        char header[256];
        REQUIRE(transport_offer_of(row.name, row.named, row.reports, &t) == 0);
        REQUIRE(rtsp_transport_encode(&t, header, sizeof(header)) > 0);
        CHECK(std::string(header) == row.header);
    }
    rtsp_transport t;
    CHECK(transport_offer_of("pigeons", true, true, &t) == ERR_NOT_FOUND);
}

TEST_CASE("transport_offer: which one the server's answer takes")
{
    struct {
        const char *offered, *answer, *taken; // NULL: none of them
    } const table[] = {
        {"mtp,mtp-raw,minbuf", "RTP/AVP;unicast;client_port=4-5;x-weir=mtp", "mtp"},
        {"mtp,mtp-raw,minbuf", "RTP/AVP/TCP;interleaved=0-1;x-weir=mtp-raw", "mtp-raw"},
        {"mtp,mtp-raw,minbuf", "RTP/AVP/TCP;interleaved=0-1", "minbuf"},
        {"mtp,mtp-raw,minbuf", "RTP/AVP;unicast;client_port=4-5", nullptr}, // plain RTP is no MTP
        {"mtp,psp,udp", "RTP/AVP;unicast;client_port=4-5", "psp"},
        {"tcp,minbuf", "RTP/AVP/TCP;interleaved=0-1", "tcp"},
        {"tcp,minbuf", "RTP/AVP/TCP;interleaved=0-1;x-weir=mtp-raw", nullptr},
        {"tcp", "RTP/AVP;unicast;client_port=4-5", nullptr},
        {"udp", "RTP/AVP/TCP;interleaved=0-1;x-weir=udp", nullptr},
    };
    for (const auto &row : table) {
        INFO(row.offered << " " << row.answer);
        transport_list list;
        REQUIRE(transport_list_split(row.offered, &list) == 0);
        rtsp_transport answer = decoded(row.answer);
        const char *taken = transport_offer_taken(&list, &answer);
        CHECK(std::string(taken ? taken : "none") == (row.taken ? row.taken : "none"));
    }
}

TEST_CASE("transport_offer: what the server can give")
{
    struct {
        const char *offer;
        bool has_raw;
        int result;
        const char *name;
        const char *why; // a part of it
    } const table[] = {
        {"RTP/AVP/TCP;interleaved=0-1", false, 0, "minbuf", ""},
        {"RTP/AVP;unicast;client_port=4-5", false, 0, "udp", ""},
        {"RTP/AVPF;unicast;client_port=4-5;x-weir=psp", false, 0, "psp", ""},
        {"RTP/AVP;unicast;client_port=4-5;x-weir=psp", false, ERR_UNSUPPORTED, "psp", "AVPF"},
        {"RTP/AVP;unicast;client_port=4-5;x-weir=mtp", false, 0, "mtp", ""},
        {"RTP/AVP;unicast;x-weir=mtp", false, ERR_UNSUPPORTED, "mtp", "client_port="},
        {"RTP/AVP;unicast;client_port=65535;x-weir=mtp", false, ERR_UNSUPPORTED, "mtp",
         "client_port="},
        {"RTP/AVP;multicast;client_port=4-5", false, ERR_UNSUPPORTED, "udp", "unicast UDP"},
        {"RTP/AVP/TCP;interleaved=0-1;x-weir=udp", false, ERR_UNSUPPORTED, "udp", "unicast UDP"},
        {"RTP/AVP;unicast;client_port=4-5;x-weir=tcp", false, ERR_UNSUPPORTED, "tcp",
         "unicast TCP"},
        {"RTP/AVP/TCP;interleaved=0-1;x-weir=mtp-raw", true, 0, "mtp-raw", ""},
        {"RTP/AVP/TCP;interleaved=0-1;x-weir=mtp-raw", false, ERR_IO, "mtp-raw", "CAP_NET_RAW"},
        {"RTP/AVP/TCP;interleaved=0-1;x-weir=minbuf:9", false, ERR_UNSUPPORTED, "minbuf:9",
         "\"minbuf:9\""},
        {"RTP/AVP/TCP;interleaved=0-1;x-weir=pigeons", false, ERR_UNSUPPORTED, "pigeons",
         "available: minbuf, tcp, udp"},
    };
    for (const auto &row : table) {
        INFO(row.offer << " " << row.has_raw);
        rtsp_transport offer = decoded(row.offer);
        char why[512] = "";
        CHECK(transport_offer_check(&offer, row.has_raw, why, sizeof(why)) == row.result);
        CHECK(std::string(transport_offer_name(&offer)) == row.name);
        INFO(why);
        CHECK(std::string(why).find(row.why) != std::string::npos);
    }
}

TEST_CASE("transport_offer: a viewer reports packets if it names a transport and has the profile")
{
    rtsp_transport named = decoded("RTP/AVPF;unicast;client_port=4-5;x-weir=udp");
    rtsp_transport unnamed = decoded("RTP/AVPF;unicast;client_port=4-5");
    rtsp_transport plain = decoded("RTP/AVP;unicast;client_port=4-5;x-weir=udp");
    CHECK(transport_offer_reports(&named));
    CHECK_FALSE(transport_offer_reports(&unnamed));
    CHECK_FALSE(transport_offer_reports(&plain));
}
