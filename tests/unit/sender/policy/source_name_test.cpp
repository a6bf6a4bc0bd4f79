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
