// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/http/message/http_request.h"

#include <catch2/catch.hpp>
#include <string>

#include "common/base/err.h"

namespace
{

std::string str(struct text t)
{
    return t.at ? std::string(t.at, t.len) : "(none)";
}

// Decodes a copy of just these bytes, so that reading beyond them is an error of the sanitizer.
struct decoded {
    std::string bytes;
    struct http_request r = {};
    size_t used = 0;
    int status;
    explicit decoded(const std::string &s) : bytes(s.data(), s.size())
    {
        status = http_request_decode(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size(),
                                     &r, &used);
    }
    decoded(const decoded &) = delete;
    decoded &operator=(const decoded &) = delete;
};

int begins(const std::string &s)
{
    return http_request_begins(reinterpret_cast<const uint8_t *>(s.data()), s.size());
}

#define GET  "GET / HTTP/1.1\r\n"
#define HOST "Host: a\r\n"
#define POST "POST / HTTP/1.1\r\nHost: a\r\n"

} // namespace

TEST_CASE("http_request: HTTP and RTSP are told apart by the first bytes")
{
    for (const char *http :
         {"GET / HTTP/1.1", "HEAD /", "POST ", "PUT /x", "DELETE /", "PATCH /", "TRACE /",
          "CONNECT a:1", "OPTIONS * HTTP/1.1\r\n", "OPTIONS /live.jpg HTTP/1.0\r\nHost: a\r\n",
          "BREW / HTTP/1.1\r\n", "\r\nGET "})
        CHECK(begins(http) == 1);
    for (const char *open : {"", "\r\n", "G", "GET", "HEA", "POST", "P", "D", "T", "OPTIONS ",
                             "OPTIONS rtsp://a/ RTSP/1.0"})
        CHECK(begins(open) == ERR_AGAIN);
    for (const char *rtsp :
         {"GET_PARAMETER rtsp://", "OPTIONS * RTSP/1.0\r\n", "DESCRIBE", "$",
          "OPTIONS rtsp://a/HTTP/1.1 RTSP/1.0\r\n", "OPTIONS\r\n", "HTTP/1.1\r\n",
          "BREW / RTSP/1.0\r\n", "\x16\x03", "PLAY", "PAUSE", "GETX", "TEARDOWN", "OPTIONSX "})
        CHECK(begins(rtsp) == 0);
    CHECK(begins("OPTIONS " + std::string(HTTP_LINE_MAX, 'a')) == 0);
}

TEST_CASE("http_request: a request with its headers")
{
    const std::string s =
        "GET /live?key=a HTTP/1.1\r\nHost: h:8554\r\nconnection:  keep-alive, Upgrade \r\n"
        "Upgrade: websocket\r\nEmpty:\r\nObs-Text: \xff\t\x80\r\n\r\nrest";
    for (size_t n = 0; n < s.size() - 4; n++)
        REQUIRE(decoded(s.substr(0, n)).status == ERR_AGAIN);
    decoded d(s);
    REQUIRE(d.status == 0);
    CHECK(d.used == s.size() - 4);
    CHECK(d.r.method == HTTP_GET);
    CHECK(str(d.r.path) == "/live");
    CHECK(str(d.r.query) == "key=a");
    CHECK(str(d.r.host) == "h:8554");
    CHECK(d.r.minor == 1);
    CHECK(d.r.length == 0);
    CHECK(str(http_request_header(&d.r, "HOST")) == "h:8554");
    CHECK(str(http_request_header(&d.r, "Empty")).empty());
    CHECK(str(http_request_header(&d.r, "Obs-Text")) == "\xff\t\x80");
    CHECK(str(http_request_header(&d.r, "Origin")) == "(none)");
    CHECK(http_request_lists(&d.r, "Connection", "upgrade"));
    CHECK(http_request_lists(&d.r, "Connection", "keep-alive"));
    CHECK_FALSE(http_request_lists(&d.r, "Connection", "close"));
    CHECK_FALSE(http_request_ends(&d.r));
    const decoded old("GET / HTTP/1.0\r\n\r\n");
    CHECK(http_request_ends(&old.r));
    const decoded last(GET HOST "Connection: x, Close\r\n\r\n");
    CHECK(http_request_ends(&last.r));
}

