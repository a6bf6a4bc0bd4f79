// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/access/access_options.h"

#include <catch2/catch.hpp>
#include <string>

TEST_CASE("access options: how long a key is valid")
{
    struct {
        const char *text;
        int64_t seconds; // negative: refused
    } const table[] = {
        {"90m", 5400}, {"12h", 43200}, {"7d", 604800}, {"ever", 0},       {"36500d", 3153600000},
        {"", -1},      {"7", -1},      {"0d", -1},     {"7w", -1},        {"d", -1},
        {"-1d", -1},   {"7dd", -1},    {"36501d", -1}, {"999999999m", -1}};
    for (const auto &row : table) {
        INFO(row.text);
        char why[128];
        int64_t seconds = access_options_seconds(row.text);
        CHECK((row.seconds < 0 ? seconds < 0 : seconds == row.seconds));
        CHECK((access_options_read_for(nullptr, row.text, why, sizeof(why)) == nullptr) ==
              (row.seconds >= 0));
    }
}

TEST_CASE("access options: the path of an invitation")
{
    char why[128];
    for (const char *good : {"/", "/live", "/films/my%20film.mp4", "/films/", "metrics"}) {
        INFO(good);
        CHECK(access_options_read_path(nullptr, good, why, sizeof(why)) == nullptr);
    }
    for (const char *bad : {"", "live", "/a?b", "/a b", "/../a", "/a%2fb", "/a#b"}) {
        INFO(bad);
        CHECK(access_options_read_path(nullptr, bad, why, sizeof(why)) != nullptr);
    }
    access_options o = {};
    CHECK(access_options_conflict(&o) == nullptr);
    o.invite_for = "7d";
    CHECK(std::string(access_options_conflict(&o)) == "--for requires --invite PATH");
}
