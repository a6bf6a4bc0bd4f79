// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/policy/record_name.h"

#include <catch2/catch.hpp>

#include <string>

#include "common/base/err.h"

namespace
{

std::string made(const char *pattern, int copy = 1)
{
    const record_time t{2026, 3, 9, 7, 5, 0};
    char out[128];
    return record_name_make(pattern, &t, copy, out, sizeof(out)) ? "" : out;
}

std::string folder(const char *pattern)
{
    char out[32];
    return record_name_folder(pattern, out, sizeof(out)) ? "" : out;
}

} // namespace

TEST_CASE("record_name: the name of a source")
{
    struct {
        const char *pattern, *expanded;
        int err;
    } const table[] = {
        {"/d/%N_%Y.mkv", "/d/front_%Y.mkv", 0},
        {"/d/%N/%Y.mkv", "/d/front/%Y.mkv", 0},
        {"%N%N.mkv", "frontfront.mkv", 0},
        {"a%%N.mkv", "a%%N.mkv", ERR_NOT_FOUND},
        {"a%Y.mkv", "a%Y.mkv", ERR_NOT_FOUND},
        {"a%", "a%", ERR_NOT_FOUND},
        {"", "", ERR_NOT_FOUND},
        {"/a/path/that/does/not/fit/%N.mkv", nullptr, ERR_FULL},
    };
    for (const auto &row : table) {
        INFO(row.pattern);
        char out[24];
        CHECK(record_name_expand(row.pattern, "front", out, sizeof(out)) == row.err);
        if (row.expanded)
            CHECK(out == std::string(row.expanded));
    }
    CHECK(record_name_fault("%N.mkv")); // before it is expanded
}

TEST_CASE("record_name: which patterns are accepted")
{
    for (const char *good : {"a.mkv", "%Y-%m-%d_%H-%M-%S.mkv", "/var/lib/x/%H.mkv", "100%%.mkv"})
        CHECK_FALSE(record_name_fault(good));
    for (const char *bad : {"", ".mkv", "a.mp4", "a", "dir/", "/d/.mkv", ".a.mkv", "%Y/%m.mkv",
                            "%j.mkv", "%.mkv", "%y.mkv"})
        CHECK(record_name_fault(bad));
    CHECK(record_name_has_time("d/%Y.mkv"));
    CHECK_FALSE(record_name_has_time("d/a.mkv"));
    CHECK_FALSE(record_name_has_time("d/100%%.mkv"));
    CHECK_FALSE(record_name_has_time("%Y/a.mkv"));
}

TEST_CASE("record_name: names of a time")
{
    CHECK(made("d/%Y-%m-%d_%H-%M-%S.mkv") == "d/2026-03-09_07-05-00.mkv");
    CHECK(made("d/%Y-%m-%d_%H-%M-%S.mkv", 2) == "d/2026-03-09_07-05-00+2.mkv");
    CHECK(made("/a.mkv", 99) == "/a+99.mkv");
    CHECK(made("100%%-%d.mkv") == "100%-09.mkv");
    CHECK(made("x.mkv.mkv", 3) == "x.mkv+3.mkv");
    CHECK(made("d.mkv/a.mkv", 2) == "d.mkv/a+2.mkv");
    char small[4];
    const record_time t{};
    CHECK(record_name_make("a.mkv", &t, 1, small, sizeof(small)) == ERR_FULL);
}

TEST_CASE("record_name: which files a pattern names")
{
    const struct {
        const char *pattern, *name;
        bool matches;
    } rows[] = {
        {"d/%Y-%m-%d_%H-%M-%S.mkv", "2026-03-09_07-05-00.mkv", true},
        {"d/%Y-%m-%d_%H-%M-%S.mkv", "2026-03-09_07-05-00+2.mkv", true},
        {"d/%Y-%m-%d_%H-%M-%S.mkv", "2026-03-09_07-05-00+99.mkv", true},
        {"d/%Y-%m-%d_%H-%M-%S.mkv", "2026-03-09_07-05-00+100.mkv", false},
        {"d/%Y-%m-%d_%H-%M-%S.mkv", "2026-03-09_07-05-00+1.mkv", false},
        {"d/%Y-%m-%d_%H-%M-%S.mkv", "2026-03-09_07-05-00+02.mkv", false},
        {"d/%Y-%m-%d_%H-%M-%S.mkv", "2026-03-09_07-05-00+.mkv", false},
        {"d/%Y-%m-%d_%H-%M-%S.mkv", "2026-03-09_07-05-00 (2).mkv", false},
        {"d/%Y-%m-%d_%H-%M-%S.mkv", "2026-13-09_07-05-00.mkv", false},
        {"d/%Y-%m-%d_%H-%M-%S.mkv", "2026-3-9_07-05-00.mkv", false},
        {"d/%Y-%m-%d_%H-%M-%S.mkv", "2026-03-09_24-05-00.mkv", false},
        {"d/%Y-%m-%d_%H-%M-%S.mkv", "2026-03-09_07-05-00.mkv.bak", false},
        {"d/%Y-%m-%d_%H-%M-%S.mkv", "x2026-03-09_07-05-00.mkv", false},
        {"d/%Y-%m-%d_%H-%M-%S.mkv", "", false},
        {"%Y-%m.mkv", "2026-03-12.mkv", false},
        {"cam-%d.mkv", "cam-31.mkv", true},
        {"cam-%d.mkv", "cam-00.mkv", false},
        {"cam-%d.mkv", "holiday.mkv", false},
        {"100%%.mkv", "100%.mkv", true},
        {"100%%.mkv", "100%%.mkv", false},
        {"a.mkv", "a.mkv", true},
        {"a.mkv", "b.mkv", false},
    };
    for (const auto &row : rows) {
        INFO(row.pattern << " " << row.name);
        CHECK(record_name_matches(row.pattern, row.name) == row.matches);
    }
}

TEST_CASE("record_name: each name that is made matches its pattern")
{
    for (const char *pattern : {"%Y-%m-%d_%H-%M-%S.mkv", "a.mkv", "100%%-%H.mkv"})
        for (int copy : {1, 2, 99})
            CHECK(record_name_matches(pattern, made(pattern, copy).c_str()));
}

TEST_CASE("record_name: the folder")
{
    CHECK(folder("a.mkv") == ".");
    CHECK(folder("d/e/a.mkv") == "d/e");
    CHECK(folder("/a.mkv") == "/");
    CHECK(folder("/d/a.mkv") == "/d");
    CHECK(folder("0123456789012345678901234567890123/a.mkv") == "");
}

TEST_CASE("record name: the time of a name")
{
    struct record_time t;
    REQUIRE(record_name_time("d/%Y-%m-%d_%H-%M-%S.mkv", "2026-11-24_09-05-59+2.mkv", &t));
    CHECK((t.year == 2026 && t.month == 11 && t.day == 24));
    CHECK((t.hour == 9 && t.minute == 5 && t.second == 59));
    REQUIRE(record_name_time("%H.mkv", "07.mkv", &t));
    CHECK((t.year == 1970 && t.month == 1 && t.day == 1 && t.hour == 7 && t.minute == 0));
    CHECK_FALSE(record_name_time("%H.mkv", "27.mkv", &t));
}
