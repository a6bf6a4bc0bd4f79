// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/http/message/http_door.h"

#include <catch2/catch.hpp>
#include <string>

namespace
{

struct Door {
    struct http_origins origins = {};
    std::string bytes;
    struct http_request r = {};
    Door(const std::string &headers, const char *allowed = nullptr)
        : bytes("GET /live HTTP/1.1\r\n" + headers + "\r\n")
    {
        size_t used;
        if (allowed)
            REQUIRE(http_origins_read(&origins, allowed) == nullptr);
        REQUIRE(http_request_decode(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size(),
                                    &r, &used) == 0);
    }
    Door(const Door &) = delete;
    Door &operator=(const Door &) = delete;
    std::string head(bool is_public = false)
    {
        struct http_head h;
        http_head_begin(&h, 200, nullptr, 0);
        http_door_add(&origins, &r, is_public, &h);
        return std::string(h.text, h.len);
    }
};

#define HOST "Host: 127.0.0.1:8554\r\n"
#define SITE "Sec-Fetch-Site: "

} // namespace

TEST_CASE("http_door: origins of the option")
{
    struct http_origins o = {};
    for (const char *bad : {"", "example.org", "ftp://a", "http://", "http://a/", "http://a b",
                            "http://a;b", "http://*", "http://a\r\nX: y", "**"})
        CHECK(http_origins_read(&o, bad) != nullptr);
    for (int i = 0; i < HTTP_ORIGINS_MAX; i++)
        CHECK(http_origins_read(&o, "http://10.0.0.7:8080") == nullptr);
    CHECK(http_origins_read(&o, "http://a") != nullptr);
    CHECK_FALSE(o.all);
    CHECK(http_origins_read(&o, "*") == nullptr);
    CHECK(o.all);
}

TEST_CASE("http_door: names that were mapped to this machine")
{
    const struct {
        const char *host;
        bool good;  // of a connection to a loopback address
        bool there; // to another one
    } rows[] = {
        {"localhost:8554", true, true},
        {"LOCALHOST", true, true},
        {"127.0.0.1", true, true},
        {"127.1.2.3:8554", true, true},
        {"[::1]", true, true},
        {"[::1]:8554", true, true},
        // They lead to this machine, and browsers do not know it.
        {"0.0.0.0:8554", false, true},
        {"0", false, true},
        {"[::]:8554", false, true},
        {"[::ffff:127.0.0.1]:8554", false, true},
        {"[::ffff:7f00:1]:8554", false, true},
        {"10.0.0.7:8554", false, true},
        {"weir.example", false, false},
        {"127.0.0.1.weir.example:8554", false, false},
        {"localhost.x", false, false},
        {"good.example:8443", true, true},
        {"good.example", false, false},
        {"xlocalhost", false, false},
        {"", true, true}, // no page has such an origin
    };
    for (const auto &row : rows) {
        INFO(row.host);
        Door d(std::string("Host: ") + row.host + "\r\n", "https://good.example:8443");
        CHECK(http_door_is_host_good(&d.origins, &d.r, true) == row.good);
        CHECK(http_door_is_host_good(&d.origins, &d.r, false) == row.there);
    }
    Door all("Host: weir.example\r\n", "*");
    CHECK(http_door_is_host_good(&all.origins, &all.r, true));
}

