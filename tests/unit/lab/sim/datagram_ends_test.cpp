// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/datagram_ends.h"

#include <catch2/catch.hpp>

#include <cmath>

#include "tests/unit/lab/sim/flow_wire.hpp"

namespace
{

const usec_t ms = USEC_PER_MSEC;

struct pair_of_ends : flow_wire {
    datagram_ends e{};

    pair_of_ends()
    {
        controller_config limits{};
        limits.packet_bytes = 1000;
        limits.max_rate_bps = 1e9;
        datagram_sender_config sender{};
        sender.first_seq = 65535;
        REQUIRE(datagram_ends_init(&e, &f, "tfrc", &limits, &sender, 4, 0));
    }
    ~pair_of_ends()
    {
        datagram_ends_destroy(&e);
    }
    void send(usec_t now)
    {
        datagram_ends_send(&e, 972, 1000, ECN_ECT0, nullptr, now);
    }
    void arrive(usec_t now)
    {
        packet *p = take(to_sink);
        uint16_t seq = (uint16_t)(65535 + flow_head_of(p).number);
        datagram_receiver_packet(&e.receiver, 3, seq, p->ecn, 972, nullptr, now);
        packet_free(p);
    }
};

} // namespace

TEST_CASE("datagram_ends: a report of arrivals reaches the controller")
{
    pair_of_ends w;
    w.send(0);
    w.send(1 * ms);
    REQUIRE(w.to_sink.size() == 2);
    CHECK(w.to_sink[0]->ecn == ECN_ECT0);
    CHECK(w.f.counts.sent_bytes == 2000);
    w.arrive(50 * ms);
    w.arrive(51 * ms);
    usec_t due = datagram_receiver_next_report(&w.e.receiver);
    if (due > 51 * ms) {
        datagram_ends_report_if_due(&w.e, due - 1);
        CHECK(w.to_source.empty());
    }
    due = usec_max(due, 51 * ms);
    datagram_ends_report_if_due(&w.e, due);
    REQUIRE(w.to_source.size() == 1);
    CHECK(w.f.counts.feedback_packets == 1);
    CHECK(w.f.counts.feedback_bytes == w.to_source[0]->bytes);
    datagram_ends_back(&w.e, flow_wire::take(w.to_source), due + 50 * ms);
    CHECK(w.e.sender.counts.bytes_arrived == 2 * 972);
    flow_state s{};
    datagram_ends_state(&w.e, &s, due + 50 * ms);
    CHECK(s.srtt > 0);
    CHECK(s.rate_bps > 0);
    CHECK(std::isnan(s.cwnd));
}

TEST_CASE("datagram_ends: a long time without a report is a timeout, which is counted")
{
    pair_of_ends w;
    w.send(0);
    usec_t due = datagram_sender_next_timeout(&w.e.sender);
    REQUIRE(due != USEC_NEVER);
    datagram_ends_run(&w.e, due - 1);
    CHECK(w.e.sender.counts.rtos == 0);
    datagram_ends_run(&w.e, due);
    CHECK(w.e.sender.counts.rtos == 1);
}

TEST_CASE("datagram_ends: it wakes for a waiting packet, never at once")
{
    pair_of_ends w;
    w.send(0);
    usec_t timeout = datagram_ends_next(&w.e, false, 0);
    CHECK(timeout == datagram_sender_next_timeout(&w.e.sender));
    usec_t next = datagram_ends_next(&w.e, true, 0);
    CHECK(next >= 1);
    CHECK(next <= timeout);
}
