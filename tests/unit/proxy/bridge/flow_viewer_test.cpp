// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/bridge/flow_viewer.h"

#include <catch2/catch.hpp>

#include "tests/support/two_sizes.hpp"

namespace
{
// two_sizes: levels 0 and 1 are size 0 with one and two temporal layers, 2 and 3 are size 1.
struct rig {
    ladder l = two_sizes();
    flow_viewer v{};
    int level = -1; // of the last frame

    rig()
    {
        flow_viewer_init(&v, &l);
    }
    // A frame of `flow`, in which the origin serves `served`; odd numbers are the upper layer.
    flow_verdict come(int flow, int64_t number, int served, bool key = false)
    {
        received_frame f{};
        f.number = number;
        f.size_id = l.levels[served].size_id;
        f.temporal_id = number % 2 != 0;
        f.level = served;
        f.key = key;
        f.depends_on = key ? -1 : number - 1;
        return flow_viewer_take(&v, flow, &f, &level);
    }
};
} // namespace

TEST_CASE("flow_viewer: the ladder of these tests")
{
    ladder l = two_sizes();
    REQUIRE(l.level_count == 4);
    for (int i = 0; i < 4; i++) {
        CHECK(l.levels[i].size_id == i / 2);
        CHECK(l.levels[i].temporal_id == i % 2);
    }
}

TEST_CASE("flow_viewer: a flow that has brought nothing yet is taken from its first frame on")
{
    rig r;
    CHECK(r.come(1, 0, 3, true) == FLOW_OTHER); // it has joined none
    flow_viewer_join(&r.v, 1, false);
    CHECK_FALSE(flow_viewer_waits(&r.v, 1));
    CHECK(r.come(1, 2, 3) == FLOW_TAKEN); // its key frame may come late
    CHECK(r.level == 3);
    CHECK(r.come(0, 2, 1) == FLOW_OTHER);
}

TEST_CASE("flow_viewer: a running flow is taken from its next key frame on")
{
    rig r;
    flow_viewer_join(&r.v, 1, true);
    CHECK(flow_viewer_waits(&r.v, 1));
    CHECK(r.come(1, 2, 3) == FLOW_OTHER);
    CHECK(r.come(1, 4, 3, true) == FLOW_STARTED);
    CHECK_FALSE(flow_viewer_waits(&r.v, 1));
    CHECK(r.come(1, 5, 3) == FLOW_TAKEN);
    flow_viewer_leave(&r.v);
    CHECK(r.come(1, 6, 3) == FLOW_OTHER);
}

TEST_CASE("flow_viewer: another session of the flow starts with any frame")
{
    rig r;
    flow_viewer_join(&r.v, 1, true);
    flow_viewer_restart(&r.v, 0); // not its flow
    CHECK(flow_viewer_waits(&r.v, 1));
    flow_viewer_restart(&r.v, 1);
    CHECK(r.come(1, 2, 3) == FLOW_TAKEN);
}

TEST_CASE("flow_viewer: it changes at the other flow's key frame, and misses nothing before")
{
    rig r;
    flow_viewer_join(&r.v, 1, false);
    r.come(1, 0, 3, true);
    flow_viewer_set_level(&r.v, 1);
    flow_viewer_join(&r.v, 0, true);
    CHECK(flow_viewer_waits(&r.v, 0));
    CHECK(r.come(0, 1, 1) == FLOW_OTHER);
    CHECK(r.come(1, 1, 3) == FLOW_TAKEN);
    CHECK(r.level == 3);
    CHECK(r.come(0, 2, 1, true) == FLOW_SWITCHED);
    CHECK(r.level == 1);
    CHECK(r.come(1, 2, 3) == FLOW_OTHER);
    CHECK(r.come(0, 3, 1) == FLOW_TAKEN);
    CHECK(r.v.current == 0);
    CHECK(r.v.next == FLOW_NONE);
}

TEST_CASE("flow_viewer: it may change its mind before that")
{
    rig r;
    flow_viewer_join(&r.v, 1, false);
    flow_viewer_join(&r.v, 0, true);
    flow_viewer_join(&r.v, 1, true);
    CHECK_FALSE(flow_viewer_waits(&r.v, 1)); // it never left
    CHECK(r.come(0, 2, 1, true) == FLOW_OTHER);
    CHECK(r.come(1, 2, 3) == FLOW_TAKEN);
    flow_viewer_leave(&r.v);
    flow_viewer_join(&r.v, 1, true);
    flow_viewer_join(&r.v, 0, false); // it had nothing: no reason to stay
    CHECK(r.come(0, 4, 1) == FLOW_TAKEN);
    CHECK(r.come(1, 4, 3, true) == FLOW_OTHER);
}

TEST_CASE("flow_viewer: layers above the level are left out, and come back with a base frame")
{
    rig r;
    flow_viewer_join(&r.v, 1, false);
    CHECK(r.come(1, 0, 3, true) == FLOW_TAKEN);
    CHECK(r.come(1, 1, 3) == FLOW_TAKEN);
    flow_viewer_set_level(&r.v, 2);
    CHECK(r.come(1, 3, 3) == FLOW_LEFT_OUT); // at once
    CHECK(r.come(1, 4, 3) == FLOW_TAKEN);
    CHECK(r.level == 2);
    flow_viewer_set_level(&r.v, 3);
    CHECK(r.come(1, 5, 3) == FLOW_LEFT_OUT);
    CHECK(r.come(1, 6, 3) == FLOW_TAKEN);
    CHECK(r.level == 3);
    CHECK(r.come(1, 7, 3) == FLOW_TAKEN);
}

TEST_CASE("flow_viewer: a size that the origin chose is taken whole")
{
    rig r;
    flow_viewer_set_level(&r.v, 2);
    flow_viewer_join(&r.v, 1, false);
    CHECK(r.come(1, 0, 1, true) == FLOW_TAKEN); // the backbone carries only size 0
    CHECK(r.level == 1);
    CHECK(r.come(1, 1, 1) == FLOW_TAKEN);
    CHECK(r.come(1, 2, 9) == FLOW_TAKEN); // no such level: its bridge judges it
    CHECK(r.level == 9);
}
