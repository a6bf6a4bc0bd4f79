// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/access_rules.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <string>

#include "common/base/err.h"
#include "common/wire/request_path.h"

namespace
{

struct reader {
    std::unique_ptr<access_rules> rules = std::make_unique<access_rules>();
    char error[256] = "";

    int read(const std::string &text)
    {
        return access_rules_read(rules.get(), text.data(), text.size(), error, sizeof(error));
    }
};

} // namespace

TEST_CASE("access rules: users and what they may do")
{
    reader r;
    INFO(r.error);
    REQUIRE(r.read("# who may watch\n"
                   "user = anna:$y$j9T$salt$hash\r\n"
                   "\n"
                   "  user=bob:$y$other\n"
                   "allow = anna /films watch\n"
                   "allow = anna /my%20cam/ watch\n"
                   "allow = bob / watch,metrics\n"
                   "allow = anna /cams publish\n"
                   "allow = * /public watch") == 0);
    CHECK(std::string(r.rules->users[0].hash) == "$y$j9T$salt$hash");
    CHECK(access_rules_find(r.rules.get(), "bob") == 1);
    CHECK(access_rules_find(r.rules.get(), "bobby") == ERR_NOT_FOUND);
    struct {
        int user;
        const char *path;
        unsigned rights;
    } const table[] = {
        {0, "films", ACCESS_WATCH},
        {0, "films/a.mp4", ACCESS_WATCH},
        {0, "films2", 0},
        {0, "film", 0},
        {0, "", 0},
        {0, "my cam", ACCESS_WATCH},
        {0, "public/x", ACCESS_WATCH},
        {0, "cams/front", ACCESS_PUBLISH},
        {1, "", ACCESS_WATCH | ACCESS_METRICS},
        {1, "anything/at/all", ACCESS_WATCH | ACCESS_METRICS},
        {ACCESS_EVERYBODY, "public", ACCESS_WATCH},
        {ACCESS_EVERYBODY, "films", 0},
    };
    for (const auto &row : table) {
        INFO(row.user << " " << row.path);
        CHECK(access_rules_rights(r.rules.get(), row.user, row.path) == row.rights);
    }
}

TEST_CASE("access rules: a fault is named with its line, and shows no hash")
{
    struct {
        const char *text, *fault;
    } const table[] = {
        {"user = anna\n", "line 1: expects user = NAME:HASH"},
        {"\n\nuser = anna:SECRET\n", "line 3: expects user = NAME:HASH"},
        {"user = :$y$SECRET\n", "expects user = NAME:HASH"},
        {"user = *:$y$SECRET\n", "expects user = NAME:HASH"},
        {"user = a:$y$1\nuser = a:$y$SECRET\n", "line 2: the user is there already"},
        {"allow = anna / watch\n", "no such user"},
        {"allow = * /x\n", "expects allow = USER PATH RIGHTS"},
        {"allow = * /x listen\n", "expects allow = USER PATH RIGHTS"},
        {"allow = * /x watch more\n", "expects allow = USER PATH RIGHTS"},
        {"allow = * x watch\n", "the path must be"},
        {"allow = * /a/../b watch\n", "the path must be"},
        {"allow = * /a%2fb watch\n", "the path must be"},
        {"allow = * /x metrics\n", "requires the path /"},
        {"allow = * / control\n", "the right control requires the path / and a user"},
        {"user = a:$y$SECRET\nallow = a /x watch,control\n",
         "line 2: the right control requires the path /"},
        {"path = /x\n", "expects a line user"},
        {"user = a:$y$\x01SECRET\n", "control characters"},
    };
    for (const auto &row : table) {
        INFO(row.text);
        reader r;
        CHECK(r.read(row.text) == ERR_MALFORMED);
        CHECK(std::string(r.error).find(row.fault) != std::string::npos);
        CHECK(std::string(r.error).find("SECRET") == std::string::npos);
    }
    reader many;
    std::string text;
    for (int i = 0; i <= ACCESS_USERS; i++)
        text += "user = u" + std::to_string(i) + ":$y$x\n";
    CHECK(many.read(text) == ERR_MALFORMED);
    CHECK(many.rules->user_count == ACCESS_USERS);
    reader rules;
    text.clear();
    for (int i = 0; i <= ACCESS_RULES; i++)
        text += "allow = * / watch\n";
    CHECK(rules.read(text) == ERR_MALFORMED);
    CHECK(rules.rules->rule_count == ACCESS_RULES);
    reader long_name;
    CHECK(long_name.read("user = " + std::string(64, 'n') + ":$y$x\n") == ERR_MALFORMED);
    reader long_path;
    CHECK(long_path.read("allow = * /" + std::string(256, 'n') + " watch\n") == ERR_MALFORMED);
}

TEST_CASE("access rules: the path of a request")
{
    struct {
        const char *given, *path; // nullptr: refused
    } const table[] = {
        {"/live", "live"},
        {"/live/", "live"},
        {"/live/trackID=1", "live"},
        {"/", ""},
        {"/films/my%20film.mp4", "films/my film.mp4"},
        {"/films//a", nullptr},
        {"/films/../a", nullptr},
        {"/films/%2e%2e/a", nullptr},
        {"/films%2Fa", nullptr},
        {"/a%00b", nullptr},
        {"live", nullptr},
        {"*", nullptr},
    };
    for (const auto &row : table) {
        INFO(row.given);
        char out[64];
        int err = request_path_decode(row.given, out, sizeof(out));
        CHECK(err == (row.path ? 0 : ERR_MALFORMED));
        if (row.path)
            CHECK(std::string(out) == row.path);
    }
    CHECK(access_path_is_below("", "x"));
    CHECK(access_path_is_below("a/b", "a/b"));
    CHECK(access_path_is_below("a/b", "a/b/c"));
    CHECK_FALSE(access_path_is_below("a/b", "a/bc"));
    CHECK_FALSE(access_path_is_below("a/b", "a"));
}
