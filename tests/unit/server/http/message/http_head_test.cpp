// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/http/message/http_head.h"

#include <catch2/catch.hpp>
#include <string>

namespace
{

std::string written(const struct http_head &h)
{
    return std::string(h.text, h.len);
}

} // namespace

TEST_CASE("http_head: a status line and headers")
{
    struct http_head h;
    http_head_begin(&h, 200, "weir-test", 784111777 * USEC_PER_SEC);
    http_head_add(&h, "Content-Type", "text/plain");
    http_head_add(&h, "X", "a\r\nSet-Cookie: b");
    http_head_add_number(&h, "Age", 7);
    http_head_end(&h, 12, true);
    // The date is RFC 9110's own example, 5.6.7.
    CHECK(written(h) == "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
                        "Server: weir-test\r\nContent-Type: text/plain\r\nAge: 7\r\n"
                        "Content-Length: 12\r\nConnection: close\r\n\r\n");
}

TEST_CASE("http_head: dates")
{
    const struct {
        int64_t seconds;
        const char *date;
    } rows[] = {
        {951782400, "Tue, 29 Feb 2000 00:00:00 GMT"},
        {946684799, "Fri, 31 Dec 1999 23:59:59 GMT"},
        {1, "Thu, 01 Jan 1970 00:00:01 GMT"},
        {4107542400, "Mon, 01 Mar 2100 00:00:00 GMT"},
    };
    for (const auto &row : rows) {
        struct http_head h;
        http_head_begin(&h, 404, nullptr, row.seconds * USEC_PER_SEC);
        CHECK(written(h) == std::string("HTTP/1.1 404 Not Found\r\nDate: ") + row.date + "\r\n");
    }
}

TEST_CASE("http_head: what has no length")
{
    struct http_head h;
    http_head_begin(&h, 204, nullptr, 0);
    http_head_end(&h, 0, false);
    CHECK(written(h) == "HTTP/1.1 204 No Content\r\n\r\n");
    http_head_begin(&h, 101, nullptr, 0);
    http_head_end(&h, 0, false);
    CHECK(written(h) == "HTTP/1.1 101 Switching Protocols\r\n\r\n");
    http_head_begin(&h, 200, nullptr, 0);
    http_head_end(&h, SIZE_MAX, false);
    CHECK(written(h) == "HTTP/1.1 200 OK\r\n\r\n");
}

TEST_CASE("http_head: what does not fit is left out whole")
{
    struct http_head h;
    http_head_begin(&h, 200, nullptr, 0);
    http_head_add(&h, "Long", std::string(5000, 'a').c_str());
    for (int i = 0; i < 1000; i++)
        http_head_add(&h, "Name", "value");
    http_head_end(&h, SIZE_MAX - 1, true);
    std::string all = written(h);
    CHECK(all.size() < HTTP_RESPONSE_HEAD_MAX);
    CHECK(all.find("Long") == std::string::npos);
    CHECK(all.find("Name: value\r\nContent-Length: 18446744073709551614\r\n"
                   "Connection: close\r\n\r\n") != std::string::npos);
}

TEST_CASE("http_head: a method that is not served")
{
    CHECK(http_head_no_method(HTTP_POST) == 405);
    CHECK(http_head_no_method(HTTP_PATCH) == 405);
    CHECK(http_head_no_method(HTTP_OTHER) == 501);
}
