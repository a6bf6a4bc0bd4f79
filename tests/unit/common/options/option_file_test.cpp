// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/options/option_file.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/unit/common/base/option_rows.h"

namespace
{
struct parsed {
    int err;
    std::string said; // "LINE NAME=VALUE;" each
    std::string error;
};

parsed parse(std::string text)
{
    option_settings said;
    char error[512] = "";
    parsed p{};
    p.err = option_file_read(&option_rows_table, "a.conf", text.data(), text.size(), &said, error,
                             sizeof(error));
    for (int i = 0; !p.err && i < said.count; i++)
        p.said += std::to_string(said.items[i].line) + " " +
                  (said.items[i].section ? said.items[i].section + std::string(".") : "") +
                  said.items[i].row->name + "=" + said.items[i].value + ";";
    p.error = error;
    return p;
}
} // namespace

TEST_CASE("option file: valid contents")
{
    const struct {
        const char *text, *said;
    } rows[] = {
        {"", ""},
        {"# nothing\n\n  \t\n", ""},
        {"rate = 5", "1 rate=5;"},
        {"\r\nrate=5\r\n", "2 rate=5;"},
        {"  rate\t=  5  # five\n", "1 rate=5;"},
        {"loop = true\nloop2 = x", nullptr},
        {"file = a b#c # d\n", "1 file=a b#c;"},
        {"file = # none\n", "1 file=;"},
        {"file =\nrate =", "1 file=;2 rate=;"},
        {"file = a=b", "1 file=a=b;"},
        {"file = \"a # \\\"b\\\\ \"  # c\n", "1 file=a # \"b\\ ;"},
        {"file = \"a\\nb\\c\"", "1 file=a\nb\\c;"},
        {"file = \"\"", "1 file=;"},
        {"twice = x\ntwice = y\ntwice = x\n", "1 twice=x;2 twice=y;3 twice=x;"},
        {"source = nothing\n", "1 source=nothing;"},
        {"no-retry = true", "1 retry=false;"},
        {"[weir-send]\nrate = 5\n[weir-play] # other\nvolume = 7\n[ weir", nullptr},
        {"rate = 5\n[weir-play]\nvolume = 7\n[weir-send]\nloop = false\n",
         "1 rate=5;5 loop=false;"},
        {"rate = 5\n[weir-proxy]\norigin = rtsp://a\n", "1 rate=5;"},
        {"[source a]\nfile = x\n[ source\tb ] # c\n[source b]\nfile=y\n", nullptr},
        {"rate = 5\n[source a]\nfile = x\n[source  b ] # c\nfile=y\ntwice=x\n[source a]\ntwice=y",
         "1 rate=5;3 a.file=x;5 b.file=y;6 b.twice=x;8 a.twice=y;"},
        {"file = x\n[source a]\nfile = y\n[weir-play]\nfile = z\n[weir-send]\nrate=5",
         "1 file=x;3 a.file=y;7 rate=5;"},
        {"\xef\xbb\xbfrate = 5\n", "1 rate=5;"}, // a byte order mark
        {"\xef\xbb\xbf[weir-send]\r\nrate = 5\r\n", "2 rate=5;"},
        {"rate = 5\n\xef\xbb\xbfloop = true\n", nullptr}, // at the beginning only
    };
    for (const auto &row : rows) {
        CAPTURE(row.text);
        parsed p = parse(row.text);
        CHECK((p.err == 0) == (row.said != nullptr));
        if (row.said)
            CHECK(p.said == row.said);
    }
}

TEST_CASE("option file: errors name the line and the allowed values")
{
    const struct {
        const char *text, *error;
    } rows[] = {
        {"\n\nraet = 5",
         "a.conf:3: \"raet\" is not an option of weir-send; did you mean \"rate\"?"},
        {"fps = 5",
         "a.conf:1: \"fps\" is not an option of weir-send; available: source rate wait delay "
         "file picture loop twice retry no-retry seed"},
        {"rate", "a.conf:1: expects NAME = VALUE, a [SECTION], or a comment after #"},
        {"= 5", "a.conf:1: expects the name of an option before the ="},
        {"a-name-that-no-option-has-for-it-is-too-long = 5",
         "a.conf:1: expects the name of an option before the ="},
        {"rate = 1\nrate = 2", "a.conf:2: \"rate\" is also in line 1; it can be given once"},
        {"retry = true\nno-retry = true",
         "a.conf:2: \"retry\" is also in line 1; it can be given once"},
        {"file = \"a", "a.conf:1: the value of \"file\" has no closing quote"},
        {"file = \"a\\\"", "a.conf:1: the value of \"file\" has no closing quote"},
        {"file = \"a\" b", "a.conf:1: only a comment may follow the quoted value of \"file\""},
        {"config = x", "a.conf:1: \"config\" is allowed on the command line only"},
        {"[send]", "a.conf:1: expects a section [weir-send], [weir-play], [weir-proxy] or "
                   "[source NAME]"},
        {"[weir-send", "a.conf:1: expects a section [weir-send], [weir-play], [weir-proxy] or "
                       "[source NAME]"},
        {"[weir-send] x", "a.conf:1: expects a section [weir-send], [weir-play], [weir-proxy] or "
                          "[source NAME]"},
        {"[source]", "a.conf:1: expects the name of a source: [source NAME]"},
        {"[sources a]", "a.conf:1: expects a section [weir-send], [weir-play], [weir-proxy] or "
                        "[source NAME]"},
        {"[source a]\nrate = 5",
         "a.conf:2: \"rate\" applies to the whole program: set it before the sections of sources"},
        {"[source a]\nfile = x\n[source a]\nfile = y",
         "a.conf:4: \"file\" is also in line 2; it can be given once"},
        {"[weir-play]\nvolume",
         "a.conf:2: expects NAME = VALUE, a [SECTION], or a comment after #"},
    };
    for (const auto &row : rows) {
        CAPTURE(row.text);
        parsed p = parse(row.text);
        CHECK(p.err == ERR_MALFORMED);
        CHECK(p.error == row.error);
    }
    CHECK(parse(std::string("file = a\0b", 10)).error ==
          "a.conf:1: contains a NUL byte: expects text");
    std::string text = "[weir-send]"; // what stands behind the text is no part of it
    option_settings said;
    char error[256] = "";
    CHECK(option_file_read(&option_rows_table, "a.conf", text.data(), text.size() - 1, &said, error,
                           sizeof(error)) == ERR_MALFORMED);
    std::string many;
    for (int i = 0; i <= OPTION_SETTINGS_MAX; i++)
        many += "twice = x\n";
    CHECK(parse(many).error == "a.conf:257: at most 256 options");
}

TEST_CASE("option file: a program without such sections ignores them")
{
    option_table table = option_rows_table;
    table.section = nullptr;
    option_settings said;
    char error[256] = "";
    std::string text = "rate = 5\n[source a]\nfile = x\nunknown = y\n[weir-send]\nloop = true";
    CHECK(option_file_read(&table, "a.conf", text.data(), text.size(), &said, error,
                           sizeof(error)) == 0);
    CHECK(said.count == 2);
}
