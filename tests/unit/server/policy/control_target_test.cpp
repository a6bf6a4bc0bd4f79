// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/control_target.h"

#include <catch2/catch.hpp>

#include <string>

TEST_CASE("control_target: methods and paths")
{
    struct {
        const char *method, *path;
        int status;
        control_task task;
        const char *session;
    } const table[] = {
        {"GET", "/control/sessions", 200, CONTROL_LIST_SESSIONS, ""},
        {"HEAD", "/control/sessions", 200, CONTROL_LIST_SESSIONS, ""},
        {"GET", "/control/sources", 200, CONTROL_LIST_SOURCES, ""},
        {"DELETE", "/control/sessions/12c5d49a67bf911f", 200, CONTROL_END_SESSION,
         "12c5d49a67bf911f"},
        {"PUT", "/control/sessions/a", 200, CONTROL_SET_LEVEL, "a"},
        {"POST", "/control/sessions", 405, CONTROL_LIST_SESSIONS, ""},
        {"DELETE", "/control/sources", 405, CONTROL_LIST_SOURCES, ""},
        {"GET", "/control/sessions/a", 405, CONTROL_LIST_SESSIONS, "a"},
        {"get", "/control/sessions", 405, CONTROL_LIST_SESSIONS, ""},
        {"GET", "/control", 404, CONTROL_LIST_SESSIONS, ""},
        {"GET", "/control/", 404, CONTROL_LIST_SESSIONS, ""},
        {"GET", "/control/sessions/", 404, CONTROL_LIST_SESSIONS, ""},
        {"DELETE", "/control/sessions/a/b", 404, CONTROL_LIST_SESSIONS, ""},
        {"DELETE", "/control/sessions/..", 200, CONTROL_END_SESSION, ".."},
        {"DELETE", "/control/sessions/1234567890123456789", 200, CONTROL_END_SESSION,
         "1234567890123456789"},
        {"DELETE", "/control/sessions/12345678901234567890", 404, CONTROL_LIST_SESSIONS, ""},
        {"DELETE", "/control/sessions/a b", 404, CONTROL_LIST_SESSIONS, ""},
        {"PUT", "/control/sources/front", 200, CONTROL_SET_SOURCE_LEVEL, ""},
        {"PUT", "/control/sources/a/b c", 200, CONTROL_SET_SOURCE_LEVEL, ""},
        {"DELETE", "/control/sources/front", 200, CONTROL_REMOVE_SOURCE, ""},
        {"POST", "/control/sources/front", 405, CONTROL_LIST_SESSIONS, ""},
        {"POST", "/control/invites", 200, CONTROL_INVITE, ""},
        {"GET", "/control/invites", 405, CONTROL_LIST_SESSIONS, ""},
        {"POST", "/control/invites/a", 404, CONTROL_LIST_SESSIONS, ""},
        {"GET", "/control/openapi.json", 200, CONTROL_DESCRIBE, ""},
        {"PUT", "/control/sources/", 404, CONTROL_LIST_SESSIONS, ""},
        {"PUT", "/control/sourcesfront", 404, CONTROL_LIST_SESSIONS, ""},
        {"GET", "/controlled", 404, CONTROL_LIST_SESSIONS, ""},
    };
    for (const auto &row : table) {
        INFO(row.method << " " << row.path);
        control_request r;
        char allow[CONTROL_ALLOW_MAX] = "";
        CHECK(control_target_read(row.method, row.path, &r, allow) == row.status);
        if (row.status != 404) {
            CHECK(r.session == std::string(row.session));
            CHECK(*allow != 0);
        }
        if (row.status == 200)
            CHECK(r.task == row.task);
    }
}

TEST_CASE("control_target: the path of a source")
{
    control_request r;
    char allow[CONTROL_ALLOW_MAX] = "";
    CHECK(control_target_read("PUT", "/control/sources/a/b c", &r, allow) == 200);
    CHECK(r.path == std::string("/a/b c"));
    CHECK(allow == std::string("DELETE, PUT"));
    std::string longest = "/" + std::string(CONTROL_PATH_MAX - 2, 'x');
    CHECK(control_target_read("PUT", ("/control/sources" + longest).c_str(), &r, allow) == 200);
    CHECK(r.path == longest);
    CHECK(control_target_read("PUT", ("/control/sources" + longest + "x").c_str(), &r, allow) ==
          404);
}

TEST_CASE("control_target: which paths are the interface's")
{
    CHECK(control_target_is("/control"));
    CHECK(control_target_is("/control/anything"));
    CHECK_FALSE(control_target_is("/controls"));
    CHECK_FALSE(control_target_is("/"));
    CHECK_FALSE(control_target_is("/x/control"));
}

TEST_CASE("control_target: pages of other origins")
{
    struct {
        const char *origin, *host;
        bool own;
    } const table[] = {
        {nullptr, "127.0.0.1:9464", true},
        {nullptr, nullptr, true},
        {"http://127.0.0.1:9464", "127.0.0.1:9464", true},
        {"HTTP://LOCALHOST:9464", "localhost:9464", true},
        {"http://127.0.0.1:9465", "127.0.0.1:9464", false},
        {"http://127.0.0.1", "127.0.0.1:9464", false},
        {"https://127.0.0.1:9464", "127.0.0.1:9464", false},
        {"http://evil.example", "127.0.0.1:9464", false},
        {"http://127.0.0.1:9464.evil.example", "127.0.0.1:9464", false},
        {"null", "127.0.0.1:9464", false},
        {"", "127.0.0.1:9464", false},
        {"http://127.0.0.1:9464", nullptr, false},
    };
    for (const auto &row : table) {
        INFO((row.origin ? row.origin : "-") << " " << (row.host ? row.host : "-"));
        CHECK(control_origin_is_own(row.origin, row.host) == row.own);
    }
}
