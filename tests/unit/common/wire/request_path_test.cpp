// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/request_path.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "common/base/err.h"

TEST_CASE("request_path: from a URL to a decoded path")
{
    struct {
        const char *url, *path; // path: nullptr: refused
    } const table[] = {
        {"/film.mp4", "film.mp4"},
        {"/sub/my%20film.mp4", "sub/my film.mp4"},
        {"/film.mp4/trackID=0", "film.mp4"},
        {"/film.mp4/trackID=1", "film.mp4"},
        {"/film.mp4/trackID=2", "film.mp4/trackID=2"},
        {"/trackID=1", ""},
        {"/film.mp4/?level=2", "film.mp4"},
        {"/film.mp4/trackID=0?level=2", "film.mp4"},
        {"/cam?file=../%2f", "cam"}, // a query is not of the path
        {"/cam;stream=1/a", "cam;stream=1/a"},
        {"/%C3%A4.mkv", "\xc3\xa4.mkv"},
        {"/%e4%e8.mkv", "\xe4\xe8.mkv"}, // of a disk with names in ISO 8859-1
        {"/%e2%82%ac%f0%9f%8e%ac", "\xe2\x82\xac\xf0\x9f\x8e\xac"},
        {"/a..b/c.", "a..b/c."},
        {"/100%25.mp4", "100%.mp4"},
        {"/a%2520b.mp4", "a%20b.mp4"}, // so named on the disk
        {"/50%25%32.mp4", "50%2.mp4"},
        {"/", ""},
        {"", ""},
        // Dot segments and hidden files, also encoded, and with parameters behind them
        {"/..", nullptr},
        {"/.", nullptr},
        {"/../x", nullptr},
        {"/a/../x", nullptr},
        {"/a/..", nullptr},
        {"/%2e%2e/x", nullptr},
        {"/%2E./x", nullptr},
        {"/..;/admin", nullptr},
        {"/a/..;x=1/admin", nullptr},
        {"/.;/x", nullptr},
        {"/%2e%2e%3b/x", nullptr},
        {"/.hidden", nullptr},
        {"/a/.b/c", nullptr},
        // Slashes that only some servers take for slashes
        {"/a%2Fb", nullptr},
        {"/..%2fadmin", nullptr},
        {"/%2e%2e%2fadmin", nullptr},
        {"/x%2f..%2f..%2fadmin", nullptr},
        {"/%2fetc/passwd", nullptr},
        {"/a%2f", nullptr},
        {"/..\\admin", nullptr},
        {"/a\\b", nullptr},
        {"/a%5cb", nullptr},
        {"/a%5Cb", nullptr},
        {"//admin", nullptr},
        {"/a//b", nullptr},
        {"/a//", nullptr},
        // Control characters, also of UTF-8
        {"/a%00b", nullptr},
        {"/x%0d%0aX-Evil:%201", nullptr},
        {"/a%7f", nullptr},
        {"/a%C2%85b", nullptr},
        {"/a%c2%9bb", nullptr},
        {"/a\tb", nullptr},
        // Escapes that are none, and overlong UTF-8
        {"/a%", nullptr},
        {"/a%2", nullptr},
        {"/a%zz", nullptr},
        {"/a%u002fb", nullptr},
        {"/a%c0%afb", nullptr},
        {"/%c0%ae%c0%ae/b", nullptr},
        {"/a%e0%80%afb", nullptr},
        {"/a%f0%80%80%afb", nullptr},
        // Decoded twice or three times
        {"/%c0%6e%c0%6e/x", nullptr}, // bytes that UTF-8 never has
        {"/%c0.%c0./x", nullptr},
        {"/%f8%80%80%80%ae/x", nullptr},
        {"/%fc%80%80%80%80%ae/x", nullptr},
        {"/%ff", nullptr},
        {"/%252525252541", nullptr}, // an escape in an escape, and so on
        {"/%252e%252e/x", nullptr},
        {"/%25252e%25252e/x", nullptr},
        {"/a%252fb", nullptr},
        {"/a%255cb", nullptr},
        {"/a%2500", nullptr},
        {"/a%25250ab", nullptr},
        {"/a%25%32fb", nullptr},
        {"/a%25c0%25afb", nullptr},
        // Not of a URL
        {"film.mp4", nullptr},
        {"\x01", nullptr},
    };
    for (const auto &c : table) {
        INFO(c.url);
        char out[REQUEST_PATH_MAX];
        CHECK(request_path_decode(c.url, out, sizeof(out)) == (c.path ? 0 : ERR_MALFORMED));
        if (!c.path)
            continue;
        CHECK(std::string(out) == c.path);
        CHECK(request_path_is_good(out));
    }
}

TEST_CASE("request_path: other spellings of a path")
{
    for (const char *path : {"/", "/a/", "/trackID=0", "/a/trackID=0", "/a/trackID=1"})
        CHECK(request_path_is_alias(path, strlen(path)));
    for (const char *path : {"", "/a", "/a/trackID=2", "/a/trackID=", "/trackID=0x", "a/b"})
        CHECK_FALSE(request_path_is_alias(path, strlen(path)));
}

TEST_CASE("request_path: too long a path is refused")
{
    char small[4], out[2 * REQUEST_PATH_MAX];
    CHECK(request_path_decode("/abcd", small, sizeof(small)) == ERR_TOO_BIG);
    CHECK(request_path_decode("/abc", small, sizeof(small)) == 0);
    CHECK(request_path_decode(("/" + std::string(REQUEST_PATH_MAX - 1, 'x')).c_str(), out,
                              sizeof(out)) == 0);
    CHECK(request_path_decode(("/" + std::string(REQUEST_PATH_MAX, 'x')).c_str(), out,
                              sizeof(out)) == ERR_TOO_BIG);
    CHECK(request_path_decode(("/" + std::string(9 * REQUEST_PATH_MAX, 'x')).c_str(), out,
                              sizeof(out)) == ERR_TOO_BIG);
}

TEST_CASE("request_path: encoded into a URL and decoded")
{
    char url[64], back[64];
    CHECK(request_path_encode("sub/my film \xc3\xa4%?.mp4", url, sizeof(url)) == 33);
    CHECK(std::string(url) == "/sub/my%20film%20%C3%A4%25%3F.mp4");
    REQUIRE(request_path_decode(url, back, sizeof(back)) == 0);
    CHECK(std::string(back) == "sub/my film \xc3\xa4%?.mp4");
    CHECK(request_path_encode("abc", url, 4) == ERR_FULL);
    for (const char *path : {"new\nline", "tab\t", "del\x7f", ".hidden", "a/.b", "a//b", "a/",
                             "a\\b", "%2e%2e", "a%2fb", "a%5Cb"}) {
        INFO(path);
        CHECK(request_path_encode(path, url, sizeof(url)) == ERR_MALFORMED);
    }
}

TEST_CASE("request_path: below a folder")
{
    CHECK(request_path_is_offered("/srv/films", "/srv/films/a.mp4"));
    CHECK(request_path_is_offered("/", "/a.mp4"));
    CHECK_FALSE(request_path_is_offered("/srv/films", "/srv/films"));
    CHECK_FALSE(request_path_is_offered("/srv/films", "/srv/films2/a.mp4"));
    CHECK_FALSE(request_path_is_offered("/srv/films", "/srv"));
    CHECK(request_path_is_offered("/home/.me/films", "/home/.me/films/sub/a.mp4"));
    CHECK_FALSE(request_path_is_offered("/srv/films", "/srv/films/.a.mp4"));
    CHECK_FALSE(request_path_is_offered("/srv/films", "/srv/films/.b/a.mp4"));
}
