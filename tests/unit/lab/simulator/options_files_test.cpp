// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "common/base/err.h"
#include "lab/simulator/options.h"
#include "tests/unit/lab/parsed_options.hpp"
#include "tests/unit/temp_folder.hpp"

namespace
{

struct parsed : parsed_options<sim_options, sim_options_parse> {
    using parsed_options::parsed_options;
    ~parsed()
    {
        sim_options_destroy(&o);
    }
};

// A command line after its files of words were read.
struct expanded {
    words given;
    sim_options o{};
    int count;
    std::string error, all; // all: the words, each followed by a comma

    explicit expanded(words args) : given(std::move(args))
    {
        std::vector<char *> argv, list(SIM_OPTIONS_WORDS + 1);
        for (std::string &word : given)
            argv.push_back(word.data());
        argv.push_back(nullptr);
        char reason[256] = "";
        count = sim_options_expand(&o, static_cast<int>(given.size()), argv.data(), list.data(),
                                   reason, sizeof(reason));
        for (int i = 0; i < count; i++)
            all += std::string(list[static_cast<size_t>(i)]) + ",";
        error = reason;
    }
    ~expanded()
    {
        sim_options_destroy(&o);
    }
    expanded(const expanded &) = delete;
    expanded &operator=(const expanded &) = delete;
};

} // namespace

TEST_CASE("weir-sim's options: words, traces and sizes from files")
{
    temp_folder t;
    std::string trace = t.write("trace", "1\n2\n"), sizes = t.write("sizes", "1000\n2000\n");
    std::string scenario = t.write("scenario", "# two flows\n--link trace=" + trace +
                                                   "\n reno:n=3\tstream:via=udp,sizes=" + sizes);
    parsed p({"--scenario", scenario, "--seconds", "5"});
    INFO(p.err);
    REQUIRE(p.result == OPTIONS_RUN);
    CHECK(p.o.scenario.group_count == 2);
    CHECK(p.o.scenario.groups[0].n == 3);
    CHECK(p.o.duration == 5000000);
    CHECK(std::string(p.o.scenario.right_trace, p.o.scenario.right_trace_len) == "1\n2\n");
    CHECK(std::string(p.o.scenario.left_trace, p.o.scenario.left_trace_len) == "1\n2\n");
    CHECK(p.o.scenario.groups[1].sizes.count == 2);
}

TEST_CASE("weir-sim's options: a file's words replace its option")
{
    temp_folder t;
    struct {
        const char *text, *words;
    } const table[] = {
        {"", "a,z,"},
        {"b", "a,b,z,"},
        {"  b\tc\r\nd  \n", "a,b,c,d,z,"},
        {"# nothing", "a,z,"},
        {"b # c d\n# e\nf", "a,b,f,z,"},
        {"b#c", "a,b#c,z,"}, // a comment begins where a word may
    };
    for (const auto &row : table) {
        CAPTURE(row.text);
        expanded e({"a", "--scenario", t.write("words", row.text), "z"});
        CHECK(e.all == row.words);
        CHECK(e.error.empty());
    }
}

TEST_CASE("weir-sim's options: unusable files of words")
{
    temp_folder t;
    std::string many;
    for (int i = 0; i <= SIM_OPTIONS_WORDS; i++)
        many += "w ";
    std::string one = t.write("one", "b"), full = t.write("many", many);
    std::string binary = t.write("binary", std::string("b\0c", 3));
    struct {
        words args;
        int err;
        std::string error;
        bool is_logged;
    } const table[] = {
        {{"--scenario"}, ERR_MALFORMED, "--scenario requires a FILE and can be given once", false},
        {{"--scenario", one, "--scenario", one},
         ERR_MALFORMED,
         "--scenario requires a FILE and can be given once",
         false},
        {{"--scenario", binary}, ERR_MALFORMED, binary + ": not a text file", false},
        {{"--scenario", full}, ERR_RANGE, "at most 4096 words", false},
        {{"--scenario", t / "none"}, ERR_IO, "", true},
    };
    for (const auto &row : table) {
        temp_folder::forget_logged();
        expanded e(row.args);
        CAPTURE(row.error);
        CHECK(e.count == row.err);
        CHECK(e.error == row.error);
        CHECK(temp_folder::logged().empty() == !row.is_logged);
    }
}

TEST_CASE("weir-sim's options: a wrong line of a file of sizes is reported")
{
    temp_folder t;
    std::string sizes = t.write("sizes", "1000\nx\n");
    parsed p({"--link", "rate=1mbit", "stream:via=udp,sizes=" + sizes});
    CHECK(p.result == OPTIONS_BAD);
    CHECK(p.err.find(sizes + ", line 2: ") == 0);
    parsed none({"--link", "trace=" + (t / "none"), "reno"});
    CHECK(none.result == OPTIONS_BAD);
    CHECK(none.err.empty());
    CHECK(temp_folder::logged().find("cannot read " + (t / "none")) == 0);
}
