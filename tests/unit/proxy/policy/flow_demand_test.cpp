// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/policy/flow_demand.h"

#include <catch2/catch.hpp>

#include <vector>

namespace
{
flow_demand of(const std::vector<flow_demand> &viewers)
{
    flow_demand all{};
    int count = 0;
    for (const flow_demand &v : viewers)
        flow_demand_add(&all, count++, &v);
    return all;
}

// {level, follows, limit, latency, playout}
const flow_demand FREE{2, true, 0, 1000, 0}, SLOW{2, true, 300e3, 1000, 0},
    SLOWER{3, true, 100e3, 1000, 0}, HASTY{1, false, 0, 200, 150}, CALM{1, false, 0, 2000, 900};
} // namespace

TEST_CASE("flow_demand: the limit is the highest, and none if one viewer has none")
{
    CHECK(of({SLOW}).limit_bps == 300e3); // a sole slow viewer: at the source
    CHECK(of({SLOW, SLOWER}).limit_bps == 300e3);
    CHECK(of({SLOWER, SLOW}).limit_bps == 300e3);
    CHECK(of({SLOW, FREE, SLOWER}).limit_bps == 0);
    CHECK(of({FREE, SLOW}).limit_bps == 0);
}

TEST_CASE("flow_demand: the highest level, the shortest times")
{
    flow_demand all = of({CALM, HASTY, SLOWER});
    CHECK(all.level == 3);
    CHECK(all.follows);
    CHECK(all.latency_ms == 200);
    CHECK(all.playout_ms == 150);
    CHECK_FALSE(of({CALM, HASTY}).follows);
    CHECK(of({FREE, CALM}).playout_ms == 900); // 0 is unknown
    CHECK(of({CALM, FREE}).playout_ms == 900);
}
