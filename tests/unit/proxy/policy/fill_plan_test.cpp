// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/policy/fill_plan.h"

#include <catch2/catch.hpp>
#include <set>
#include <vector>

namespace
{

const usec_t S = USEC_PER_SEC;
enum { GROUPS = 100 };

// A film of groups of 2 s, which are fetched at twice their pace.
struct planned {
    int64_t from, end;
    bool operator==(const planned &o) const
    {
        return from == o.from && end == o.end;
    }
};

planned next_of(std::vector<fill_reader> readers, std::vector<fill_flow> flows,
                std::set<int64_t> missing, usec_t now)
{
    fill_plan p = {};
    p.readers = readers.data();
    p.reader_count = (int)readers.size();
    p.flows = flows.data();
    p.flow_count = (int)flows.size();
    p.groups = GROUPS;
    p.group_time = 2 * S;
    p.fetch_time = S;
    p.is_missing = [](void *ctx, int64_t group) {
        return static_cast<std::set<int64_t> *>(ctx)->count(group) > 0;
    };
    p.ctx = &missing;
    planned out = {-1, -1};
    out.from = fill_plan_next(&p, &out.end, now);
    return out;
}

std::set<int64_t> from(int64_t first)
{
    std::set<int64_t> out;
    for (int64_t group = first; group < GROUPS; group++)
        out.insert(group);
    return out;
}

} // namespace

TEST_CASE("fill_plan: what follows the prefix is fetched before it is needed")
{
    const planned none = {-1, -1};
    CHECK(next_of({}, {}, from(0), 0) == none);
    CHECK(next_of({{0, 0}}, {}, from(0), 0) == planned{0, GROUPS});
    CHECK(next_of({{0, 0}}, {}, from(4), 0) == planned{4, GROUPS});
    CHECK(next_of({{0, 0}}, {}, from(5), 0) == none); // not yet
    CHECK(next_of({{1, 2 * S}}, {}, from(5), 2 * S) == planned{5, GROUPS});
    CHECK(next_of({{98, 0}}, {}, from(100), 0) == none); // the film's end
    CHECK(next_of({{99, 0}}, {}, {99}, 0) == planned{99, GROUPS});
}

TEST_CASE("fill_plan: what a flow brings in time is not fetched")
{
    const planned none = {-1, -1};
    fill_flow leader = {10, GROUPS, 2 * S};
    // Behind it, next to it, and shortly before it.
    for (int64_t group : {8, 9, 10, 11})
        CHECK(next_of({{group, 0}}, {leader}, from(group), 100 * S) == none);
    // A gap that it has left behind is fetched, and nothing that it brings.
    CHECK(next_of({{6, 0}}, {leader}, {7, 20, 21}, 0) == planned{7, 10});
    // Far before it: it would be there 20 groups, 40 s, later.
    CHECK(next_of({{30, 0}}, {leader}, from(11), 0) == planned{30, GROUPS});
    // One that is twice as fast, and ends there.
    CHECK(next_of({{14, 100 * S}}, {{10, 50, S}}, from(11), 95 * S) == none);
    CHECK(next_of({{14, 99 * S}}, {{10, 50, S}}, from(11), 95 * S) == planned{14, GROUPS});
    CHECK(next_of({{50, 0}}, {{48, 50, S}}, from(50), 0) == planned{50, GROUPS});
}

TEST_CASE("fill_plan: the group that is needed first is next")
{
    CHECK(next_of({{40, 5 * S}, {10, 0}, {70, 3 * S}}, {}, {12, 40, 70}, 0) ==
          planned{70, GROUPS}); // needed at 4, 5 and 3 s
    CHECK(next_of({{40, 5 * S}, {10, 0}}, {}, {12, 40}, 0) == planned{12, GROUPS});
    // The end of one is where another one is.
    CHECK(next_of({{10, 0}}, {{40, GROUPS, S}, {60, GROUPS, S}}, from(10), 0) == planned{10, 40});
}

TEST_CASE("fill_plan: how far a flow is ahead of its readers")
{
    const fill_reader readers[] = {{10, 0}, {30, 0}};
    CHECK(fill_plan_ahead(readers, 2, 10) == 0);
    CHECK(fill_plan_ahead(readers, 2, 25) == 15);
    CHECK(fill_plan_ahead(readers, 2, 29) == 0); // the second one is about to need it
    CHECK(fill_plan_ahead(readers, 2, 45) == 15);
    CHECK(fill_plan_ahead(readers, 2, 5) == INT64_MAX); // they have gone past
    CHECK(fill_plan_ahead(readers, 0, 5) == INT64_MAX);
}
