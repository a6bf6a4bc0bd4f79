// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/options/option_table.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "tests/unit/common/base/option_rows.h"

namespace
{
struct scanned {
    int err;
    std::string said; // "NAME=VALUE ..."; a switch that is on: "NAME"
    std::string error;
};

scanned scan(std::vector<std::string> args)
{
    args.insert(args.begin(), "prog");
    std::vector<char *> argv;
    for (auto &arg : args)
        argv.push_back(arg.data());
    argv.push_back(nullptr);
    option_settings said;
    char error[256] = "";
    scanned s{};
    s.err = option_table_scan(&option_rows_table, static_cast<int>(args.size()), argv.data(), &said,
                              error, sizeof(error));
    for (int i = 0; !s.err && i < said.count; i++) {
        const option_setting &one = said.items[i];
        s.said += (i ? " " : "") + std::string(one.row->name);
        if (one.value)
            s.said += "=" + std::string(one.value);
    }
    s.error = error;
    return s;
}

std::string apply(const char *name, const char *value, option_rows_options *o, int line = 0)
{
    char error[256] = "";
    option_setting s = {option_table_find(&option_rows_table, name), value, line, nullptr};
    REQUIRE(s.row);
    int err = option_setting_apply(&s, o, error, sizeof(error));
    CHECK((err != 0) == (error[0] != '\0'));
    return error;
}
} // namespace

TEST_CASE("option table: valid command lines")
{
    CHECK(scan({}).said == "");
    CHECK(scan({"--rate", "5", "-r6", "--rate=7"}).said == "rate=5 rate=6 rate=7");
    CHECK(scan({"--loop", "what", "--loop=false"}).said == "loop loop=false source=what");
    CHECK(scan({"-lr", "1"}).said == "loop rate=1");
    CHECK(scan({"--wa", "2"}).said == "wait=2"); // as getopt_long: any beginning that is clear
    CHECK(scan({"--", "--loop"}).said == "source=--loop");
    CHECK(scan({"--retry", "--no-retry"}).said == "retry retry=false");
    CHECK(scan({"--no-retry=false", "--no-retry=true"}).said == "retry=true retry=false");
    CHECK(scan({"--no-retry=yes"}).said ==
          "no-retry=yes"); // whose value option_setting_apply() refuses
}

TEST_CASE("option table: invalid command lines")
{
    const struct {
        std::vector<std::string> args;
        const char *error;
    } rows[] = {
        {{"--rate"}, "--rate requires a value"},
        {{"-r"}, "-r requires a value"},
        {{"--loop", "-x"}, "unknown option '-x'"},
        {{"-lx"}, "unknown option '-x'"},
        {{"--source", "x"}, "unknown option '--source'"},
        {{"--help=x"}, "unknown option '--help=x'; did you mean \"--help\"?"},
        {{"--lop"}, "unknown option '--lop'; did you mean \"--loop\"?"},
        {{"a", "b"}, "expects one SOURCE, but 'b' is a second one"},
        {{"-\xc3\xa4"}, "unknown option '-\xc3\xa4'"}, // a letter of two bytes
        {{"a", "-l\xc3\xa4", "-r", "1"}, "unknown option '-l\xc3\xa4'"},
        {{"a", "-\xe2\x80\x93loop"}, "unknown option '-\xe2\x80\x93loop'"},
    };
    for (const auto &row : rows) {
        scanned s = scan(row.args);
        CHECK(s.err == ERR_MALFORMED);
        CHECK(s.error == row.error);
    }
    std::vector<std::string> many(OPTION_SETTINGS_MAX, "-l");
    CHECK(scan(many).err == 0);
    many.emplace_back("-l");
    CHECK(scan(many).error == "at most 256 options");
}

