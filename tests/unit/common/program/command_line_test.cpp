// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/program/command_line.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <string>
#include <vector>

#include "common/options/option_file.h"
#include "tests/unit/common/base/option_rows.h"
#include "tests/unit/temp_folder.hpp"

namespace
{

// The rows of the other tests, and the rows that only print.
const option_table &table_of_all()
{
    static std::vector<option_row> rows;
    static option_table table = option_rows_table;
    if (rows.empty()) {
        for (const option_row *row = option_rows; row->name; row++)
            rows.push_back(*row);
        rows.push_back(option_rows_make("version", nullptr, OPTION_VERSION, 0, "print it"));
        rows.push_back(option_rows_make("print-config", nullptr, OPTION_PRINT_CONFIG, 0, "print"));
        rows.push_back({});
        table.rows = rows.data();
    }
    return table;
}

struct parsed {
    options_result result;
    option_rows_options o{};
    std::string out, error;
    std::vector<std::string> words;
    char *file = nullptr;

    explicit parsed(std::vector<std::string> args, option_rows_options *section = nullptr)
        : words(std::move(args))
    {
        o.section = section;
        words.insert(words.begin(), "weir");
        std::vector<char *> argv;
        for (auto &word : words)
            argv.push_back(word.data());
        argv.push_back(nullptr);
        char *text;
        size_t size;
        char reason[512] = "";
        FILE *to = open_memstream(&text, &size);
        result = command_line_read(&table_of_all(), static_cast<int>(words.size()), argv.data(), &o,
                                   &file, to, reason, sizeof(reason));
        fclose(to);
        out.assign(text, size);
        free(text);
        error = reason;
    }
    ~parsed()
    {
        free(file);
    }
    parsed(const parsed &) = delete;
    parsed &operator=(const parsed &) = delete;
};

} // namespace

TEST_CASE("command_line: options of the file apply unless the command line sets them")
{
    temp_folder t;
    std::string name = t.write("a.conf", "rate = 5\nfile = from the file\ntwice = x\ntwice = y\n");
    parsed p({"--rate", "9", "--config", name, "here"});
    INFO(p.error);
    REQUIRE(p.result == OPTIONS_RUN);
    CHECK(p.o.rate == 9);
    CHECK(p.o.file == std::string("from the file"));
    CHECK(p.o.twice == 2);
    CHECK(p.o.source == std::string("here"));
    CHECK(p.file);

    parsed again({"--twice", "x", "--config", name}); // replaces those of the file
    REQUIRE(again.result == OPTIONS_RUN);
    CHECK(again.o.twice == 1);
    CHECK(again.o.rate == 5);

    parsed without({"--rate", "3"});
    REQUIRE(without.result == OPTIONS_RUN);
    CHECK(without.file == nullptr);
}

TEST_CASE("command_line: lines of a section apply to what the table says, after all others")
{
    temp_folder t;
    std::string name =
        t.write("a.conf", "[source a]\nfile = x\ntwice = x\n[weir-send]\nrate = 5\n");
    option_rows_options of_section{};
    parsed p({"--config", name, "--twice", "y"}, &of_section);
    INFO(p.error);
    REQUIRE(p.result == OPTIONS_RUN);
    CHECK(p.o.file == nullptr);
    CHECK(of_section.file == std::string("x"));
    CHECK(of_section.rate == 5);
    CHECK(of_section.twice == 0); // the command line's replaces it
    parsed unknown({"--config", name});
    CHECK(unknown.error == name + ":2: \"a\" is unknown");
}

TEST_CASE("command_line: texts that are printed instead of running")
{
    struct {
        std::vector<std::string> words;
        const char *begins;
    } const table[] = {
        {{"--help", "--rate", "99"}, "Usage: "}, // before the values are looked at
        {{"-h"}, "Usage: "},
        {{"--version"}, "weir-send "},
        {{"--rate", "9", "--print-config"}, "# "},
    };
    for (const auto &row : table) {
        parsed p(row.words);
        CAPTURE(row.words[0], p.out, p.error);
        CHECK(p.result == OPTIONS_DONE);
        CHECK(p.out.rfind(row.begins, 0) == 0);
        CHECK(p.file == nullptr);
    }
    CHECK(parsed({"--rate", "9", "--print-config"}).out.find("rate = 9\n") != std::string::npos);
}

TEST_CASE("command_line: an error names the option and its position")
{
    temp_folder t;
    std::string name = t.write("a.conf", "\nrate = 99\n"), none = t / "none.conf";
    std::string large = t.write("large.conf", std::string(OPTION_FILE_MAX + 1, '#'));
    struct {
        std::vector<std::string> words;
        std::string begins;
    } const table[] = {
        {{"--rate", "99"}, "--rate '99': "},
        {{"--config", name}, name + ":2: "},
        {{"--config", none}, "--config '" + none + "': cannot be read: No such file"},
        {{"--config", large}, "--config '" + large + "': cannot be read: is larger than 64 KiB"},
        {{"--config", t.path}, "--config '" + t.path + "': cannot be read: Is a directory"},
        {{"--nonsense"}, "unknown option '--nonsense'"},
    };
    for (const auto &row : table) {
        parsed p(row.words);
        CAPTURE(row.begins, p.error);
        CHECK(p.result == OPTIONS_BAD);
        CHECK(p.error.rfind(row.begins, 0) == 0);
        CHECK(p.out.empty());
        CHECK(p.file == nullptr);
    }
}

TEST_CASE("command_line: a text that cannot be printed is an error")
{
    char *file, help[] = "--help", name[] = "weir";
    char *argv[] = {name, help, nullptr};
    option_rows_options o{};
    char error[256] = "";
    FILE *full = fopen("/dev/full", "w");
    REQUIRE(full);
    CHECK(command_line_read(&option_rows_table, 2, argv, &o, &file, full, error, sizeof(error)) ==
          OPTIONS_BAD);
    CHECK(error == std::string("cannot print: No space left on device"));
    fclose(full);
}
