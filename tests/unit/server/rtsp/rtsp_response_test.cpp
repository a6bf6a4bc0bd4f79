// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rtsp/rtsp_response.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <string>

#include "common/base/err.h"

namespace
{

std::string sent(const rtsp_response &a, int cseq, const char *program = "weir-send")
{
    char text[RTSP_RESPONSE_BYTES];
    int len = rtsp_response_encode(&a, program, cseq, text, sizeof(text));
    REQUIRE(len > 0);
    return std::string(text, static_cast<size_t>(len));
}

} // namespace

TEST_CASE("rtsp_response: status, number, headers")
{
    rtsp_response a{};
    a.status = 200;
    rtsp_response_header(&a, "Session: %s;timeout=%d\r\n", "abc", 60);
    rtsp_response_header(&a, "Range: npt=0-\r\n");
    CHECK(sent(a, 7) == "RTSP/1.0 200 OK\r\nCSeq: 7\r\nServer: weir-send\r\n"
                        "Session: abc;timeout=60\r\nRange: npt=0-\r\n\r\n");
    CHECK(sent(a, -1).find("CSeq") == std::string::npos);
    CHECK(sent(a, 7, "weir-proxy").find("Server: weir-proxy\r\n") != std::string::npos);
}

TEST_CASE("rtsp_response: a body has its type and length")
{
    rtsp_response a{};
    a.status = 200;
    a.content_type = "application/sdp";
    snprintf(a.body, sizeof(a.body), "v=0\r\n");
    CHECK(sent(a, 2) == "RTSP/1.0 200 OK\r\nCSeq: 2\r\nServer: weir-send\r\n"
                        "Content-Type: application/sdp\r\nContent-Length: 5\r\n\r\nv=0\r\n");
}

TEST_CASE("rtsp_response: a body that is no text")
{
    rtsp_response a{};
    a.status = 200;
    a.content_type = "image/jpeg";
    a.body_bytes = 3;
    memcpy(a.body, "\xff\0y", 3);
    std::string head = "RTSP/1.0 200 OK\r\nCSeq: 2\r\nServer: weir-send\r\n"
                       "Content-Type: image/jpeg\r\nContent-Length: 3\r\n\r\n";
    CHECK(sent(a, 2) == head + std::string("\xff\0y", 3));
    a.body_bytes = sizeof(a.body);
    CHECK(sent(a, 2).size() > sizeof(a.body));
    char tight[sizeof(a.body)];
    CHECK(rtsp_response_encode(&a, "weir-send", 2, tight, sizeof(tight)) == ERR_FULL);
}

TEST_CASE("rtsp_response: a refusal has a sentence")
{
    rtsp_response a{};
    rtsp_response_refuse(&a, 404, "nothing at %s", "/x");
    CHECK(sent(a, 3) == "RTSP/1.0 404 Not Found\r\nCSeq: 3\r\nServer: weir-send\r\n"
                        "Content-Type: text/plain\r\nContent-Length: 13\r\n\r\nnothing at /x");
}

TEST_CASE("rtsp_response: headers and sentences beyond the room are cut, not written past it")
{
    rtsp_response a{};
    const std::string one = "X: " + std::string(1000, 'y') + "\r\n";
    for (int i = 0; i < 6; i++)
        rtsp_response_header(&a, "%s", one.c_str());
    CHECK(strlen(a.headers) == sizeof(a.headers) - 1);
    CHECK(a.content_type == nullptr);
    rtsp_response_refuse(&a, 400, "%s", std::string(sizeof(a.body) + 10, 'z').c_str());
    CHECK(strlen(a.body) == sizeof(a.body) - 1);
    CHECK(sent(a, 1).size() > sizeof(a.body) + sizeof(a.headers) - 2);
    char small[100];
    CHECK(rtsp_response_encode(&a, "weir-send", 1, small, sizeof(small)) == ERR_FULL);
}