TEST_CASE("option table: values of each kind")
{
    option_rows_options o{};
    CHECK(apply("rate", "10", &o) == "");
    CHECK(o.rate == 10);
    CHECK(apply("wait", "2.5", &o) == "");
    CHECK(o.wait == 2500000);
    CHECK(apply("delay", "50", &o) == "");
    CHECK(o.delay == 50000);
    CHECK(apply("file", "f", &o) == "");
    CHECK(std::string(o.file) == "f");
    CHECK(apply("picture", "a.png", &o) == "");
    CHECK(std::string(o.picture) == "a.png");
    CHECK(apply("loop", "false", &o) == "");
    CHECK_FALSE(o.loop);
    CHECK(apply("loop", nullptr, &o) == "");
    CHECK(o.loop);
    CHECK(apply("loop", "false", &o) == ""); // the last one holds
    CHECK_FALSE(o.loop);
    CHECK(apply("seed", "899999999999999999", &o) == "");
    CHECK(o.seed == 899999999999999999);
    o.retry = OPTION_UNSET;
    CHECK(apply("retry", "false", &o) == "");
    CHECK(o.retry == OPTION_OFF);
    CHECK(apply("retry", nullptr, &o) == "");
    CHECK(o.retry == OPTION_ON);
    CHECK(apply("twice", "x", &o) == "");
    CHECK(apply("twice", "y", &o) == "");
    CHECK(o.twice == 2);
}

TEST_CASE("option table: wrong values, and the allowed ones")
{
    const struct {
        const char *name, *value, *error;
    } rows[] = {
        {"rate", "0", "--rate '0': expects a number from 1 to 10"},
        {"rate", "11", "--rate '11': expects a number from 1 to 10"},
        {"rate", "", "--rate '': expects a number from 1 to 10"},
        {"rate", "5x", "--rate '5x': expects a number from 1 to 10"},
        {"rate", "99999999999999999999",
         "--rate '99999999999999999999': expects a number from 1 to "
         "10"},
        {"wait", "nan", "--wait 'nan': expects 0 to 3600 seconds"},
        {"wait", "-1", "--wait '-1': expects 0 to 3600 seconds"},
        {"delay", "0.5", "--delay '0.5': expects 50 to 30000 milliseconds"},
        {"seed", "900000000000000000",
         "--seed '900000000000000000': expects a whole number below 9e17"},
        {"seed", "-1", "--seed '-1': expects a whole number below 9e17"},
        {"seed", "1x", "--seed '1x': expects a whole number below 9e17"},
        {"file", "", "--file '': the file's name is empty"},
        {"picture", ".png", "--picture '.png': expects a file's name that ends in .png"},
        {"loop", "yes", "--loop 'yes': expects true or false"},
        {"retry", "yes", "--retry 'yes': expects true or false"},
        {"no-retry", "yes", "--no-retry 'yes': expects true or false"},
        {"twice", "z", "--twice 'z': expects x or y"},
        {"source", "", "SOURCE '': expects something"},
    };
    for (const auto &row : rows) {
        option_rows_options o{};
        CHECK(apply(row.name, row.value, &o) == row.error);
    }
    option_rows_options o{};
    CHECK(apply("rate", "0", &o, 3) == "rate '0': expects a number from 1 to 10");
}

TEST_CASE("option table: a word is the number of its place; a field of its own kind is read there")
{
    static const option_word words[] = {{"up", "on"}, {"down", nullptr}, {"off", "x"}, {}};
    struct options {
        int before, way, count;
    } o = {7, 7, 7};
    option_row row{}, custom{};
    row.name = "way";
    row.argument = "WAY";
    row.kind = OPTION_WORD;
    row.at = offsetof(options, way);
    row.words = words;
    custom.name = "count";
    custom.argument = "TEXT";
    custom.at = offsetof(options, count);
    custom.read = [](void *field, const char *value, char *, size_t) -> const char * {
        *static_cast<int *>(field) = (int)strlen(value);
        return nullptr;
    };
    char error[128];
    const auto apply_to = [&](const option_row &r, const char *value) {
        option_setting s = {&r, value, 0, nullptr};
        return option_setting_apply(&s, &o, error, sizeof(error));
    };
    for (int i = 0; i < 3; i++) {
        CHECK(apply_to(row, words[i].word) == 0);
        CHECK(o.way == i);
    }
    for (const char *wrong : {"", "u", "upp", "Up"}) {
        CAPTURE(wrong);
        CHECK(apply_to(row, wrong) == ERR_MALFORMED);
        CHECK(std::string(error) == "--way '" + std::string(wrong) + "': expects up, down or off");
    }
    CHECK(apply_to(custom, "four") == 0);
    CHECK(o.count == 4);
    CHECK(o.before == 7);
    const char *help;
    CHECK(std::string(option_row_word(&row, 0, &help)) == "up");
    CHECK(std::string(help) == "on");
    CHECK(std::string(option_row_word(&row, 1, &help)) == "down");
    CHECK(help == nullptr);
    CHECK(option_row_word(&row, 3, &help) == nullptr);
    CHECK(option_row_word(&custom, 0, &help) == nullptr);
}

