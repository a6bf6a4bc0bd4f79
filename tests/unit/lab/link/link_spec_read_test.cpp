// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "tests/unit/lab/link/parsed_link.hpp"

TEST_CASE("link_spec: rates and times")
{
    const struct {
        const char *text;
        double bps;
    } rates[] = {
        {"1kbit", 1e3},     {"1000bit", 1e3},  {"1.5mbit", 1.5e6},
        {"0.25gbit", 25e7}, {"100gbit", 1e11}, {"56.6kbit", 56600},
    };
    for (auto &r : rates) {
        INFO(r.text);
        CHECK(parsed(std::string("rate=") + r.text).rate.steps[0].bps == Approx(r.bps));
    }
    const struct {
        const char *text;
        usec_t us;
    } times[] = {
        {"0", 0},
        {"0ms", 0},
        {"7us", 7},
        {"0.4us", 0},
        {"0.5us", 1},
        {"12.5ms", 12500},
        {"1.000001s", 1000001},
        {"3600s", 3600000000},
    };
    for (auto &t : times) {
        INFO(t.text);
        CHECK(parsed(std::string("delay=") + t.text).delay == t.us);
    }
}
