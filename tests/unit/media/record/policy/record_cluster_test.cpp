// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/policy/record_cluster.h"

#include <catch2/catch.hpp>

TEST_CASE("record_cluster: an empty one is never due")
{
    record_cluster c{};
    CHECK_FALSE(record_cluster_ends_before(&c, 0, true));
    CHECK_FALSE(record_cluster_is_due(&c, 1000 * USEC_PER_SEC));
    CHECK(record_cluster_next_timeout(&c) == USEC_NEVER);
}

TEST_CASE("record_cluster: it ends by media time, before a key frame, and by the clock")
{
    record_cluster c{};
    record_cluster_add(&c, 5000000, 100, 7000000);
    record_cluster_add(&c, 5033333, 100, 7033333);
    CHECK(c.packets == 2);
    CHECK(c.bytes == 200);
    CHECK_FALSE(record_cluster_ends_before(&c, 5299999, false));
    CHECK(record_cluster_ends_before(&c, 5300000, false));
    CHECK(record_cluster_ends_before(&c, 5066666, true));
    CHECK(record_cluster_next_timeout(&c) == 7400000);
    CHECK_FALSE(record_cluster_is_due(&c, 7399999));
    CHECK(record_cluster_is_due(&c, 7400000));
}

TEST_CASE("record_cluster: it ends when it is full")
{
    record_cluster c{};
    for (int i = 0; i < RECORD_CLUSTER_PACKETS; i++) {
        CHECK_FALSE(record_cluster_is_due(&c, 0));
        record_cluster_add(&c, 0, 1, 0);
    }
    CHECK(record_cluster_is_due(&c, 0));
    c = {};
    record_cluster_add(&c, 0, RECORD_CLUSTER_BYTES, 0);
    CHECK(record_cluster_is_due(&c, 0));
}

TEST_CASE("record_cluster: a crash costs less than a second")
{
    // What is held when the last packet of a cluster came, and what then waits for the disk.
    CHECK(RECORD_CLUSTER_SPAN + RECORD_CLUSTER_WAIT < USEC_PER_SEC);
}
