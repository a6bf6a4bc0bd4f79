// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/url.h"

#include <catch2/catch.hpp>
#include <string>

#include "common/base/err.h"

TEST_CASE("url: accepted URLs and their parts")
{
    struct {
        const char *text, *host;
        int port, level;
    } const table[] = {
        {"rtsp://localhost/live", "localhost", 8554, -1},
        {"rtsp://localhost", "localhost", 8554, -1},
        {"RTSP://192.0.2.7:554/a/b", "192.0.2.7", 554, -1},
        {"rtsp://[::1]/live", "::1", 8554, -1},
        {"rtsp://[2001:db8::7]:65535/live?level=3", "2001:db8::7", 65535, 3},
        {"rtsp://h/live?level=0", "h", 8554, 0},
        {"rtsp://h/live?a=b&level=31&c", "h", 8554, 31},
        {"rtsp://h/live?levels=7", "h", 8554, -1},
        {"rtsp://h:1?level=2", "h", 1, 2},
    };
    for (const auto &row : table) {
        INFO(row.text);
        struct url url;
        const char *why = "";
        REQUIRE(url_parse(row.text, &url, &why) == 0);
        CHECK(std::string(url.text) == row.text);
        CHECK(std::string(url.host) == row.host);
        CHECK(url.port == row.port);
        CHECK(url.has_port ==
              (std::string(row.text).find(":" + std::to_string(row.port)) != std::string::npos));
        CHECK(url.level == row.level);
    }
}

TEST_CASE("url: refused URLs and the reasons")
{
    const std::string long_host(300, 'h');
    struct {
        std::string text;
        const char *why;
    } const table[] = {
        {"", "rtsp://"},
        {"http://h/live", "rtsp://"},
        {"rtsp:/h", "rtsp://"},
        {"rtsp://", "no host"},
        {"rtsp:///live", "no host"},
        {"rtsp://:8554/live", "no host"},
        {"rtsp://[]/live", "no host"},
        {"rtsp://[::1/live", "']'"},
        {"rtsp://[::1]8554/live", "port"},
        {"rtsp://h:/live", "port"},
        {"rtsp://h:0/live", "port"},
        {"rtsp://h:65536/live", "port"},
        {"rtsp://h:85x/live", "port"},
        {"rtsp://h:-1/live", "port"},
        {"rtsp://::1/live", "no host"},
        {"rtsp://@h/live", "name or password"},
        {"rtsp://:secret@h/live", "name or password"},
        {"rtsp://me:a%0d%0ab@h/live", "name or password"},
        {"rtsp://m\"e@h/live", "name or password"},
        {"rtsp://" + std::string(128, 'u') + "@h/live", "name or password"},
        {"rtsp://h/a b", "white space"},
        {"rtsp://h/a\r\nX: y", "white space"},
        {"rtsp://h/live?level=", "level"}, // nothing behind the '='
        {"rtsp://h/live?level=x", "level"},
        {"rtsp://h/live?level=32", "level"},
        {"rtsp://h/live?level=-1", "level"},
        {"rtsp://" + long_host + "/live", "too long"},
        {"rtsp://h/" + std::string(2000, 'a'), "too long"},
    };
    for (const auto &row : table) {
        INFO(row.text);
        struct url url;
        const char *why = "";
        CHECK(url_parse(row.text.c_str(), &url, &why) == ERR_MALFORMED);
        CHECK_THAT(std::string(why), Catch::Contains(row.why));
    }
}