// Each row: what a request has, the section that says what it is, and the status; 0: it is served.
TEST_CASE("http_request: framing by the RFC")
{
    const std::string many(HTTP_HEADERS_MAX, 'x');
    const struct {
        const char *section;
        std::string bytes;
        int status;
    } rows[] = {
        {"9112 6.3: two lengths, equal", POST "Content-Length: 3\r\nContent-Length: 3\r\n\r\n",
         400},
        {"9112 6.3: two lengths", POST "Content-Length: 0\r\nContent-Length: 3\r\n\r\n", 400},
        {"9112 6.3: two lengths", POST "content-length: 3\r\nX: y\r\nCONTENT-LENGTH: 0\r\n\r\n",
         400},
        {"9112 6.3: a list of lengths", POST "Content-Length: 3, 3\r\n\r\n", 400},
        {"9110 8.6: a sign", POST "Content-Length: +36\r\n\r\n", 400},
        {"9110 8.6: a sign", POST "Content-Length: -1\r\n\r\n", 400},
        {"9110 8.6: hexadecimal", POST "Content-Length: 0x5\r\n\r\n", 400},
        {"9110 8.6: nothing", POST "Content-Length:\r\n\r\n", 400},
        {"9110 8.6: blanks inside", POST "Content-Length: 1 2\r\n\r\n", 400},
        {"9110 8.6: 1*DIGIT", POST "Content-Length: 0003\r\n\r\n", 0},
        {"9112 6.1: length and coding",
         POST "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
        {"9112 6.1: length and coding", POST "Transfer-Encoding: x\r\nContent-Length: 3\r\n\r\n",
         400},
        {"9112 6.1: unknown coding", POST "Transfer-Encoding: xchunked\r\n\r\n", 501},
        {"9112 6.1: unknown coding", POST "Transfer-Encoding: gzip, chunked\r\n\r\n", 501},
        {"9112 6.1: unknown coding", POST "Transfer-Encoding: identity\r\n\r\n", 501},
        {"9112 6.1: chunked twice",
         POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 501},
        {"9112 6.1: vertical tab",
         POST "Transfer-Encoding: \x0b"
              "chunked\r\n\r\n",
         400},
        {"9112 6.1: HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
        {"9112 7.1: chunked", POST "Transfer-Encoding: Chunked\r\n\r\n", 0},
        {"9112 2.2: bare LF", "GET / HTTP/1.1\nHost: a\n\n", 400},
        {"9112 2.2: bare LF", "GET / HTTP/1.1\r\nHost: a\n", 400},
        {"9112 2.2: bare LF at the end", GET HOST "\n", 400},
        {"9112 2.2: bare CR", GET HOST "X: a\rContent-Length: 3\r\n\r\n", 400},
        {"9112 2.2: bare CR", "GET / HTTP/1.1\r\r\nHost: a\r\n\r\n", 400},
        {"9112 2.2: an empty line before", "\r\n" GET HOST "\r\n", 0},
        {"9112 2.2: blanks before the headers", GET " Host: a\r\n\r\n", 400},
        {"9110 5.5: NUL", GET HOST + std::string("X: a\0b\r\n\r\n", 10), 400},
        {"9110 5.5: a control", GET HOST "X: a\x01\r\n\r\n", 400},
        {"9110 5.5: DEL", GET HOST "X: a\x7f\r\n\r\n", 400},
        {"9112 5.1: blank before the colon", POST "Transfer-Encoding : chunked\r\n\r\n", 400},
        {"9112 5.1: blank in the name", GET HOST "bad name: x\r\n\r\n", 400},
        {"9112 5.1: no name", GET HOST ": x\r\n\r\n", 400},
        {"9112 5.1: no colon", GET HOST "nocolon\r\n\r\n", 400},
        {"9112 5.2: a folded line", GET HOST "X: a\r\n Content-Length: 3\r\n\r\n", 400},
        {"9112 5.2: a folded line", GET HOST "X: a\r\n\tb\r\n\r\n", 400},
        {"9112 3.2: no Host", GET "\r\n", 400},
        {"9112 3.2: two Hosts", GET HOST HOST "\r\n", 400},
        {"9112 3.2: two Hosts in HTTP/1.0", "GET / HTTP/1.0\r\n" HOST HOST "\r\n", 400},
        {"9112 3.2: a bad Host", GET "Host: a/b\r\n\r\n", 400},
        {"9112 3.2: a bad Host", GET "Host: a@b\r\n\r\n", 400},
        {"9112 3.2: a bad Host", GET "Host: a:8x\r\n\r\n", 400},
        {"9112 3.2: a bad Host", GET "Host: [::1]x\r\n\r\n", 400},
        {"9112 3.2: a bad Host", GET "Host: a, b\r\n\r\n", 400},
        {"9112 3.2: an empty Host", GET "Host:\r\n\r\n", 0},
        {"9112 3.2: IPv6", GET "Host: [fe80::1]:8554\r\n\r\n", 0},
        {"9112 3.2: HTTP/1.0 has none", "GET / HTTP/1.0\r\n\r\n", 0},
        {"9112 3.2.1: a fragment", "GET /x#y HTTP/1.1\r\n" HOST "\r\n", 400},
        {"9112 3.2.1: a fragment", "GET /x?y#z HTTP/1.1\r\n" HOST "\r\n", 400},
        {"9112 3.2.2: a fragment", "GET http://b/x#y HTTP/1.1\r\n" HOST "\r\n", 400},
        {"9110 10.1.1: 100-continue", POST "Expect: 100-Continue\r\n\r\n", 0},
        {"9110 10.1.1: another one", GET HOST "Expect: x\r\n\r\n", 417},
        {"9110 10.1.1: another one beside it", POST "Expect: 100-continue, x\r\n\r\n", 417},
        {"9110 10.1.1: another one beside it", POST "Expect: 100-continue\r\nExpect: x\r\n\r\n",
         417},
        {"9110 10.1.1: of HTTP/1.0", "GET / HTTP/1.0\r\nExpect: x\r\n\r\n", 0},
        {"9112 3.2.1: no slash", "GET x HTTP/1.1\r\n" HOST "\r\n", 400},
        {"9112 3.2.2: absolute", "GET http://b:1/x HTTP/1.1\r\n" HOST "\r\n", 0},
        {"9112 3.2.2: absolute, a user", "GET http://u@b/x HTTP/1.1\r\n" HOST "\r\n", 400},
        {"9110 4.2.1: absolute, no host", "GET http:///x HTTP/1.1\r\n" HOST "\r\n", 400},
        {"9112 3.2.2: another scheme", "GET ftp://b/x HTTP/1.1\r\n" HOST "\r\n", 400},
        {"9112 3.2.3: authority", "CONNECT a:443 HTTP/1.1\r\n" HOST "\r\n", 0},
        {"9112 3.2.3: authority", "GET a:443 HTTP/1.1\r\n" HOST "\r\n", 400},
        {"9112 3.2.4: asterisk", "OPTIONS * HTTP/1.1\r\n" HOST "\r\n", 0},
        {"9112 3.2.4: asterisk", "GET * HTTP/1.1\r\n" HOST "\r\n", 400},
        {"9112 3: two blanks", "GET  / HTTP/1.1\r\n" HOST "\r\n", 400},
        {"9112 3: a blank in the target", "GET /a b HTTP/1.1\r\n" HOST "\r\n", 400},
        {"9112 3: no target", "GET  HTTP/1.1\r\n" HOST "\r\n", 400},
        {"9112 3: no version", "GET /\r\n\r\n", 400},
        {"9112 3: a control in the target", "GET /\x01 HTTP/1.1\r\n" HOST "\r\n", 400},
        {"9112 3: a target that is not ASCII", "GET /\xff HTTP/1.1\r\n" HOST "\r\n", 400},
        {"9112 2.3: case", "GET / http/1.1\r\n" HOST "\r\n", 400},
        {"9112 2.3: case", "GET / HTTP/1.1 \r\n" HOST "\r\n", 400},
        {"9110 15.6.6: major version", "GET / HTTP/2.0\r\n" HOST "\r\n", 505},
        {"9110 2.5: minor version", "GET / HTTP/1.9\r\n" HOST "\r\n", 0},
        {"9110 9.1: a method", "BREW / HTTP/1.1\r\n" HOST "\r\n", 0},
        {"9110 9.1: no token", "G@T / HTTP/1.1\r\n" HOST "\r\n", 400},
        {"no HTTP at all", "\x16\x03\x01", 400},
        {"9112 3: a long line", "GET /" + std::string(HTTP_LINE_MAX, 'a'), 414},
        {"9112 3: 8000 bytes", "GET /" + std::string(7980, 'a') + " HTTP/1.1\r\n" HOST "\r\n", 0},
        {"6585 5: a large header", GET HOST "X: " + std::string(HTTP_HEAD_MAX, 'a'), 431},
        {"6585 5: a long head", GET HOST + std::string(HTTP_HEAD_MAX, 'a'), 431},
    };
    for (const auto &row : rows) {
        INFO(row.section << ": " << row.bytes.substr(0, 80));
        CHECK(decoded(row.bytes).status == row.status);
    }
    std::string headers = GET HOST;
    for (int i = 1; i < HTTP_HEADERS_MAX; i++)
        headers += "A: b\r\n";
    CHECK(decoded(headers + "\r\n").status == 0);
    CHECK(decoded(headers + "A: b\r\n\r\n").status == 431);
}

TEST_CASE("http_request: what is asked for")
{
    const struct {
        const char *first;
        http_method method;
        const char *path, *query, *host;
    } rows[] = {
        {"GET /a?b?c HTTP/1.1", HTTP_GET, "/a", "b?c", "h"},
        {"HEAD http://B:81/a?q HTTP/1.1", HTTP_HEAD, "/a", "q", "B:81"},
        {"GET HTTPS://b HTTP/1.1", HTTP_GET, "/", "", "b"},
        {"GET http://b?q HTTP/1.1", HTTP_GET, "/", "q", "b"},
        {"OPTIONS * HTTP/1.1", HTTP_OPTIONS, "*", "", "h"},
        {"PURGE / HTTP/1.1", HTTP_OTHER, "/", "", "h"},
        {"get / HTTP/1.1", HTTP_OTHER, "/", "", "h"},
    };
    for (const auto &row : rows) {
        INFO(row.first);
        decoded d(std::string(row.first) + "\r\nHost: h\r\n\r\n");
        REQUIRE(d.status == 0);
        CHECK(d.r.method == row.method);
        CHECK(str(d.r.path) == row.path);
        CHECK(str(d.r.query) == row.query);
        CHECK(str(d.r.host) == row.host);
    }
    CHECK(decoded(POST "Content-Length: 36\r\n\r\n").r.length == 36);
    CHECK(decoded(POST "Content-Length: 99999999999999999999999\r\n\r\n").r.length == UINT64_MAX);
    CHECK(decoded(POST "Content-Length: 18446744073709551615\r\n\r\n").r.length == UINT64_MAX);
    CHECK(decoded(POST "Transfer-Encoding: chunked\r\n\r\n").r.is_chunked);
}

TEST_CASE("http_request: escapes")
{
    decoded d(
        "GET /a%20b/%63?x=1&key=a%2bb+c&two=d&two=d&empty=&bad=%zz&nul=%00&long=0123456789&none "
        "HTTP/1.1\r\nHost: h\r\n\r\n");
    char out[8];
    REQUIRE(d.status == 0);
    CHECK(http_request_path(&d.r, out, sizeof(out)) == 0);
    CHECK(std::string(out) == "/a b/c");
    CHECK(http_request_path(&d.r, out, 6) == ERR_TOO_BIG);
    CHECK(http_request_parameter(&d.r, "key", out, sizeof(out)) == 0);
    CHECK(std::string(out) == "a+b c");
    CHECK(http_request_parameter(&d.r, "empty", out, sizeof(out)) == 0);
    CHECK(std::string(out).empty());
    CHECK(http_request_parameter(&d.r, "two", out, sizeof(out)) == ERR_MALFORMED);
    CHECK(http_request_parameter(&d.r, "bad", out, sizeof(out)) == ERR_MALFORMED);
    CHECK(http_request_parameter(&d.r, "nul", out, sizeof(out)) == ERR_MALFORMED);
    CHECK(http_request_parameter(&d.r, "long", out, sizeof(out)) == ERR_TOO_BIG);
    CHECK(http_request_parameter(&d.r, "none", out, sizeof(out)) == ERR_NOT_FOUND);
    CHECK(http_request_parameter(&d.r, "ke", out, sizeof(out)) == ERR_NOT_FOUND);
    for (const char *bad : {"/%", "/%2", "/%0g", "/%00", "/a%2fb", "/a/../b", "/.a", "//a", "/a/",
                            "/trackID=0", "/a/trackID=1"}) {
        const decoded escaped(std::string("GET ") + bad + " HTTP/1.1\r\nHost: h\r\n\r\n");
        CHECK(http_request_path(&escaped.r, out, sizeof(out)) == ERR_MALFORMED);
    }
}
