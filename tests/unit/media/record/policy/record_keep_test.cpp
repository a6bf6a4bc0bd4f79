// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/policy/record_keep.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "common/base/err.h"

namespace
{

const usec_t DAY = 24 * 3600 * USEC_PER_SEC;

// Deletes what is chosen of these files, whose ages are in days, and returns the names of the rest.
std::string rest(const char *keep, std::vector<std::pair<std::string, std::pair<int, int>>> files,
                 int64_t open = 0)
{
    record_keep k;
    REQUIRE(record_keep_parse(keep, &k) == 0);
    std::vector<recorded_file> list;
    for (auto &f : files)
        list.push_back(
            {f.first.data(), 1000 * DAY - f.second.first * DAY, f.second.second * 1000000LL});
    int gone = record_keep_choose(&k, list.data(), static_cast<int>(list.size()), open, 1000 * DAY);
    std::string left;
    for (size_t i = static_cast<size_t>(gone); i < list.size(); i++)
        left += list[i].name;
    return left;
}

} // namespace

TEST_CASE("record_duration_parse")
{
    usec_t t = 0;
    const struct {
        const char *text;
        usec_t seconds; // negative: the error
    } rows[] = {
        {"1s", 1},
        {"10m", 600},
        {"2h", 7200},
        {"7d", 604800},
        {"36500d", 3153600000},
        {"0s", ERR_MALFORMED},
        {"36501d", ERR_RANGE},
        {"", ERR_MALFORMED},
        {"10", ERR_MALFORMED},
        {"m", ERR_MALFORMED},
        {"-1m", ERR_MALFORMED},
        {"1.5h", ERR_MALFORMED},
        {"10 m", ERR_MALFORMED},
        {"10mm", ERR_MALFORMED},
        {"1GB", ERR_MALFORMED},
        {"99999999999d", ERR_MALFORMED},
    };
    for (const auto &row : rows) {
        INFO(row.text);
        int err = record_duration_parse(row.text, &t);
        CHECK((err ? err : t / USEC_PER_SEC) == row.seconds);
    }
}

TEST_CASE("record_keep_parse")
{
    record_keep k;
    REQUIRE(record_keep_parse("7d,20GB", &k) == 0);
    CHECK(k.age == 7 * DAY);
    CHECK(k.bytes == 20000000000);
    REQUIRE(record_keep_parse("500MB,12h", &k) == 0);
    CHECK(k.age == DAY / 2);
    CHECK(k.bytes == 500000000);
    REQUIRE(record_keep_parse("2TB", &k) == 0);
    CHECK(k.age == 0);
    CHECK(k.bytes == 2000000000000);
    for (const char *bad : {"", ",", "7d,", ",7d", "7d,8d", "1GB,1TB", "7", "20gb", "20G",
                            "7d 20GB", "7d,20GB,1h", "0GB", "0d", "9999999999TB"})
        CHECK(record_keep_parse(bad, &k) == ERR_MALFORMED);
}

TEST_CASE("record_keep: what is deleted")
{
    // name, {age in days, MB}
    std::vector<std::pair<std::string, std::pair<int, int>>> files = {
        {"c", {1, 10}}, {"a", {9, 10}}, {"b", {3, 10}}, {"d", {0, 10}}};
    CHECK(rest("36500d", files) == "abcd");
    CHECK(rest("7d", files) == "bcd");
    CHECK(rest("3d", files) == "bcd"); // 3 days old is not older
    CHECK(rest("2d", files) == "cd");
    CHECK(rest("40MB", files) == "abcd");
    CHECK(rest("39MB", files) == "bcd");
    CHECK(rest("20MB", files) == "cd");
    CHECK(rest("1MB", files) == "");
    CHECK(rest("7d,20MB", files) == "cd");
    CHECK(rest("2d,40MB", files) == "cd");
    CHECK(rest("40MB", files, 1) == "bcd"); // the one in progress counts
    CHECK(rest("40MB", files, 100000000) == "");
    CHECK(rest("7d", {}) == "");
    CHECK(rest("15MB", {{"y", {1, 10}}, {"x", {1, 10}}}) == "y"); // of one time, by name
}
