// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/export/control_body.h"

#include <catch2/catch.hpp>
#include <jansson.h>

#include <cstring>
#include <set>
#include <string>

#include "server/export/embedded.h"

static const int HOUR = 3600, DAY = 24 * HOUR;

TEST_CASE("control_body: what a task takes")
{
    struct {
        control_task task;
        const char *body;
        bool good;
        control_task becomes;
    } const table[] = {
        {CONTROL_SET_LEVEL, R"({"level": 3})", true, CONTROL_SET_LEVEL},
        {CONTROL_SET_LEVEL, R"({"level": null})", false, CONTROL_SET_LEVEL},
        {CONTROL_SET_LEVEL, R"({"level": -1})", false, CONTROL_SET_LEVEL},
        {CONTROL_SET_LEVEL, R"({"level": 2147483647})", false, CONTROL_SET_LEVEL},
        {CONTROL_SET_LEVEL, R"({"level": 1, "x": 1})", false, CONTROL_SET_LEVEL},
        {CONTROL_SET_LEVEL, R"({"level": 1, "level": 1})", false, CONTROL_SET_LEVEL},
        {CONTROL_SET_LEVEL, R"({"source": "test:"})", false, CONTROL_SET_LEVEL},
        {CONTROL_SET_LEVEL, "[1]", false, CONTROL_SET_LEVEL},
        {CONTROL_SET_LEVEL, "", false, CONTROL_SET_LEVEL},
        {CONTROL_SET_SOURCE_LEVEL, R"({"level": null})", true, CONTROL_SET_SOURCE_LEVEL},
        {CONTROL_SET_SOURCE_LEVEL, R"({"source": "test:"})", true, CONTROL_SET_SOURCE},
        {CONTROL_SET_SOURCE_LEVEL, R"({"source": ""})", false, CONTROL_SET_SOURCE},
        {CONTROL_SET_SOURCE_LEVEL, R"({"source": "a b"})", false, CONTROL_SET_SOURCE},
        {CONTROL_SET_SOURCE_LEVEL, R"({"source": "a\r\nb"})", false, CONTROL_SET_SOURCE},
        {CONTROL_SET_SOURCE_LEVEL, R"({"source": "a\u0000b"})", false, CONTROL_SET_SOURCE},
        {CONTROL_SET_SOURCE_LEVEL, R"({"source": 1})", false, CONTROL_SET_SOURCE},
        {CONTROL_SET_SOURCE_LEVEL, R"({"record": true})", true, CONTROL_RECORD_SOURCE},
        {CONTROL_SET_SOURCE_LEVEL, R"({"record": 1})", false, CONTROL_RECORD_SOURCE},
        {CONTROL_SET_SOURCE_LEVEL, R"({"record": true, "level": 1})", false, CONTROL_RECORD_SOURCE},
        {CONTROL_SET_SOURCE_LEVEL, "{}", false, CONTROL_SET_SOURCE_LEVEL},
    };
    for (const auto &row : table) {
        INFO(row.task << " " << row.body);
        control_request r{};
        r.task = row.task;
        CHECK(control_body_is_read(r.task));
        CHECK((control_body_read(row.body, strlen(row.body), &r) == nullptr) == row.good);
        if (row.good)
            CHECK(r.task == row.becomes);
    }
}

TEST_CASE("control_body: invites")
{
    struct {
        const char *body;
        int64_t seconds; // 0: refused
        bool publish;
    } const table[] = {
        {R"({"path": "/a"})", CONTROL_INVITE_DAYS * DAY, false},
        {R"({"path": "/a", "right": "watch", "for": "90m"})", 90 * 60, false},
        {R"({"path": "/", "right": "publish", "for": "31d"})", 31 * DAY, true},
        {R"({"path": "/", "for": "32d"})", 0, false},
        {R"({"path": "/", "for": "ever"})", 0, false},
        {R"({"path": "/", "for": 1})", 0, false},
        {R"({"path": "/", "right": "control"})", 0, false},
        {R"({"path": "/", "right": null})", 0, false},
        {R"({"path": "a"})", 0, false},
        {R"({"path": "/a/../b"})", 0, false},
        {R"({"path": "/a?key=x"})", 0, false},
        {R"({"path": "/a", "x": 1})", 0, false},
        {R"({"right": "watch"})", 0, false},
    };
    for (const auto &row : table) {
        INFO(row.body);
        control_request r{};
        r.task = CONTROL_INVITE;
        bool good = control_body_read(row.body, strlen(row.body), &r) == nullptr;
        CHECK(good == (row.seconds != 0));
        if (good)
            CHECK((r.seconds == row.seconds && r.publish == row.publish));
    }
}

TEST_CASE("control_body: a source as long as it may be")
{
    for (size_t len : {size_t{CONTROL_SOURCE_MAX - 1}, size_t{CONTROL_SOURCE_MAX}}) {
        std::string body = "{\"source\": \"" + std::string(len, 'x') + "\"}";
        control_request r{};
        r.task = CONTROL_SET_SOURCE_LEVEL;
        bool good = control_body_read(body.data(), body.size(), &r) == nullptr;
        CHECK(good == (len < CONTROL_SOURCE_MAX));
    }
}

TEST_CASE("control_body: openapi.json has the routes of the program, and no others")
{
    std::set<std::string> described, offered;
    json_t *doc = json_loadb(openapi_json, openapi_json_len, JSON_REJECT_DUPLICATES, nullptr);
    REQUIRE(doc);
    const char *path, *method;
    json_t *methods, *operation;
    json_object_foreach(json_object_get(doc, "paths"), path, methods)
        json_object_foreach(methods, method, operation)
            described.insert(std::string(method) + " " + path);
    json_decref(doc);
    for (size_t i = 0; control_route_at(i); i++) {
        std::string name;
        for (const char *c = control_route_at(i)->method; *c; c++)
            name += static_cast<char>(*c - 'A' + 'a');
        offered.insert(name + " " + control_route_at(i)->path);
    }
    CHECK(offered.size() == 8);
    CHECK(described == offered);
}
