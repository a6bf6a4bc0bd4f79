// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>

#include "common/program/url_argument.h"
#include "tests/unit/temp_folder.hpp"

TEST_CASE("url argument: itself, or the first line of @FILE")
{
    temp_folder t;
    char line[URL_ARGUMENT_MAX];
    const char *plain = "rtsp://h/live";
    CHECK(url_argument_read(plain, line) == plain);
    struct {
        std::string text;
        const char *read; // nullptr: refused
    } const table[] = {
        {"rtsp://h/live?key=K\n", "rtsp://h/live?key=K"},
        {"rtsp://h/live\r\nmore", "rtsp://h/live"},
        {"rtsp://h/live", "rtsp://h/live"},
        {"", nullptr},
        {std::string(URL_ARGUMENT_MAX - 1, 'x'), nullptr},
        {std::string(5000, 'x'), nullptr},
    };
    for (const auto &row : table) {
        const char *got = url_argument_read(("@" + t.write("url", row.text)).c_str(), line);
        REQUIRE((got != nullptr) == (row.read != nullptr));
        if (got)
            CHECK(std::string(got) == row.read);
    }
    CHECK(url_argument_read(("@" + (t / "none")).c_str(), line) == nullptr);
}
