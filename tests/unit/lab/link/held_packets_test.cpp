// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <vector>

#include "lab/link/held_packets.h"
#include "tests/unit/lab/link/collector.hpp"

using came = std::vector<std::pair<uint32_t, usec_t>>;

namespace
{

struct holder {
    node n;
    held_packets held;
};

void run(node *n, usec_t now)
{
    held_packets_run(&reinterpret_cast<holder *>(n)->held, n, now);
}

const node_ops OPS = {nullptr, run, nullptr};

} // namespace

TEST_CASE("held packets: leave when they are due, those of one instant in the order of arrival")
{
    collector c;
    holder h{};
    node_init(&h.n, &OPS, &c.sink.node);
    CHECK_FALSE(held_packets_any(&h.held));
    const struct {
        usec_t due, wakes; // when the node runs after this packet
    } table[] = {{100, 100}, {100, 100}, {300, 100}, {200, 100}, {50, 50}, {200, 50}, {300, 50}};
    uint32_t i = 0;
    for (const auto &row : table) {
        held_packets_push(&h.held, &h.n, c.make(i++), row.due);
        CHECK(node_next_run_at(&h.n) == row.wakes);
    }
    CHECK(held_packets_any(&h.held));
    node_run(&h.n, 100);
    CHECK(c.came == came{{4, 100}, {0, 100}, {1, 100}}); // it was run late
    CHECK(node_next_run_at(&h.n) == 200);
    run_node(&h.n, 1000);
    CHECK(c.came == came{{4, 100}, {0, 100}, {1, 100}, {3, 200}, {5, 200}, {2, 300}, {6, 300}});
    CHECK(node_next_run_at(&h.n) == USEC_NEVER);
    CHECK_FALSE(held_packets_any(&h.held));
}

TEST_CASE("held packets: destroying the node returns them to their pool")
{
    collector c;
    holder h{};
    node_init(&h.n, &OPS, &c.sink.node);
    for (uint32_t i = 0; i < 3; i++)
        held_packets_push(&h.held, &h.n, c.make(i), 10);
    held_packets_destroy(&h.held);
    CHECK(c.pool.out == 0);
    CHECK(c.came.empty());
}
