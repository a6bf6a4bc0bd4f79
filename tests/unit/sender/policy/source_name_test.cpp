// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/source_name.h"

#include <catch2/catch.hpp>
#include <string>

TEST_CASE("source_name: the name before '='")
{
    const struct {
        std::string text;
        size_t len;
    } rows[] = {
        {"front=camera:/dev/video0", 5},
        {"a=b=c", 1},
        {"Yard_2-b=test:", 8},
        {"front=", 5},
        {"=test:", 0},
        {"test:", 0},
        {"front", 0},
        {"-front=test:", 0},
        {"a.b=test:", 0},
        {"films/a=b.mkv", 0},
        {"camera:/dev/v4l/by-id/x=1", 0},
        {std::string(32, 'n') + "=x", 32},
        {std::string(33, 'n') + "=x", 0},
        {"gr\xc3\xbcn=x", 0},
    };
    for (const auto &row : rows) {
        INFO(row.text);
        CHECK(source_name_length(row.text.c_str()) == row.len);
    }
    CHECK(source_name_is("front", 5));
    CHECK_FALSE(source_name_is("", 0));
    CHECK_FALSE(source_name_is("a b", 3));
}

TEST_CASE("source_name: the paths of --publish, and what is at them")
{
    const struct {
        std::string path;
        bool is_one, is_any;
    } rows[] = {
        {"/cam", true, false},
        {"/cams/front-2", true, false},
        {"/*", true, true},
        {"/cams/*", true, true},
        {"/cams/*/a", false, false},
        {"/cams*", false, false},
        {"/", false, false},
        {"cam", false, false},
        {"", false, false},
        {"*", false, false},
        {"/cam/", false, false},
        {"//cam", false, false},
        {"/a.b", false, false},
        {"/../a", false, false},
        {"/a?b", false, false},
        {"/" + std::string(32, 'n'), true, false},
        {"/" + std::string(33, 'n'), false, false},
        {"/" + std::string(32, 'a') + "/" + std::string(32, 'b') + "/" + std::string(32, 'c'),
         false, false}, // with a name in place of "*" it would be too long
    };
    for (const auto &row : rows) {
        INFO(row.path);
        CHECK(source_publish_is(row.path.c_str()) == row.is_one);
        CHECK((row.is_one && source_publish_is_any(row.path.c_str())) == row.is_any);
    }
    CHECK(source_publish_matches("/cam", "/cam"));
    CHECK_FALSE(source_publish_matches("/cam", "/cams"));
    CHECK(source_publish_matches("/*", "/cam"));
    CHECK(source_publish_matches("/cams/*", "/cams/front"));
    for (const char *other :
         {"/cams", "/cams/", "/cams/a/b", "/cams/a b", "/cams/*", "/cam/a", "/"})
        CHECK_FALSE(source_publish_matches("/cams/*", other));
}
