// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/policy/origin_url.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "common/base/err.h"

TEST_CASE("origin_url: the path of one origin, or the host in the path")
{
    struct {
        const char *origin; // nullptr: none
        std::string path;
        int err;
        const char *url;
    } const table[] = {
        {"rtsp://o", "/live", 0, "rtsp://o/live"},
        {"rtsp://o/", "/live", 0, "rtsp://o/live"},
        {"rtsp://o:554", "/", 0, "rtsp://o:554"},
        {"rtsp://o", "/a/b%20c.mp4/trackID=0", 0, "rtsp://o/a/b%20c.mp4"},
        {"rtsp://o", "/live/trackID=1", 0, "rtsp://o/live"},
        {"rtsp://o", "/live?level=3", 0, "rtsp://o/live"},
        {"rtsp://o", "/cam?res=1/trackID=0", 0, "rtsp://o/cam?res=1"},
        {"rtsp://o", "/a b", ERR_MALFORMED, nullptr},
        {"rtsp://o", "/a\r\nX: 1", ERR_MALFORMED, nullptr},
        {"rtsp://o", "/" + std::string(1100, 'x'), ERR_MALFORMED, nullptr},
        // What does not begin with a slash would continue the host's name, or its port.
        {"rtsp://o", ".evil/live", ERR_NOT_FOUND, nullptr},
        {"rtsp://o", ":99/live", ERR_NOT_FOUND, nullptr},
        {"rtsp://o:55", "4/live", ERR_NOT_FOUND, nullptr},
        {"rtsp://o", "RTSP://evil/live", ERR_NOT_FOUND, nullptr},
        {"rtsp://o", "", ERR_NOT_FOUND, nullptr},
        {"rtsp://o", "@evil/live", ERR_NOT_FOUND, nullptr},
        {"rtsp://o", "/@evil/live", ERR_MALFORMED, nullptr},
        {"rtsp://o", "//evil/live", ERR_MALFORMED, nullptr},
        {"rtsp://o/public", "/../private", ERR_MALFORMED, nullptr},
        {"rtsp://o/public", "/a/..", ERR_MALFORMED, nullptr},
        {"rtsp://o/public", "/a/%2e%2E/b", ERR_MALFORMED, nullptr},
        {"rtsp://o/public", "/a/.%2e?x", ERR_MALFORMED, nullptr},
        {"rtsp://o/public", "/./a", ERR_MALFORMED, nullptr},
        {"rtsp://o/public", "/a./b..?x=/../", 0, "rtsp://o/public/a./b..?x=/.."},
        // Paths that origins understand differently (request_path_test has all of them)
        {"rtsp://o/public", "/..%2fadmin", ERR_MALFORMED, nullptr},
        {"rtsp://o/public", "/x%2f..%2f..%2fadmin", ERR_MALFORMED, nullptr},
        {"rtsp://o/public", "/..\\admin", ERR_MALFORMED, nullptr},
        {"rtsp://o/public", "/..%5cadmin", ERR_MALFORMED, nullptr},
        {"rtsp://o/public", "/..;/admin", ERR_MALFORMED, nullptr},
        {"rtsp://o/public", "//admin", ERR_MALFORMED, nullptr},
        {"rtsp://o/public", "/%252e%252e/admin", ERR_MALFORMED, nullptr},
        {"rtsp://o/public", "/x%0d%0aX-Evil:%201", ERR_MALFORMED, nullptr},
        {"rtsp://o/public", "/a#/../admin", ERR_MALFORMED, nullptr},
        {"rtsp://o/public", "/cam;stream=1", 0, "rtsp://o/public/cam;stream=1"},
        {nullptr, "/good/..%2fadmin", ERR_MALFORMED, nullptr},
        {"rtsp://o/public", "/a?key=x/trackID=1/../b", ERR_MALFORMED, nullptr},
        {"rtsp://o/public", "/a?key=x#/../b", ERR_MALFORMED, nullptr},
        {nullptr, "/good/live", 0, "rtsp://good/live"},
        {nullptr, "/GOOD:554/live/trackID=0", 0, "rtsp://GOOD:554/live"},
        {nullptr, "/[::1]:9/live", 0, "rtsp://[::1]:9/live"},
        {nullptr, "/camera:554/live", 0, "rtsp://camera:554/live"},
        {nullptr, "/camera:22/live", ERR_UNSUPPORTED, nullptr},
        {nullptr, "/camera/live", ERR_UNSUPPORTED, nullptr}, // 8554
        {nullptr, "/other/live", ERR_UNSUPPORTED, nullptr},
        {nullptr, "/good.evil/live", ERR_UNSUPPORTED, nullptr},
        {nullptr, "/good@evil/live", ERR_MALFORMED, nullptr},
        {nullptr, "/good:x/live", ERR_MALFORMED, nullptr},
        {nullptr, "/", ERR_NOT_FOUND, nullptr},
        {nullptr, "", ERR_NOT_FOUND, nullptr},
        {nullptr, "//good/live", ERR_MALFORMED, nullptr},
    };
    for (const auto &row : table) {
        INFO(row.path);
        static origin_rules rules;
        rules = {};
        const char *reason;
        rules.has_origin = row.origin;
        if (row.origin)
            REQUIRE(url_parse(row.origin, &rules.origin, &reason) == 0);
        REQUIRE(origin_url_allow(&rules, "good") == nullptr);
        REQUIRE(origin_url_allow(&rules, "::1") == nullptr);
        REQUIRE(origin_url_allow(&rules, "camera:554") == nullptr);
        strcpy(rules.origin.user, "u");
        strcpy(rules.origin.password, "p");
        url out;
        CHECK(origin_url_of(&rules, row.path.c_str(), &out) == row.err);
        if (row.err)
            continue;
        CHECK(std::string(out.text) == row.url);
        CHECK(std::string(out.user) == (row.origin ? "u" : ""));
        CHECK(std::string(out.password) == (row.origin ? "p" : ""));
    }
}

