// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/emulator/text_file.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <string>

#include "common/base/err.h"
#include "tests/unit/temp_folder.hpp"

TEST_CASE("text_file: the whole file, followed by a NUL")
{
    temp_folder folder;
    size_t size = GENERATE(0u, 1u, 65535u, 65536u, 65537u, 300000u);
    std::string written(size, 'x'), path = folder / "text";
    std::ofstream(path) << written;
    char *text;
    size_t len;
    REQUIRE(text_file_read(path.c_str(), &text, &len) == 0);
    CHECK(std::string(text, len) == written);
    CHECK(text[len] == '\0');
    free(text);
}

TEST_CASE("text_file: a missing file")
{
    temp_folder folder; // the log is its own
    char *text;
    size_t len;
    CHECK(text_file_read("/dev/null/file", &text, &len) == ERR_IO);
    CHECK(text == nullptr);
}
