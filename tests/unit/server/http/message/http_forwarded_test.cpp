// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/http/message/http_forwarded.h"

#include <catch2/catch.hpp>
#include <string>

#include "common/base/err.h"

TEST_CASE("http_forwarded: the client that the last proxy names")
{
    const struct {
        const char *headers;
        const char *client; // NULL: none
    } rows[] = {
        {"", nullptr},
        {"X-Forwarded-For: 192.0.2.1\r\n", "192.0.2.1"},
        {"X-Forwarded-For: 10.0.0.1, 192.0.2.1:4711\r\n", "192.0.2.1"},
        {"X-Forwarded-For: 10.0.0.1\r\nX-Forwarded-For: 2001:db8::1\r\n", "2001:db8::1"},
        {"X-Forwarded-For: [2001:db8::1]:80\r\n", "2001:db8::1"},
        {"X-Forwarded-For: \r\n", nullptr},
        {"X-Forwarded-For: 10.0.0.1,\r\n", nullptr},
        {"X-Forwarded-For: unknown\r\n", nullptr},
        {"X-Forwarded-For: [2001:db8::1\r\n", nullptr},
        // RFC 7239, 4 and 6
        {"Forwarded: for=\"_gazonk\"\r\n", nullptr},
        {"Forwarded: For=\"[2001:db8:cafe::17]:4711\"\r\n", "2001:db8:cafe::17"},
        {"Forwarded: for=192.0.2.60;proto=http;by=203.0.113.43\r\n", "192.0.2.60"},
        {"Forwarded: for=192.0.2.43, for=198.51.100.17\r\n", "198.51.100.17"},
        {"Forwarded: proto=http; for=192.0.2.7\r\n", "192.0.2.7"},
        {"Forwarded: by=192.0.2.7\r\n", nullptr},
        {"Forwarded: for=unknown\r\nX-Forwarded-For: 192.0.2.1\r\n", nullptr},
        {"Forwarded: for=\r\n", nullptr},
        // a client's own beside that of the proxy
        {"Forwarded: for=192.0.2.9\r\nX-Forwarded-For: 192.0.2.1\r\n", nullptr},
        {"Forwarded: \r\nX-Forwarded-For: 192.0.2.1\r\n", nullptr},
    };
    for (const auto &row : rows) {
        INFO(row.headers);
        std::string bytes = std::string("GET / HTTP/1.1\r\nHost: a\r\n") + row.headers + "\r\n";
        struct http_request r;
        size_t used;
        char out[HTTP_FORWARDED_TEXT];
        REQUIRE(http_request_decode(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size(),
                                    &r, &used) == 0);
        bool has = *row.headers != '\0';
        CHECK(http_forwarded_client(&r, out) == (row.client ? 0
                                                 : has      ? ERR_MALFORMED
                                                            : ERR_NOT_FOUND));
        if (row.client)
            CHECK(std::string(out) == row.client);
    }
}
