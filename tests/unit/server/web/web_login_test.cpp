// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/web/web_login.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "common/base/err.h"

namespace
{

const std::string TOKEN(32, 't');

struct request {
    std::string bytes;
    http_request r;
    explicit request(const std::string &headers)
        : bytes("POST / HTTP/1.1\r\nHost: h:8554\r\n" + headers + "\r\n")
    {
        size_t used;
        REQUIRE(http_request_decode(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size(),
                                    &r, &used) == 0);
    }
};

std::string token_of(const std::string &headers, bool is_secure)
{
    request q(headers);
    const web_arrival at = {is_secure, 8554};
    const struct text t = web_login_token(&at, &q.r);
    return t.len ? std::string(t.at, t.len) : "";
}

} // namespace

TEST_CASE("web_login: forms")
{
    web_credentials c;
    auto read = [&](const std::string &form) {
        return web_login_form({form.data(), form.size()}, &c);
    };
    CHECK(read("user=anna&password=see+no%20evil%26") == 0);
    CHECK(std::string(c.user) == "anna");
    CHECK(std::string(c.password) == "see no evil&");
    CHECK(read("x=1&password=%C3%A4&user=b&y") == 0);
    CHECK(std::string(c.password) == "\xc3\xa4");
    const std::string user(WEB_USER_MAX - 1, 'u'), password(WEB_PASSWORD_MAX - 1, 'p');
    CHECK(read("user=" + user + "&password=" + password) == 0);
    CHECK(read("user=" + user + "u&password=x") == ERR_TOO_BIG);
    CHECK(read("user=u&password=" + password + "p") == ERR_TOO_BIG);
    for (const char *bad :
         {"", "user=a", "password=a", "user=&password=a", "user=a&password=", "user=a&password=%0",
          "user=a&password=%00", "user=a&user=a&password=b", "user", "&&=&", "USER=a&password=b"}) {
        INFO(bad);
        CHECK(read(bad) == ERR_MALFORMED);
    }
}

TEST_CASE("web_login: cookies")
{
    const std::string plain = "weir-8554=" + TOKEN, secure = "__Host-" + plain;
    const struct {
        std::string headers;
        bool with_tls, without;
    } rows[] = {
        {"", false, false},
        {"Cookie: " + plain + "\r\n", false, true},
        {"Cookie: " + secure + "\r\n", true, true}, // without: behind a proxy that speaks TLS
        {"Cookie: a=b;  " + secure + " ;c=d\r\n", true, true},
        {"cookie: a\r\nCOOKIE: __Host-weir-8554=\"" + TOKEN + "\"\r\n", true, true},
        {"Cookie: " + secure + "; " + secure + "\r\n", false, false},
        {"Cookie: " + secure + "\r\nCookie: " + secure + "\r\n", false, false},
        {"Cookie: __host-weir-8554=" + TOKEN + "\r\n", false, false},
        {"Cookie: __Host-weir-8555=" + TOKEN + "\r\n", false, false},
        {"Cookie: x" + secure + "\r\n", false, false},
        {"Cookie: ;;=;" + secure.substr(0, 16) + "\r\n", false, false},
        {"Origin: https://h:8554\r\nCookie: " + secure + "\r\n", true, true},
        {"Origin: http://h:8554\r\nCookie: " + secure + "\r\n", false, true},
        {"Origin: https://h:8555\r\nCookie: " + secure + "\r\n", false, false},
        {"Origin: null\r\nCookie: " + secure + "\r\n", false, false},
        {"Sec-Fetch-Site: cross-site\r\nCookie: " + secure + "\r\n", false, false},
        {"Sec-Fetch-Site: same-site\r\nCookie: " + secure + "\r\n", false, false},
        {"Sec-Fetch-Site: same-origin\r\nCookie: " + secure + "\r\n", true, true},
        {"Referer: https://evil.example/\r\nCookie: " + secure + "\r\n", false, false},
    };
    for (const auto &row : rows) {
        INFO(row.headers);
        CHECK(token_of(row.headers, true) == (row.with_tls ? TOKEN : ""));
        CHECK(token_of(row.headers, false) == (row.without ? TOKEN : ""));
    }
}

TEST_CASE("web_login: what Set-Cookie has")
{
    char out[WEB_COOKIE_MAX];
    const web_arrival tls = {true, 8554}, plain = {false, 8554};
    request none(""), https("Origin: https://h:8554\r\n");
    web_login_cookie(&plain, &none.r, "T", 43200, out);
    CHECK(std::string(out) == "weir-8554=T; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict");
    for (const request *r : {&none, &https}) {
        web_login_cookie(r == &none ? &tls : &plain, &r->r, "T", 43200, out);
        CHECK(std::string(out) ==
              "__Host-weir-8554=T; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure");
    }
    web_login_cookie(&tls, &none.r, nullptr, 0, out);
    CHECK(std::string(out).find("__Host-weir-8554=; Path=/; Max-Age=0;") == 0);
}
