// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/options/option_print.h"

#include <catch2/catch.hpp>
#include <string>

#include "common/options/option_file.h"
#include "tests/unit/common/base/option_rows.h"

namespace
{
std::string config(const option_settings &said, const option_table &table = option_rows_table)
{
    char text[4096];
    put out = put_into(text, sizeof(text));
    option_print_config(&table, &said, &out);
    REQUIRE_FALSE(out.full);
    return text;
}
} // namespace

TEST_CASE("option print: help")
{
    char text[4096];
    put out = put_into(text, sizeof(text));
    option_print_help(&option_rows_table, &out);
    CHECK(std::string(text) ==
          "Usage: weir-send [OPTION]... [SOURCE]\n"
          "\n"
          "Does it.\n"
          "\n"
          "Source:\n"
          "  SOURCE                   what it is (default: nothing)\n"
          "\n"
          "Numbers:\n"
          "  -r, --rate N             how fast (default: 4)\n"
          "      --wait SECONDS       how long, which takes so many words to tell that they do not "
          "fit in\n"
          "                           one line of it\n"
          "      --delay MS           how late; 50 is little\n"
          "\n"
          "Words:\n"
          "      --file FILE          where\n"
          "      --picture FILE.png   a picture\n"
          "  -l, --loop               again\n"
          "      --twice LETTER       letters\n"
          "        x                  the first letter\n"
          "      --retry              try again\n"
          "      --no-retry           give up\n"
          "      --seed N             of chance\n"
          "\n"
          "Keys:\n"
          "  a=N                      how many\n"
          "  COMMAND                  the first word\n"
          "  x                        the first letter\n"
          "      --config FILE        options from a file\n"
          "  -h, --help               print this\n"
          "\n"
          "The end.\n");
}

TEST_CASE("option print: a configuration of defaults and of given values")
{
    std::string text = config({});
    CHECK_THAT(text, Catch::Contains("\n[weir-send]\n\n# what it is\n#source = nothing\n"));
    CHECK_THAT(text, Catch::Contains("\n# how fast\n#rate = 4\n"));
    CHECK_THAT(text, Catch::Contains("\n# how late; 50 is little\n#delay = MS\n"));
    CHECK_THAT(text, Catch::Contains("\n# again\n#loop = false\n"));
    CHECK_THAT(text, Catch::Contains("\n# try again\n#retry = true|false\n"));
    CHECK_THAT(text, !Catch::Contains("no-retry"));
    CHECK_THAT(text, !Catch::Contains("version"));
    CHECK_THAT(text, !Catch::Contains("key"));

    const option_row *rate = option_table_find(&option_rows_table, "rate");
    const option_row *twice = option_table_find(&option_rows_table, "twice");
    const option_row *loop = option_table_find(&option_rows_table, "loop");
    option_settings said = {{{rate, "7", 0, nullptr},
                             {twice, "x", 0, nullptr},
                             {twice, "y", 0, nullptr},
                             {loop, nullptr, 0, nullptr}},
                            4};
    text = config(said);
    CHECK_THAT(text, Catch::Contains("\nrate = 7\n"));
    CHECK_THAT(text, Catch::Contains("\ntwice = x\ntwice = y\n"));
    CHECK_THAT(text, Catch::Contains("\nloop = true\n"));

    // An option that is not a list may be repeated on a command line, but occurs once in a file.
    said = {{{rate, "7", 0, nullptr},
             {loop, nullptr, 0, nullptr},
             {rate, "8", 0, nullptr},
             {loop, "false", 0, nullptr}},
            4};
    text = config(said);
    CHECK_THAT(text, Catch::Contains("\n# how fast\nrate = 8\n\n"));
    CHECK_THAT(text, Catch::Contains("\n# again\nloop = false\n\n"));
}

TEST_CASE("option print: a configuration shows no password")
{
    const option_row rows[] = {option_rows_make("push", "URL", OPTION_CUSTOM, 0, "to a server",
                                                [](option_row &row) {
                                                    row.read = option_rows_source;
                                                    row.hides_user = true;
                                                }),
                               {}};
    option_table table = option_rows_table;
    table.rows = rows;
    const struct {
        const char *value, *printed;
    } cases[] = {
        {"rtsp://joe:p@ss@host/live", "\n#push = ...@host/live\n"},
        {"rtsp://joe@host/live", "\n#push = ...@host/live\n"},
        {"rtsp://host/live", "\npush = rtsp://host/live\n"},
        {"@/etc/weir/push", "\npush = @/etc/weir/push\n"},
        {"@/etc/weir@home/push", "\npush = @/etc/weir@home/push\n"},
    };
    for (const auto &c : cases) {
        option_settings said = {{{rows, c.value, 0, nullptr}}, 1};
        CHECK_THAT(config(said, table), Catch::Contains(c.printed));
        CHECK_THAT(config(said, table), !Catch::Contains("joe"));
    }
}

TEST_CASE("option print: any value can be read back")
{
    const option_row *file = option_table_find(&option_rows_table, "file");
    for (const char *value : {"",   "a",     " a",    "a ",   "a b",      "a#b",      "a #b",
                              "#a", "a\t#b", "\"a\"", "a\"b", "a\\",      "\\",       "a\nb",
                              "\r", "\t",    "a = b", "[x]",  " \"\\\n#", "\xc3\xa4", "\x01"}) {
        CAPTURE(value);
        option_settings said = {{{file, value, 0, nullptr}}, 1};
        std::string text = config(said);
        char error[256] = "";
        option_settings back;
        REQUIRE(option_file_read(&option_rows_table, "f", text.data(), text.size(), &back, error,
                                 sizeof(error)) == 0);
        REQUIRE(back.count == 1);
        CHECK(back.items[0].row == file);
        CHECK(std::string(back.items[0].value) == value);
    }
}

TEST_CASE("option print: sections come last and can be read back")
{
    const option_row *file = option_table_find(&option_rows_table, "file");
    const option_row *twice = option_table_find(&option_rows_table, "twice");
    option_settings said = {{{file, "a", 1, "yard"},
                             {file, "all", 0, nullptr},
                             {twice, "x", 2, "front"},
                             {twice, "y", 3, "yard"},
                             {file, "b", 4, "yard"}},
                            5};
    std::string text = config(said);
    CHECK_THAT(text, Catch::Contains("\nfile = all\n"));
    CHECK_THAT(text, Catch::EndsWith("\n[source yard]\ntwice = y\nfile = b\n"
                                     "\n[source front]\ntwice = x\n"));
    char error[256] = "";
    option_settings back;
    REQUIRE(option_file_read(&option_rows_table, "f", text.data(), text.size(), &back, error,
                             sizeof(error)) == 0);
    REQUIRE(back.count == 4);
    CHECK(back.items[3].section == std::string("front"));
}
