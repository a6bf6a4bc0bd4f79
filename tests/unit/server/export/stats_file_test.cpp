// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/export/stats_file.h"

#include <catch2/catch.hpp>

#include <jansson.h>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tests/unit/temp_folder.hpp"

namespace
{

std::unique_ptr<stats> make()
{
    auto f = std::make_unique<stats>();
    f->age = 1250000;
    f->stream_count = f->session_count = 1;
    snprintf(f->sessions[0].id, sizeof(f->sessions[0].id), "abc");
    return f;
}

std::vector<std::string> lines_of(const std::string &text)
{
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

} // namespace

TEST_CASE("stats_file: a line per second and session, and one at the end")
{
    temp_folder t;
    stats_file *s = stats_file_open((t / "stats").c_str());
    REQUIRE(s);
    auto f = make();
    stats_file_write(s, f.get(), &f->sessions[0]);
    CHECK(lines_of(t.read("stats")).size() == 1); // a reader can follow
    f->http = {true, 3, 1, 20, 4000};
    stats_file_write_http(s, f.get());
    stats_file_end(s, 2500000);
    stats_file_close(s);
    auto lines = lines_of(t.read("stats"));
    REQUIRE(lines.size() == 3);
    CHECK(lines[1] == R"({"t":1.25,"http":{"connections":3,"waiting_requests":1,"requests":20,)"
                      R"("sent_bytes":4000}})");
    lines.erase(lines.begin() + 1);
    CHECK(lines[0].find(R"({"t":1.25,"session":"abc",)") == 0);
    CHECK(lines[1].find(R"({"event":"end","t":2.5,"cpu":{"user":)") == 0);
    for (const auto &line : lines) {
        json_t *o = json_loads(line.c_str(), 0, nullptr);
        CHECK(o);
        json_decref(o);
    }
    CHECK(temp_folder::logged().empty());
    stats_file_close(nullptr);
}

TEST_CASE("stats_file: a full disk ends the file, not the program")
{
    temp_folder t;
    CHECK(stats_file_open((t / "no/where").c_str()) == nullptr);
    temp_folder::forget_logged();
    stats_file *s = stats_file_open("/dev/full");
    REQUIRE(s);
    auto f = make();
    for (int i = 0; i < 3; i++)
        stats_file_write(s, f.get(), &f->sessions[0]);
    stats_file_end(s, 0);
    stats_file_close(s);
    CHECK(temp_folder::logged() ==
          "cannot write stats: No space left on device; continuing without\n");
}
