// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/simulator/options.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <unistd.h>

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

} // namespace

TEST_CASE("weir-sim's options: defaults")
{
    parsed p({"--link", "rate=1mbit", "reno"});
    INFO(p.err);
    REQUIRE(p.result == OPTIONS_RUN);
    CHECK(p.o.scenario.group_count == 1);
    CHECK(p.o.scenario.hops == 1);
    CHECK(p.o.scenario.seed == 1);
    CHECK(p.o.scenario.left.has_rate); // as --link
    CHECK(p.o.duration == 100000000);
    CHECK(p.o.since == 0);
    CHECK(p.o.step == 1000000);
    CHECK_FALSE((p.o.quiet || p.o.till_ended || p.o.series || p.o.streams || p.o.arrivals));
}

TEST_CASE("weir-sim's options: given values, in any order")
{
    parsed p({"reno:n=2",
              "--link",
              "rate=1mbit",
              "--back",
              "",
              "--hops",
              "3",
              "--seconds=2.5",
              "--since",
              "0.25",
              "--seed",
              "7",
              "--arrivals",
              "1:a.csv",
              "--series",
              "s",
              "--step",
              "0.5",
              "--streams",
              "p",
              "--till-ended",
              "--quiet",
              "cbr:rate=1mbit"});
    INFO(p.err);
    REQUIRE(p.result == OPTIONS_RUN);
    CHECK(p.o.scenario.group_count == 2);
    CHECK(p.o.scenario.groups[0].n == 2);
    CHECK(p.o.scenario.groups[1].kind == GROUP_CBR);
    CHECK_FALSE(p.o.scenario.left.has_rate);
    CHECK(p.o.scenario.hops == 3);
    CHECK(p.o.scenario.seed == 7);
    CHECK(p.o.duration == 2500000);
    CHECK(p.o.since == 300000); // to 0.1 s
    CHECK(p.o.step == 500000);
    CHECK(p.o.arrivals_of == 1);
    CHECK(p.o.arrivals == std::string("a.csv"));
    CHECK(p.o.series == std::string("s"));
    CHECK(p.o.streams == std::string("p"));
    CHECK((p.o.till_ended && p.o.quiet));
}

TEST_CASE("weir-sim's options: errors, and the allowed values")
{
    temp_folder t;
    std::string scenario = t.write("scenario", "--scenario x");
    const struct {
        words args;
        std::string says;
    } rows[] = {
        {{}, "--link SPEC is required"},
        {{"--link", ""}, "a GROUP of flows is required"},
        {{"--link", "", "reno", "--seconds", "1", "--since", "2"}, "--since is after the end"},
        {{"--link", "banana"}, "--link 'banana': "},
        {{"lions"}, "GROUP 'lions': "},
        {{"--hops", "65"}, "--hops '65': expects a number from 1 to 64"},
        {{"--seconds", "0"}, "--seconds '0': expects 0.001 to 1000000 seconds"},
        {{"--step", "0.01"}, "--step '0.01': expects 0.1 to 1000000 seconds"},
        {{"--arrivals", "a.csv"}, "--arrivals 'a.csv': expects FLOW:FILE"},
        {{"--arrivals", "1:"}, "expects FLOW:FILE"},
        {{"--nonsense"}, "unknown option '--nonsense'"},
        {{"--scenario"}, "--scenario requires a FILE and can be given once"},
        {{"--scenario=x"}, "expects --scenario FILE, unabbreviated, and not within a FILE"},
        {{"--scenario", scenario}, "not within a FILE"},
        {words(SIM_OPTIONS_WORDS, "x"), "at most 4096 words"},
    };
    for (const auto &row : rows) {
        CAPTURE(row.says);
        parsed p(row.args);
        CHECK(p.result == OPTIONS_BAD);
        CHECK_THAT(p.err, Catch::Contains(row.says));
        CHECK(p.out.empty());
    }
}
