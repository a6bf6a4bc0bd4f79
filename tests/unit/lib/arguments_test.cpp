// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/arguments.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace
{

struct seen {
    std::vector<std::string> words;
    enum options_result result = OPTIONS_RUN;
};

enum options_result parse(int argc, char **argv, void *options, FILE *to, char *error, size_t cap)
{
    seen *s = static_cast<seen *>(options);
    s->words.assign(argv, argv + argc);
    CHECK(argv[argc] == nullptr);
    fputs("a help text", to);
    if (s->result == OPTIONS_BAD)
        snprintf(error, cap, "no such option");
    return s->result;
}

const char *const first[] = {"--headless", nullptr};
const char *const options[] = {"--level", "2", nullptr};

} // namespace

TEST_CASE("arguments: the words of a command line, copied")
{
    seen s;
    char error[100] = "";
    char url[] = "-rtsp://h/";
    arguments_parts parts = {};
    parts.program = "weir-play";
    parts.first = first;
    parts.options = options;
    parts.operand = url;
    parts.parse = parse;
    arguments a;
    REQUIRE(arguments_parse(&parts, &a, &s, error, sizeof(error)) == 0);
    using words = std::vector<std::string>;
    CHECK(s.words == words{"weir-play", "--headless", "--level", "2", "--", "-rtsp://h/"});
    url[0] = '?';
    CHECK(std::string(a.argv[5]) == "-rtsp://h/");
    arguments_free(&a);
    CHECK(a.argv == nullptr);
    arguments_free(&a); // twice is fine

    parts.first = nullptr;
    parts.options = nullptr;
    parts.operand = nullptr;
    REQUIRE(arguments_parse(&parts, &a, &s, error, sizeof(error)) == 0);
    CHECK(s.words == words{"weir-play"});
    arguments_free(&a);
}

TEST_CASE("arguments: what is wrong, and what only prints, is an error")
{
    seen s;
    char error[100] = "";
    arguments_parts parts = {};
    parts.program = "weir-play";
    parts.options = options;
    parts.parse = parse;
    arguments a;
    s.result = OPTIONS_BAD;
    CHECK(arguments_parse(&parts, &a, &s, error, sizeof(error)) == -1);
    CHECK(std::string(error) == "no such option");
    CHECK(a.argv == nullptr);
    s.result = OPTIONS_DONE;
    CHECK(arguments_parse(&parts, &a, &s, error, sizeof(error)) == -1);
    CHECK(std::string(error).find("--help") == 0);
    CHECK(a.argv == nullptr);
}