TEST_CASE("url: the medium's URL from the control attribute")
{
    struct {
        const char *base, *control, *out;
    } const table[] = {
        {"rtsp://h/live", "*", "rtsp://h/live"},
        {"rtsp://h/live", "", "rtsp://h/live"},
        {"rtsp://h/live", "video", "rtsp://h/live/video"},
        {"rtsp://h/live/", "video", "rtsp://h/live/video"},
        {"rtsp://h/live/", "/video", "rtsp://h/live/video"},
        {"rtsp://h/live", "/video", "rtsp://h/live/video"},
        {"rtsp://h/live", "trackID=1?a=b", "rtsp://h/live/trackID=1?a=b"},
        {"rtsp://h/x?channel=1&subtype=0/", "trackID=0",
         "rtsp://h/x?channel=1&subtype=0/trackID=0"},
        {"rtsp://h/x.sdp?profile=7", "trackID=2", "rtsp://h/x.sdp?profile=7/trackID=2"},
        {"rtsp://h/x?a=b/", "*", "rtsp://h/x?a=b/"},
        {"rtsp://h/live", "RTSP://h/live/1", "RTSP://h/live/1"},
        {"rtsp://h/live", "rtsp://other/x", "rtsp://other/x"},
    };
    for (const auto &row : table) {
        char out[64];
        REQUIRE(url_resolve(row.base, row.control, out, sizeof(out)) == 0);
        CHECK(std::string(out) == row.out);
    }
    char small[10];
    CHECK(url_resolve("rtsp://h/live", "video", small, sizeof(small)) == ERR_TOO_BIG);
    // Each would end the request line, or begin another header.
    char out[64];
    for (const char *control : {" a", "a b", "a\tb", "a\rb", "a\nb", "a\x7f", "rtsp://h/a b"}) {
        INFO(control);
        CHECK(url_resolve("rtsp://h/live", control, out, sizeof(out)) == ERR_MALFORMED);
        CHECK_FALSE(url_is_plain(control));
    }
    CHECK(url_is_plain("rtsp://h/a%20b?c=d&\xc3\xbc"));
}

TEST_CASE("url: the user is removed from the text")
{
    const struct {
        const char *text, *left, *user, *password, *host;
    } table[] = {
        {"rtsp://h/live", "rtsp://h/live", "", "", "h"},
        {"rtsp://me@h:554/live", "rtsp://h:554/live", "me", "", "h"},
        {"rtsp://me:secret@h/live?level=1", "rtsp://h/live?level=1", "me", "secret", "h"},
        {"rtsp://me:p%40s%3as@[::1]/x", "rtsp://[::1]/x", "me", "p@s:s", "::1"},
        {"rtsp://me:a@b:c@h/", "rtsp://h/", "me", "a@b:c", "h"}, // the last '@' parts
        {"rtsp://me:100%@h/", "rtsp://h/", "me", "100%", "h"},
        {"rtsp://h/a@b", "rtsp://h/a@b", "", "", "h"},
    };
    for (const auto &row : table) {
        INFO(row.text);
        struct url u;
        const char *why = "";
        REQUIRE(url_parse(row.text, &u, &why) == 0);
        CHECK(std::string(u.text) == row.left);
        CHECK(std::string(u.user) == row.user);
        CHECK(std::string(u.password) == row.password);
        CHECK(std::string(u.host) == row.host);
    }
}

TEST_CASE("url: a link-local address has its interface, which requests do not contain")
{
    struct row {
        const char *text, *host, *request;
    };
    const row table[] = {
        {"rtsp://[fe80::1%25lo]:8554/live", "fe80::1%lo", "rtsp://[fe80::1]:8554/live"},
        {"rtsp://[fe80::1%lo]/live?level=1", "fe80::1%lo", "rtsp://[fe80::1]/live?level=1"},
        {"rtsp://[::1]:80/a%25b]", "::1", "rtsp://[::1]:80/a%25b]"},
        {"rtsp://host/a[%25]", "host", "rtsp://host/a[%25]"},
    };
    for (const row &r : table) {
        url u;
        const char *why;
        INFO(r.text);
        REQUIRE(url_parse(r.text, &u, &why) == 0);
        CHECK(std::string(u.host) == r.host);
        char request[URL_MAX_TEXT];
        url_request_text(&u, request);
        CHECK(std::string(request) == r.request);
    }
    url u;
    const char *why = "";
    CHECK(url_parse("rtsp://[fe80::1]/live", &u, &why) == ERR_MALFORMED);
    CHECK(std::string(why).find("requires its network interface") != std::string::npos);
}

