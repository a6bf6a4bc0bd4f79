// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/traffic/report.h"

#include <catch2/catch.hpp>

#include <string>

#include "common/base/err.h"
#include "tests/unit/temp_folder.hpp"

namespace
{

const int64_t first_flows[] = {600, 400}, second_flows[] = {0};

void fill(report_spec *specs, int64_t bytes)
{
    specs[0] = {"mice:bytes=500", bytes, 2, 3, 1, first_flows, 2};
    specs[1] = {"cbr:rate=1mbit", 0, 0, 0, 0, second_flows, 1};
}

} // namespace

TEST_CASE("traffic report: a second's bytes are those since the last line")
{
    temp_folder t;
    std::string path = t / "stats";
    report *r = traffic_report_open(path.c_str(), 2);
    REQUIRE(r);
    report_spec specs[2];
    fill(specs, 700);
    traffic_report_second(r, specs, 1000400);
    fill(specs, 1000);
    traffic_report_second(r, specs, 2000600);
    traffic_report_end(r, specs, 2500000);
    CHECK(traffic_report_close(r) == 0);
    CHECK(t.read("stats") ==
          R"({"t":1.0,"specs":[{"spec":"mice:bytes=500","bytes":700,"active":2,"completed":3},)"
          R"({"spec":"cbr:rate=1mbit","bytes":0,"active":0,"completed":0}]})"
          "\n"
          R"({"t":2.001,"specs":[{"spec":"mice:bytes=500","bytes":300,"active":2,"completed":3},)"
          R"({"spec":"cbr:rate=1mbit","bytes":0,"active":0,"completed":0}]})"
          "\n"
          R"({"event":"end","t":2.5,"specs":[{"spec":"mice:bytes=500","bytes":1000,"completed":3,)"
          R"("failed":1,"flows":[600,400]},{"spec":"cbr:rate=1mbit","bytes":0,"completed":0,)"
          R"("failed":0,"flows":[0]}]})"
          "\n");
    CHECK(temp_folder::logged().empty());
}

TEST_CASE("traffic report: a file that cannot be written is reported once, and at the end")
{
    temp_folder t;
    CHECK(traffic_report_open((t / "no/where").c_str(), 1) == nullptr);
    CHECK(temp_folder::logged() == (t / "no/where") + ": No such file or directory\n");
    temp_folder::forget_logged();
    report *r = traffic_report_open("/dev/full", 2);
    REQUIRE(r);
    report_spec specs[2];
    fill(specs, 700);
    for (int i = 0; i < 3; i++)
        traffic_report_second(r, specs, i);
    CHECK(traffic_report_close(r) == ERR_IO);
    CHECK(temp_folder::logged() == "/dev/full is incomplete: No space left on device\n");
    CHECK(traffic_report_close(nullptr) == 0);
}
