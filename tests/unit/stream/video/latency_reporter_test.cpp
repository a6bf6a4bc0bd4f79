// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/video/latency_reporter.h"

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

namespace
{

struct rig {
    std::unique_ptr<qoe, void (*)(qoe *)> q{qoe_new("u", 0, 0), qoe_free};
    std::unique_ptr<latency_control> control = std::make_unique<latency_control>();
    latency_reporter r;
    std::vector<viewing_event> events;
    viewing_sink sink{q.get(), on_event, this};

    explicit rig(usec_t target)
    {
        latency_control_config config{};
        config.mode = target ? LATENCY_FIXED : LATENCY_AUTO;
        config.target = target;
        latency_control_init(control.get(), &config, 0);
        latency_reporter_init(&r);
    }
    static void on_event(void *ctx, const viewing_event *e)
    {
        static_cast<rig *>(ctx)->events.push_back(*e);
    }
    // The events of the kind that this one report makes.
    std::vector<viewing_event> report(viewing_kind kind, double speed, usec_t skipped = 0)
    {
        events.clear();
        live_steer s = {speed, skipped, false};
        latency_reporter_steered(&r, &sink, control.get(), 40000, &s, 1000);
        std::vector<viewing_event> of_kind;
        for (const viewing_event &e : events)
            if (e.kind == kind)
                of_kind.push_back(e);
        return of_kind;
    }
};

} // namespace

TEST_CASE("latency_reporter: a speed is told if it differs by more than 1 %, or is 1 again")
{
    rig w(0);
    struct {
        double speed;
        bool told;
    } rows[] = {{1, false},    {1.009, false}, {1.02, true}, {1.025, false},
                {1.031, true}, {1.03, false},  {1, true},    {1, false}};
    for (const auto &row : rows) {
        INFO(row.speed);
        auto e = w.report(VIEWING_SPEED, row.speed);
        REQUIRE(e.size() == 1);
        CHECK(e[0].speed.speed == row.speed);
        CHECK(e[0].speed.told == row.told);
    }
}

TEST_CASE("latency_reporter: a skip is reported with what it left out")
{
    rig w(0);
    CHECK(w.report(VIEWING_SKIP, 1).empty());
    auto e = w.report(VIEWING_SKIP, 1, 300000);
    REQUIRE(e.size() == 1);
    CHECK(e[0].media == 300000);
}

TEST_CASE("latency_reporter: a target that cannot be kept is reported once, when it is settled")
{
    rig w(200000);
    w.control->shares.kept = false;
    w.control->shares.buffer = 90000;
    CHECK(w.report(VIEWING_SHORT, 1).empty());
    w.control->settled = true;
    auto e = w.report(VIEWING_SHORT, 1);
    REQUIRE(e.size() == 1);
    CHECK(e[0].latency.target == 200000);
    CHECK(e[0].latency.buffer == 90000);
    CHECK(w.report(VIEWING_SHORT, 1).empty());
}

TEST_CASE("latency_reporter: the budget has the target, or waits until there is one")
{
    rig target(200000), none(0);
    auto e = target.report(VIEWING_BUDGET, 1);
    REQUIRE(e.size() == 1);
    CHECK(e[0].budget.target == 200000);
    CHECK(e[0].budget.mode == std::string("fixed"));
    CHECK(none.report(VIEWING_BUDGET, 1).empty()); // no frame has arrived
    live_arrival a = {0, true, 5000, 20000};
    latency_control_arrived(none.control.get(), &a, 30000);
    none.control->parts = {5000, 20000, 0, 0, 4000, 1000};
    none.control->wait = 12000;
    e = none.report(VIEWING_BUDGET, 1);
    REQUIRE(e.size() == 1);
    CHECK(e[0].budget.target == 38000);
    CHECK(e[0].budget.buffer == 13000);
    CHECK(e[0].budget.mode == std::string("auto"));
}

TEST_CASE(
    "latency_reporter: a budget is told if a part differs by 3 ms from the last that was told")
{
    rig w(200000);
    struct {
        usec_t wait;
        bool told;
    } rows[] = {{10000, true},  {12000, false}, {13000, true},
                {10001, false}, {10000, true},  {10000, false}};
    for (const auto &row : rows) {
        INFO(row.wait);
        w.control->wait = row.wait;
        auto e = w.report(VIEWING_BUDGET, 1);
        REQUIRE(e.size() == 1);
        CHECK(e[0].budget.told == row.told);
    }
}
