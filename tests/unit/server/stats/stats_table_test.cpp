// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/stats/stats_table.h"

#include <catch2/catch.hpp>

#include <cctype>
#include <cstddef>
#include <set>
#include <string>

#include "server/stats/stats.h"

namespace
{

const metric *const tables[] = {metrics_of_transport,    metrics_of_session, metrics_of_feedback,
                                metrics_of_relay,        metrics_of_audio,   metrics_of_encoder,
                                metrics_of_audio_encoder};

bool ends_in(const std::string &name, const std::string &end)
{
    return name.size() > end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
}

} // namespace

TEST_CASE("stats_table: names are unique and follow Prometheus's conventions")
{
    std::set<std::string> names;
    for (const metric *table : tables) {
        for (const metric *m = table; m->name; m++) {
            std::string name = m->name, help = m->help;
            CAPTURE(name);
            CHECK(names.insert(name).second);
            CHECK(name.find("weir_") == 0);
            for (char c : name)
                CHECK((islower(c) || c == '_'));
            CHECK((m->type == std::string(METRIC_COUNTER) || m->type == std::string(METRIC_GAUGE)));
            CHECK(ends_in(name, "_total") == (m->type == std::string(METRIC_COUNTER)));
            CHECK(help.back() == '.');
            CHECK(help.find_first_of("\\\n\"") == std::string::npos);
            CHECK(m->unit > 0);
        }
    }
    CHECK(names.size() > 30);
}

TEST_CASE("stats_table: a value of each kind, in the metric's unit")
{
    struct values {
        int i;
        uint64_t u64;
        size_t size;
        double d;
        usec_t time;
        bool yes;
    } const v = {-3, 1ull << 40, 7, 2.5, 1500000, true};
    struct {
        metric m;
        double value;
    } const table[] = {
        {{"", "", "", offsetof(values, i), METRIC_INT, 2}, -6},
        {{"", "", "", offsetof(values, u64), METRIC_U64, 1}, 1099511627776.0},
        {{"", "", "", offsetof(values, size), METRIC_SIZE, 1}, 7},
        {{"", "", "", offsetof(values, d), METRIC_DOUBLE, 0.125}, 0.3125},
        {{"", "", "", offsetof(values, time), METRIC_USEC, 1e-6}, 1.5},
        {{"", "", "", offsetof(values, yes), METRIC_BOOL, 1}, 1},
    };
    for (const auto &row : table)
        CHECK(metric_read(&row.m, &v) == Approx(row.value));
}
