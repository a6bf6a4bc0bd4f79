// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/web/web_request.h"

#include <catch2/catch.hpp>
#include <string>

#include "common/base/err.h"

static std::string str(struct text t)
{
    return t.at ? std::string(t.at, t.len) : "(none)";
}

static int decode(const std::string &s, struct web_request *r, size_t *used)
{
    return web_request_decode(reinterpret_cast<const uint8_t *>(s.data()), s.size(), r, used);
}

static int begins(const std::string &s)
{
    return web_request_begins(reinterpret_cast<const uint8_t *>(s.data()), s.size());
}

TEST_CASE("web_request: HTTP and RTSP are told apart by the first bytes")
{
    for (const char *http : {"GET / HTTP/1.1", "HEAD /", "POST "})
        CHECK(begins(http) == 1);
    for (const char *open : {"", "G", "GET", "HEA", "POST"})
        CHECK(begins(open) == ERR_AGAIN);
    for (const char *rtsp :
         {"GET_PARAMETER rtsp://", "OPTIONS ", "DESCRIBE", "$", "\x16\x03", "PLAY", "GETX"})
        CHECK(begins(rtsp) == 0);
}

TEST_CASE("web_request: a request with its headers")
{
    std::string s =
        "GET /live?key=a HTTP/1.1\r\nHost: h:8554\r\nconnection:  keep-alive, Upgrade \r\n"
        "Upgrade: websocket\r\n\r\nrest";
    struct web_request r;
    size_t used = 0;
    for (size_t n = 0; n < s.size() - 4; n++)
        REQUIRE(decode(s.substr(0, n), &r, &used) == ERR_AGAIN);
    REQUIRE(decode(s, &r, &used) == 0);
    CHECK(used == s.size() - 4);
    CHECK(str(r.method) == "GET");
    CHECK(str(r.path) == "/live");
    CHECK(str(r.query) == "key=a");
    CHECK(r.minor == 1);
    CHECK(str(web_request_header(&r, "HOST")) == "h:8554");
    CHECK(str(web_request_header(&r, "Origin")) == "(none)");
    CHECK(web_request_lists(&r, "Connection", "upgrade"));
    CHECK(web_request_lists(&r, "Connection", "keep-alive"));
    CHECK_FALSE(web_request_lists(&r, "Connection", "close"));
}

TEST_CASE("web_request: what is refused")
{
    struct web_request r;
    size_t used = 0;
    for (const char *bad : {
             "GET / HTTP/9.9\r\n\r\n",
             "GET / HTTP/1.1\n\r\n\r\n",
             "GET  HTTP/1.1\r\n\r\n",
             "GET x HTTP/1.1\r\n\r\n",
             "GET /\x01 HTTP/1.1\r\n\r\n",
             "GET /\xff HTTP/1.1\r\n\r\n",
             "GET / HTTP/1.1\r\nnocolon\r\n\r\n",
             "GET / HTTP/1.1\r\nbad name: x\r\n\r\n",
             "GET / HTTP/1.1\r\n: x\r\n\r\n",
             "GET / HTTP/1.1\r\nA: b\x02\r\n\r\n",
             "GET / HTTP/1.1\r\n folded: x\r\n\r\n",
             "GET /\r\n\r\n",
         })
        CHECK(decode(bad, &r, &used) == ERR_MALFORMED);
    CHECK(decode("POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", &r, &used) == ERR_TOO_BIG);
    CHECK(decode("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", &r, &used) ==
          ERR_TOO_BIG);
    CHECK(decode("GET / HTTP/1.1\r\nContent-Length: 0\r\n\r\n", &r, &used) == 0);
    CHECK(decode("GET /" + std::string(WEB_REQUEST_MAX, 'a'), &r, &used) == ERR_TOO_BIG);
    std::string many = "GET / HTTP/1.1\r\n";
    for (int i = 0; i <= WEB_REQUEST_HEADERS; i++)
        many += "A: b\r\n";
    CHECK(decode(many + "\r\n", &r, &used) == ERR_TOO_BIG);
}
