// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "common/base/err.h"
#include "common/program/whole_file.h"
#include "tests/unit/temp_folder.hpp"

TEST_CASE("whole_file: written completely or not at all")
{
    temp_folder t;
    const std::string first("a\0b\n", 4);
    REQUIRE(whole_file_write((t / "f").c_str(), first.data(), first.size()) == 0);
    CHECK(t.read("f") == first);
    REQUIRE(whole_file_write((t / "f").c_str(), "c", 1) == 0); // over an older one
    CHECK(t.read("f") == "c");
    CHECK(whole_file_write((t / "no/where").c_str(), "c", 1) == ERR_IO);
    std::filesystem::create_directory(t / "taken");
    CHECK(whole_file_write((t / "taken").c_str(), "c", 1) == ERR_IO);
    CHECK(whole_file_write(std::string(5000, 'x').c_str(), "c", 1) == ERR_IO);
    CHECK(temp_folder::logged().find("the name is too long") != std::string::npos);
    int files = 0;
    for (const auto &entry : std::filesystem::directory_iterator(t.path))
        files += entry.is_regular_file();
    CHECK(files == 1); // nothing temporary is left
}
