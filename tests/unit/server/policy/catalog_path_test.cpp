// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/catalog_path.h"

#include <catch2/catch.hpp>
#include <string>

#include "common/base/err.h"

TEST_CASE("catalog path: from a URL to a path below a folder")
{
    struct {
        const char *url, *path;
    } good[] = {
        {"/film.mp4", "film.mp4"},
        {"/sub/my%20film.mp4", "sub/my film.mp4"},
        {"/film.mp4/trackID=0", "film.mp4"},
        {"/film.mp4/trackID=1", "film.mp4"},
        {"/film.mp4/trackID=2", "film.mp4/trackID=2"},
        {"/trackID=1", ""},
        {"/film.mp4/?level=2", "film.mp4"},
        {"/film.mp4/trackID=0?level=2", "film.mp4"},
        {"/a%2Fb", "a/b"},
        {"/%C3%A4.mkv", "\xc3\xa4.mkv"},
        {"/a..b/c.", "a..b/c."},
        {"/", ""},
        {"", ""},
    };
    for (const auto &c : good) {
        INFO(c.url);
        char out[CATALOG_PATH_MAX];
        REQUIRE(catalog_path_decode(c.url, out, sizeof(out)) == 0);
        CHECK(std::string(out) == c.path);
    }
}

TEST_CASE("catalog path: paths that leave the folder, hidden files and bad characters are refused")
{
    for (const char *url :
         {"/..",     "/../x",  "/a/../x", "/%2e%2e/x", "/%2E./x",   "/.%2e%2fx",      "/.hidden",
          "/a/.b/c", "/.",     "//x",     "/a//b",     "/a%2f%2fb", "/%2fetc/passwd", "/a%2f",
          "/a%00b",  "/a%0ab", "/a%",     "/a%2",      "/a%zz",     "/a%7f",          "film.mp4",
          "\x01"}) {
        INFO(url);
        char out[CATALOG_PATH_MAX];
        CHECK(catalog_path_decode(url, out, sizeof(out)) == ERR_MALFORMED);
    }
    char small[4];
    CHECK(catalog_path_decode("/abcd", small, sizeof(small)) == ERR_TOO_BIG);
    CHECK(catalog_path_decode("/abc", small, sizeof(small)) == 0);
}

TEST_CASE("catalog path: encoded into a URL and decoded")
{
    char url[64], back[64];
    CHECK(catalog_path_encode("sub/my film \xc3\xa4%?.mp4", url, sizeof(url)) == 33);
    CHECK(std::string(url) == "/sub/my%20film%20%C3%A4%25%3F.mp4");
    REQUIRE(catalog_path_decode(url, back, sizeof(back)) == 0);
    CHECK(std::string(back) == "sub/my film \xc3\xa4%?.mp4");
    CHECK(catalog_path_encode("abc", url, 4) == ERR_FULL);
    for (const char *path : {"new\nline", "tab\t", "del\x7f", ".hidden", "a/.b", "a//b", "a/"}) {
        INFO(path);
        CHECK(catalog_path_encode(path, url, sizeof(url)) == ERR_MALFORMED);
    }
}

TEST_CASE("catalog path: below a folder")
{
    CHECK(catalog_path_is_offered("/srv/films", "/srv/films/a.mp4"));
    CHECK(catalog_path_is_offered("/", "/a.mp4"));
    CHECK_FALSE(catalog_path_is_offered("/srv/films", "/srv/films"));
    CHECK_FALSE(catalog_path_is_offered("/srv/films", "/srv/films2/a.mp4"));
    CHECK_FALSE(catalog_path_is_offered("/srv/films", "/srv"));
    CHECK(catalog_path_is_offered("/home/.me/films", "/home/.me/films/sub/a.mp4"));
    CHECK_FALSE(catalog_path_is_offered("/srv/films", "/srv/films/.a.mp4"));
    CHECK_FALSE(catalog_path_is_offered("/srv/films", "/srv/films/.b/a.mp4"));
}
