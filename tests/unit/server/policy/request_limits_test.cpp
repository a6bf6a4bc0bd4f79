// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/request_limits.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace
{

// All rows, by what the code itself enumerates: a method, a parameter or a kind of RTCP that is new
// there has none here.
std::vector<const request_limit *> all_rows()
{
    std::vector<const request_limit *> rows;
    for (int i = 0; i <= RTSP_RECORD; i++)
        rows.push_back(request_limit_of_method((rtsp_method)i));
    for (int i = 0; i < PARAMETER_COUNT; i++)
        rows.push_back(request_limit_of_parameter((rtsp_parameter)i));
    for (int i = 0; i <= RTCP_IS_OTHER; i++)
        rows.push_back(request_limit_of_rtcp((rtcp_kind)i));
    for (int i = 0; request_limit_of_other(i); i++)
        rows.push_back(request_limit_of_other(i));
    return rows;
}

// The folder of the sources, above the one in which the test was built. __FILE__ may be relative to
// that.
std::filesystem::path source_root()
{
    namespace fs = std::filesystem;
    for (fs::path at = fs::read_symlink("/proc/self/exe"); at != at.root_path();) {
        at = at.parent_path();
        if (fs::exists(at / __FILE__))
            return (at / __FILE__).parent_path() / "../../../..";
    }
    return {};
}

} // namespace

TEST_CASE("request_limits: whatever a viewer can repeat has a row that says what bounds it")
{
    const auto root = source_root();
    REQUIRE(std::filesystem::exists(root / "server/policy/request_limits.c"));
    std::set<std::string> names;
    int i = 0;
    for (const request_limit *row : all_rows()) {
        CAPTURE(i++);
        REQUIRE(row);
        INFO(row->name);
        CHECK(std::string(row->name) != "");
        CHECK(std::string(row->bound) != "");
        // A row that costs more than its answer has a limit here, or in a file that exists.
        bool is_here = std::string(row->where).empty();
        if (is_here && row->cost != REQUEST_COSTS_ANSWER)
            CHECK((row->interval > 0 && row->burst > 0));
        if (!is_here) {
            CHECK(row->interval == 0);
            CHECK(std::filesystem::exists(root / row->where));
        }
        CHECK(names.insert(row->name).second);
    }
    CHECK(names.size() > 40);
}

TEST_CASE("request_limits: the names of the code's own tables are those of the rows")
{
    for (int i = 0; i <= RTSP_RECORD; i++)
        if (i != RTSP_UNKNOWN) {
            REQUIRE(request_limit_of_method((rtsp_method)i));
            CHECK(std::string(request_limit_of_method((rtsp_method)i)->name) ==
                  rtsp_method_name((rtsp_method)i));
        }
    std::set<int> named;
    for (int i = 0; rtsp_parameter_at(i); i++) {
        const rtsp_parameter_name *p = rtsp_parameter_at(i);
        INFO(p->name);
        REQUIRE(request_limit_of_parameter(p->parameter));
        named.insert(p->parameter);
        if (std::string(p->name) != "buffer") // another name of latency
            CHECK(std::string(request_limit_of_parameter(p->parameter)->name) == p->name);
        text name = {p->name, std::string(p->name).size()};
        CHECK((rtsp_setting_of(name, {"", 0}).parameter == p->parameter) == p->can_set);
        CHECK((rtsp_parameter_of(name) == p->parameter) == p->can_get);
        CHECK((p->can_set || p->can_get));
    }
    CHECK(named.size() == PARAMETER_COUNT - 1); // all but UNKNOWN have a name
    CHECK(rtsp_parameter_at(-1) == nullptr);
    CHECK(request_limit_of_parameter(PARAMETER_COUNT) == nullptr);
    CHECK(request_limit_of_other(-1) == nullptr);
}

TEST_CASE("request_limits: a budget allows its burst, and then one an interval")
{
    const request_limit *probe = request_limit_of_parameter(PARAMETER_CAPACITY_PROBE);
    REQUIRE(probe);
    CHECK(probe->interval == 100 * USEC_PER_MSEC);
    CHECK(probe->burst == 2);
    struct {
        int at_ms;
        bool may;
    } const table[] = {
        {7000, true},  {7000, true},  {7000, false},  {7001, false}, {7099, false},
        {7100, true},  {7100, false}, {7150, false},  {7200, true},  {7299, false},
        {60000, true}, {60000, true}, {60000, false}, // no more than the burst is saved up
    };
    request_budget b = {};
    for (const auto &row : table) {
        CAPTURE(row.at_ms);
        CHECK(request_budget_take(&b, probe, row.at_ms * USEC_PER_MSEC) == row.may);
    }
    // 4000 requests within two seconds.
    request_budget flood = {};
    int served = 0;
    for (int i = 0; i < 4000; i++)
        served += request_budget_take(&flood, probe, i * 2 * USEC_PER_SEC / 4000);
    CHECK(served >= 20);
    CHECK(served <= 22);
    request_budget unlimited = {};
    for (int i = 0; i < 1000; i++)
        CHECK(request_budget_take(&unlimited, request_limit_of_parameter(PARAMETER_CLOCK), 0));
}