TEST_CASE("http_door: for what page a request is")
{
    const struct {
        const char *headers;
        http_visitor visitor; // without an allowed origin
        http_visitor allowed; // with https://good.example
    } rows[] = {
        {"", HTTP_OWN, HTTP_OWN}, // a program
        {"Origin: http://127.0.0.1:8554\r\n", HTTP_OWN, HTTP_OWN},
        {"Origin: HTTPS://127.0.0.1:8554\r\n", HTTP_OWN, HTTP_OWN},
        {"Origin: http://127.0.0.1\r\n", HTTP_FOREIGN, HTTP_FOREIGN},
        {"Origin: http://127.0.0.1:85540\r\n", HTTP_FOREIGN, HTTP_FOREIGN},
        {"Origin: http://evil.example#127.0.0.1:8554\r\n", HTTP_FOREIGN, HTTP_FOREIGN},
        {"Origin: http://evil.example://127.0.0.1:8554\r\n", HTTP_FOREIGN, HTTP_FOREIGN},
        {"Origin: null\r\n", HTTP_FOREIGN, HTTP_FOREIGN},
        {"Origin: \r\n", HTTP_FOREIGN, HTTP_FOREIGN},
        {"Origin: https://good.example\r\n", HTTP_FOREIGN, HTTP_ALLOWED},
        {"Origin: http://good.example\r\n", HTTP_FOREIGN, HTTP_FOREIGN},
        {"Origin: https://good.example\r\n" SITE "cross-site\r\n", HTTP_FOREIGN, HTTP_ALLOWED},
        {"Origin: https://evil.example\r\nReferer: https://good.example/\r\n", HTTP_FOREIGN,
         HTTP_FOREIGN},
        {"Referer: http://127.0.0.1:8554/live\r\n", HTTP_OWN, HTTP_OWN},
        {"Referer: https://evil.example/\r\n", HTTP_FOREIGN, HTTP_FOREIGN},
        {"Referer: https://good.example/\r\n", HTTP_FOREIGN, HTTP_ALLOWED},
        {SITE "none\r\n", HTTP_OWN, HTTP_OWN},
        {SITE "none\r\nReferer: https://evil.example/\r\n", HTTP_OWN, HTTP_OWN},
        {SITE "same-origin\r\n", HTTP_OWN, HTTP_OWN},
        {SITE "same-site\r\n", HTTP_FOREIGN, HTTP_FOREIGN},
        {SITE "cross-site\r\n", HTTP_FOREIGN, HTTP_FOREIGN},
        {SITE "CROSS-SITE\r\n", HTTP_FOREIGN, HTTP_FOREIGN},
        {SITE "of-tomorrow\r\n", HTTP_FOREIGN, HTTP_FOREIGN},
        {SITE "cross-site\r\nReferer: https://good.example/\r\n", HTTP_FOREIGN, HTTP_ALLOWED},
        {SITE "cross-site\r\nReferer: https://good.example.evil/\r\n", HTTP_FOREIGN, HTTP_FOREIGN},
        {SITE "cross-site\r\nReferer: https://good.example@evil/\r\n", HTTP_FOREIGN, HTTP_FOREIGN},
    };
    for (const auto &row : rows) {
        INFO(row.headers);
        Door d(std::string(HOST) + row.headers);
        CHECK(http_door_visitor(&d.origins, &d.r) == row.visitor);
        Door good(std::string(HOST) + row.headers, "https://good.example");
        CHECK(http_door_visitor(&good.origins, &good.r) == row.allowed);
        Door all(std::string(HOST) + row.headers, "*");
        CHECK((http_door_visitor(&all.origins, &all.r) == HTTP_FOREIGN) == false);
    }
}

TEST_CASE("http_door: what browsers are told")
{
    const std::string evil = HOST "Origin: https://evil.example\r\n";
    const std::string good = HOST "Origin: https://good.example\r\n";
    const std::string own = "Cross-Origin-Resource-Policy: same-origin\r\n";
    const std::string shared = "Cross-Origin-Resource-Policy: cross-origin\r\n";
    const std::string expose =
        "Access-Control-Expose-Headers: Content-Length, Content-Range, Date, Age\r\n";
    const std::string begin = "HTTP/1.1 200 OK\r\n";
    CHECK(Door(HOST).head() == begin + own);
    CHECK(Door(evil).head() == begin + own);
    CHECK(Door(evil).head(true) == begin + shared);
    CHECK(Door(evil, "https://good.example").head() == begin + "Vary: Origin\r\n" + own);
    CHECK(Door(HOST, "https://good.example").head() == begin + "Vary: Origin\r\n" + own);
    CHECK(Door(good, "https://good.example").head() ==
          begin + "Vary: Origin\r\nAccess-Control-Allow-Origin: https://good.example\r\n" + expose +
              shared);
    CHECK(Door(evil, "*").head() == begin + "Access-Control-Allow-Origin: *\r\n" + expose + shared);
    struct http_head h;
    http_head_begin(&h, 400, nullptr, 0);
    struct http_origins none = {};
    http_door_add(&none, nullptr, false, &h);
    CHECK(std::string(h.text, h.len) == "HTTP/1.1 400 Bad Request\r\n" + own);
}

TEST_CASE("http_door: a preflight names methods to allowed origins only")
{
    for (bool allowed : {false, true}) {
        Door d(HOST "Origin: https://good.example\r\n", allowed ? "https://good.example" : nullptr);
        struct http_head h;
        http_head_begin(&h, 204, nullptr, 0);
        http_door_add_preflight(&d.origins, &d.r, "GET, HEAD", "Range", &h);
        std::string text(h.text, h.len);
        CHECK(text.find("Allow: GET, HEAD\r\n") != std::string::npos);
        CHECK((text.find("Access-Control-Allow-Methods: GET, HEAD\r\n") != std::string::npos) ==
              allowed);
        CHECK((text.find("Access-Control-Allow-Headers: Range\r\n") != std::string::npos) ==
              allowed);
    }
}
