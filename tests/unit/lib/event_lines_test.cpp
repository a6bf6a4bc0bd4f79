// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/event_lines.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "../temp_folder.hpp"

namespace
{

using lines = std::vector<std::string>;

void collect(void *ctx, const char *line)
{
    static_cast<lines *>(ctx)->push_back(line);
}

void write(FILE *stream, const std::string &text)
{
    REQUIRE(fwrite(text.data(), 1, text.size(), stream) == text.size());
    REQUIRE(fflush(stream) == 0);
}

} // namespace

TEST_CASE("event lines: each line is one call, however it is cut when it is written")
{
    lines got;
    FILE *stream = event_lines_open(collect, &got, nullptr);
    REQUIRE(stream);
    write(stream, "{\"a\":1}\n{\"b\"");
    CHECK(got == lines{"{\"a\":1}"});
    write(stream, ":2");
    write(stream, "}\n\n{\"c\":3}\n{");
    CHECK(got == lines{"{\"a\":1}", "{\"b\":2}", "", "{\"c\":3}"});
    CHECK(fclose(stream) == 0);
    CHECK(got.size() == 4); // the incomplete one is dropped
}

TEST_CASE("event lines: a line that is too long is dropped, and the next one is whole")
{
    lines got;
    FILE *stream = event_lines_open(collect, &got, nullptr);
    REQUIRE(stream);
    std::string longest(EVENT_LINES_MAX - 1, 'x'), too_long(EVENT_LINES_MAX, 'y');
    write(stream, longest + "\n" + too_long + "\n" + "z\n");
    write(stream, too_long);
    write(stream, too_long + "\nz\n");
    CHECK(got == lines{longest, "z", "z"});
    fclose(stream);
}

TEST_CASE("event lines: a file gets the same bytes, and its error is the stream's")
{
    temp_folder folder;
    lines got;
    std::string name = folder / "events";
    FILE *stream = event_lines_open(collect, &got, fopen(name.c_str(), "w"));
    REQUIRE(stream);
    write(stream, "one\ntw");
    write(stream, "o\n");
    CHECK(fclose(stream) == 0);
    CHECK(got == lines{"one", "two"});
    CHECK(folder.read("events") == "one\ntwo\n");

    FILE *full = fopen("/dev/full", "w");
    REQUIRE(full);
    stream = event_lines_open(collect, &got, full);
    REQUIRE(stream);
    fputs("three\n", stream);
    CHECK(fflush(stream) != 0);
    CHECK(got.back() == "three");
    fclose(stream);
}
