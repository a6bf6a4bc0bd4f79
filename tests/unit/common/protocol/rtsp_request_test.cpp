// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/rtsp_request.h"

#include <catch2/catch.hpp>
#include <string>

#include "common/base/err.h"

TEST_CASE("rtsp request: a server decodes what was written")
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

TEST_CASE("rtsp request: of a recording client")
{
    struct rtsp_request r = {};
    r.method = RTSP_ANNOUNCE;
    r.uri = "rtsp://h/live";
    r.cseq = 2;
    r.agent = "weir-send";
    r.body = "v=0\r\n";
    r.content = "application/sdp";
    char out[512];
    REQUIRE(rtsp_request_format(&r, out, sizeof(out)) > 0);
    CHECK(std::string(out) == "ANNOUNCE rtsp://h/live RTSP/1.0\r\nCSeq: 2\r\n"
                              "User-Agent: weir-send\r\nContent-Type: application/sdp\r\n"
                              "Content-Length: 5\r\n\r\nv=0\r\n");
}
