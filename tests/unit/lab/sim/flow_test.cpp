// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/flow.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <string>

#include "tests/unit/lab/sim/flow_wire.hpp"

TEST_CASE("flow_send: the packet carries its head and both parts of its body")
{
    flow_wire w;
    const uint8_t first[] = {'a', 'b'}, second[] = {'c'};
    media_packet body = {first, 2, second, 1, 0, 0};
    flow_head head = {FLOW_DATA, ECN_ECT0, 7, 42, 1000};
    REQUIRE(flow_send(&w.f, &w.f.source, &head, 500, &body));
    REQUIRE(w.to_sink.size() == 1);
    const packet *p = w.to_sink[0];
    CHECK(p->bytes == 500);
    CHECK(p->flow == 6); // 2 * id, one more on the way back
    CHECK(p->ecn == ECN_ECT0);
    CHECK(flow_head_of(p).kind == FLOW_DATA);
    CHECK(flow_head_of(p).connection == 7);
    CHECK(flow_head_of(p).number == 42);
    CHECK(flow_head_of(p).sent_at == 1000);
    CHECK(std::string((const char *)flow_body(p), 3) == "abc");
}

TEST_CASE("flow_send: only data counts; data without a free packet is dropped")
{
    flow_wire w(1);
    flow_head data = {FLOW_DATA, ECN_NOT, 0, 0, 0}, back = {FLOW_BACK, ECN_NOT, 0, 0, 0};
    REQUIRE(flow_send(&w.f, &w.f.sink, &back, 40, nullptr));
    CHECK(w.to_source[0]->flow == 7);
    CHECK(w.f.counts.sent_packets == 0);
    CHECK_FALSE(flow_send(&w.f, &w.f.source, &data, 100, nullptr)); // the pool's one is out
    CHECK(w.f.counts.sent_packets == 1);
    CHECK(w.f.counts.sent_bytes == 100);
    CHECK(w.f.counts.dropped == 1);
    CHECK_FALSE(flow_send(&w.f, &w.f.sink, &back, 40, nullptr));
    CHECK(w.f.counts.dropped == 1);
}

TEST_CASE("flow_arrived: counts and reports the fields of the head")
{
    flow_wire w;
    flow_arrival seen{};
    w.env.ctx = &seen;
    w.env.on_arrival = [](void *ctx, const flow_arrival *a, usec_t) { *(flow_arrival *)ctx = *a; };
    flow_head head = {FLOW_DATA, ECN_NOT, 0, 5, 1000};
    REQUIRE(flow_send(&w.f, &w.f.source, &head, 500, nullptr));
    flow_arrived(&w.f, w.to_sink[0], 3000);
    CHECK(w.f.counts.arrived_packets == 1);
    CHECK(w.f.counts.arrived_bytes == 500);
    CHECK(seen.flow == 3);
    CHECK(seen.number == 5);
    CHECK(seen.sent_at == 1000);
}

TEST_CASE("flow_window_state: the window over the round-trip time")
{
    flow_state s = flow_window_state(10, 1000, 100 * USEC_PER_MSEC);
    CHECK(s.rate_bps == Approx(800000));
    CHECK(s.cwnd == 10);
    CHECK(std::isnan(s.loss_events));
    CHECK(flow_window_state(10, 1000, 0).rate_bps == 0); // no sample yet
}