TEST_CASE("option table: numbers in all notations")
{
    const struct {
        const char *text;
        int rate;           // 1 to 10; -1: refused
        usec_t wait, delay; // 0 to 3600 s, 50 to 30000 ms
    } rows[] = {
        {"1", 1, 1000000, -1},
        {"10", 10, 10000000, -1},
        {"11", -1, 11000000, -1},
        {"+5", 5, 5000000, -1},
        {"007", 7, 7000000, -1},
        {"49", -1, 49000000, -1},
        {"50", -1, 50000000, 50000},
        {"3600", -1, 3600000000, 3600000},
        {"3600.001", -1, -1, -1},
        {"30000", -1, -1, 30000000},
        {"30001", -1, -1, -1},
        {"0", -1, 0, -1},
        {"-0", -1, 0, -1},
        {"-1", -1, -1, -1},
        {".5", -1, 500000, -1},
        {"1e3", -1, 1000000000, -1},
        {"1e999", -1, -1, -1},
        {"99999999999999999999", -1, -1, -1},
        {"", -1, -1, -1},
        {" 5", -1, -1, -1},
        {"5 ", -1, -1, -1},
        {"\t5", -1, -1, -1},
        {"5\n", -1, -1, -1},
        {"0x5", -1, -1, -1},
        {"5k", -1, -1, -1},
        {"1,5", -1, -1, -1},
        {"nan", -1, -1, -1},
        {"inf", -1, -1, -1},
        {"e", -1, -1, -1},
        {".", -1, -1, -1},
        {"-", -1, -1, -1},
    };
    for (const auto &row : rows) {
        CAPTURE(row.text);
        option_rows_options o{};
        o.rate = -1;
        o.wait = o.delay = -1;
        for (const char *name : {"rate", "wait", "delay"}) {
            std::string error = apply(name, row.text, &o);
            CHECK((error.empty() || error.find("': expects ") != std::string::npos));
        }
        CHECK(o.rate == row.rate);
        CHECK(o.wait == row.wait);
        CHECK(o.delay == row.delay);
    }
}

TEST_CASE("option table: the nearest name")
{
    const struct {
        const char *name, *dashes, *near;
    } rows[] = {{"raet", "", "; did you mean \"rate\"?"},
                {"ppicturre", "", "; did you mean \"picture\"?"},
                {"piture", "", "; did you mean \"picture\"?"},
                {"pict", "--", "; did you mean \"--picture\"?"},
                {"tiwce", "", "; did you mean \"twice\"?"},
                {"config", "", ""}, // not of a file
                {"x", "", ""},
                {"", "", ""},
                {"fps", "", ""},
                {"sourc", "--", ""},
                {"sourc", "", "; did you mean \"source\"?"}};
    for (const auto &row : rows) {
        CAPTURE(row.name);
        char near[96];
        option_table_near(&option_rows_table, row.name, row.dashes, near, sizeof(near));
        CHECK(std::string(near) == row.near);
    }
}

TEST_CASE("option table: the log lists the options that were set")
{
    struct log_options {
        int other;
        log_filter filter;
    };
    const size_t at = offsetof(log_options, filter);
    const option_row log = option_rows_make("log", "LEVEL", OPTION_LOG, at, "what is told");
    const option_row quiet = option_rows_make("quiet", nullptr, OPTION_LOG_ALL, at, "errors",
                                              [](option_row &row) { row.min = LOG_ERROR; });
    log_options o = {7, log_all(LOG_INFO)};
    char error[256] = "";
    auto say = [&](const option_row &row, const char *value) {
        option_setting s = {&row, value, 0, nullptr};
        return option_setting_apply(&s, &o, error, sizeof(error));
    };
    CHECK(say(log, "warn,session=debug") == 0);
    CHECK(o.filter.level == LOG_WARN);
    CHECK(o.filter.count == 1);
    CHECK(say(quiet, "false") == 0);
    CHECK(o.filter.level == LOG_WARN);
    CHECK(say(quiet, nullptr) == 0);
    CHECK(o.filter.level == LOG_ERROR);
    CHECK(o.filter.count == 0);
    CHECK(say(log, "loud") == ERR_MALFORMED);
    CHECK(std::string(error) ==
          "--log 'loud': expects LEVEL[,MODULE=LEVEL...], levels error, warn, info or debug");
    CHECK(o.other == 7);
}
