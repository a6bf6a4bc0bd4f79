// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/simulator/report.h"

#include <jansson.h>

#include <cstdlib>

#include "../sim/simulation.hpp"

namespace
{

struct output {
    char *text = nullptr;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);
    ~output()
    {
        fclose(file);
        free(text);
    }
    std::string line(int n)
    {
        fflush(file);
        std::string rest(text, len);
        while (n-- > 0)
            rest.erase(0, rest.find('\n') + 1);
        return rest.substr(0, rest.find('\n'));
    }
};

struct measured {
    simulation world;
    std::vector<meter> meters;
    sim_report_run run{};

    measured(std::vector<std::string> groups, double seconds)
        : world("rate=1mbit,queue=droptail:20p,delay=10ms", std::move(groups))
    {
        world.run(seconds);
        meters.resize(world.s.count);
        for (auto &m : meters)
            meter_init(&m, 0);
        run = {&world.s, world.setup.get(), meters.data(), 0, (usec_t)(seconds * 1e6)};
    }
};

} // namespace

TEST_CASE("report: a flow's line, and null for unknown values")
{
    measured m({"cbr:rate=1200kbit"}, 2.5);
    output out;
    REQUIRE(sim_report_flows(out.file, &m.run));
    std::string line = out.line(0);
    INFO(line);
    CHECK(line.rfind(R"({"what":"flow","flow":0,"group":0,"start":0,"goodput_bps":)", 0) == 0);
    // 251 packets of 1500 bytes in 2.5 s; a whole number has no decimal point.
    CHECK(line.find(R"("sent_bps":1204800,)") != std::string::npos);
    CHECK(line.find(R"("burst_rate":null,)") != std::string::npos); // the meter took no sample
    CHECK(line.back() == '}');
}

TEST_CASE("report: a group's text is written as it was given")
{
    const char *typed[] = {"cbr", "a \"quote\" and a \\", "tab\t, line\n, \x01", "ol\xc3\xa9"};
    measured m({"cbr:rate=100kbit"}, 1);
    for (const char *text : typed) {
        m.world.setup->groups[0].text = text;
        output out;
        REQUIRE(sim_report_summary(out.file, &m.run));
        json_t *line = json_loads(out.line(0).c_str(), 0, nullptr);
        REQUIRE(line);
        CHECK(std::string(json_string_value(json_object_get(line, "text"))) == text);
        json_decref(line);
    }
    m.world.setup->groups[0].text = "\xff"; // no UTF-8
    output out;
    REQUIRE(sim_report_summary(out.file, &m.run));
    CHECK(out.line(0).rfind(R"({"what":"group","group":0,"text":"?","n":1,)", 0) == 0);
    CHECK(out.line(1).rfind(R"({"what":"link","hop":0,"to":"right","packets_in":)", 0) == 0);
    CHECK(out.line(2).rfind(R"({"what":"link","hop":0,"to":"left","packets_in":)", 0) == 0);
    CHECK(out.line(3).rfind(R"({"what":"run","seed":1,"seconds":1,"since":0,"flows":1,)", 0) == 0);
}

TEST_CASE("report: a file that cannot be written is an error")
{
    measured m({"cbr:rate=100kbit"}, 1);
    FILE *full = fopen("/dev/full", "w");
    REQUIRE(full);
    setvbuf(full, nullptr, _IONBF, 0);
    CHECK_FALSE(sim_report_flows(full, &m.run));
    CHECK_FALSE(sim_report_summary(full, &m.run));
    fclose(full);
}