TEST_CASE("url: the key is taken out of the text, and added to requests")
{
    struct {
        const char *given, *text, *key;
    } const table[] = {
        {"rtsp://h/live?key=K", "rtsp://h/live", "K"},
        {"rtsp://h/live?key=K&level=2", "rtsp://h/live?level=2", "K"},
        {"rtsp://h/live?level=2&key=K", "rtsp://h/live?level=2", "K"},
        {"rtsp://h/live?a=1&key=K&b=2", "rtsp://h/live?a=1&b=2", "K"},
        {"rtsp://h/live?key=A&key=B", "rtsp://h/live", "A"},
        {"rtsp://h/live?monkey=K", "rtsp://h/live?monkey=K", ""},
        {"rtsp://h/key=K", "rtsp://h/key=K", ""},
        {"rtsp://h?key=K", "rtsp://h", "K"},
        {"rtsp://h/live?key=K/trackID=0", "rtsp://h/live/trackID=0", "K"},
        {"rtsp://h/live?key=K/streamid=0", "rtsp://h/live/streamid=0", "K"},
        {"rtsp://h/live?key=K/stream=1", "rtsp://h/live/stream=1", "K"},
        {"rtsp://h/live?key=a/b", "rtsp://h/live", "a/b"},
    };
    for (const auto &row : table) {
        INFO(row.given);
        struct url url;
        const char *why = "";
        REQUIRE(url_parse(row.given, &url, &why) == 0);
        CHECK(std::string(url.text) == row.text);
        CHECK(std::string(url.key) == row.key);
    }
    struct url url;
    const char *why = "";
    CHECK(url_parse("rtsp://h/live?key=", &url, &why) == ERR_MALFORMED);
    CHECK(url_parse(("rtsp://h/live?key=" + std::string(256, 'k')).c_str(), &url, &why) ==
          ERR_MALFORMED);
    char text[24] = "rtsp://h/live";
    REQUIRE(url_add_key(text, sizeof(text), "K") == 0);
    CHECK(std::string(text) == "rtsp://h/live?key=K");
    CHECK(url_add_key(text, sizeof(text), "K") == ERR_TOO_BIG);
    char more[32] = "rtsp://h/live?level=1";
    REQUIRE(url_add_key(more, sizeof(more), "K") == 0);
    CHECK(std::string(more) == "rtsp://h/live?level=1&key=K");
}

TEST_CASE("url: rtsps:// with a pin, which stays out of the text")
{
    url u{};
    const char *why = "";
    const std::string hex = "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF";
    const std::string head = "rtsps://h:99/live";
    REQUIRE(url_parse((head + "?pin=sha256:" + hex + "&level=3").c_str(), &u, &why) == 0);
    CHECK(u.secure);
    CHECK(u.level == 3);
    CHECK(u.port == 99);
    CHECK(std::string(u.text) == head + "?level=3");
    CHECK(std::string(u.pin) ==
          "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff");
    char request[URL_MAX_TEXT];
    url_request_text(&u, request);
    CHECK(std::string(request) == head + "?level=3");
    REQUIRE(url_parse((head + "?pin=sha256:" + hex).c_str(), &u, &why) == 0);
    CHECK(std::string(u.text) == head);
    REQUIRE(url_parse("RTSPS://h/live", &u, &why) == 0);
    CHECK(u.secure);
    CHECK(u.pin[0] == '\0');
    CHECK_FALSE(url_is_root(&u));
    REQUIRE(url_parse("rtsps://h", &u, &why) == 0);
    CHECK(url_is_root(&u));
    REQUIRE(url_parse("rtsp://h/live", &u, &why) == 0);
    CHECK_FALSE(u.secure);

    for (const std::string &bad :
         {"rtsp://h/live?pin=sha256:" + hex, head + "?pin=sha256:" + hex.substr(1),
          head + "?pin=sha256:" + hex + "0", head + "?pin=", head + "?pin=md5:" + hex,
          head + "?pin=sha256:x" + hex.substr(1)}) {
        CHECK(url_parse(bad.c_str(), &u, &why) == ERR_MALFORMED);
        CHECK(std::string(why).find("?pin=") == 0);
    }
}

TEST_CASE("url: the scheme")
{
    CHECK(url_scheme("rtsp://h") == 7);
    CHECK(url_scheme("rtsps://h") == 8);
    CHECK(url_scheme("RtSpS://h") == 8);
    CHECK(url_scheme("http://h") == 0);
    CHECK(url_scheme("rtsp:/h") == 0);
    CHECK(url_scheme("") == 0);
}