TEST_CASE("origin_url: hosts that are allowed, and those that are none")
{
    struct {
        const char *text, *name; // name: nullptr: refused
        int port;
    } const table[] = {
        {"host", "host", 0},   {"host:1", "host", 1},     {"::1", "::1", 0},
        {"[::1]", "::1", 0},   {"[::1]:554", "::1", 554}, {"", nullptr, 0},
        {"host:", nullptr, 0}, {"host:x", nullptr, 0},    {"host:65536", nullptr, 0},
        {"a/b", nullptr, 0},   {"a?b", nullptr, 0},       {"u@h", nullptr, 0},
        {"a b", nullptr, 0},   {"[::1", nullptr, 0},
    };
    for (const auto &row : table) {
        INFO(row.text);
        static origin_rules rules;
        rules = {};
        const char *why = origin_url_allow(&rules, row.text);
        CHECK((why == nullptr) == (row.name != nullptr));
        CHECK(rules.host_count == (row.name ? 1 : 0));
        if (!row.name || !rules.host_count)
            continue;
        CHECK(std::string(rules.hosts[0].name) == row.name);
        CHECK(rules.hosts[0].port == row.port);
    }
    static origin_rules full;
    while (full.host_count < ORIGIN_URL_HOSTS)
        REQUIRE(origin_url_allow(&full, "h") == nullptr);
    CHECK(std::string(origin_url_allow(&full, "h")) == "at most 64 hosts");
}

TEST_CASE("origin_url: redirects lead to the origin's host, or to those that are allowed")
{
    static origin_rules rules;
    static url to;
    const char *reason;
    REQUIRE(url_parse("rtsp://o:554/base", &rules.origin, &reason) == 0);
    REQUIRE(origin_url_allow(&rules, "good") == nullptr);
    REQUIRE(origin_url_allow(&rules, "[2001:db8::1]:554") == nullptr);
    struct {
        const char *url;
        bool with_origin, without;
    } const table[] = {
        {"rtsp://O:99/x", true, false},
        {"rtsp://good/x", true, true},
        {"rtsp://GOOD:1/x", true, true},
        {"rtsp://evil/x", false, false},
        {"rtsp://o.evil/x", false, false},
        {"rtsp://o@evil/x", false, false},
        {"rtsp://[2001:db8::1]:554/", true, true},
        {"rtsp://[2001:db8::1]/", false, false},
    };
    for (const auto &row : table) {
        INFO(row.url);
        REQUIRE(url_parse(row.url, &to, &reason) == 0);
        rules.has_origin = true;
        CHECK(origin_url_may_follow(&rules, &to) == row.with_origin);
        rules.has_origin = false;
        CHECK(origin_url_may_follow(&rules, &to) == row.without);
    }
}

TEST_CASE("origin_url: later requests leave the query out")
{
    struct {
        const char *first, *path;
        bool same;
    } const table[] = {
        {"/live", "/live", true},
        {"/live", "/live/trackID=0", true},
        {"/live", "/live/", true},
        {"/live?x=1", "/live/trackID=1", true},
        {"/live?x=1", "/live?x=1/trackID=1", true},
        {"/live?x=1", "/live?x=2", false},
        {"/live", "/live?x=1", false},
        {"/live", "/lives", false},
        {"/a/b", "/a", false},
    };
    for (const auto &row : table) {
        INFO(row.first << " " << row.path);
        CHECK(origin_url_is_same(row.first, row.path) == row.same);
    }
}
