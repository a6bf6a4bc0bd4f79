// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/tcp_ends.h"

#include <catch2/catch.hpp>

#include "tests/unit/lab/sim/flow_wire.hpp"

namespace
{

const usec_t ms = USEC_PER_MSEC;

uint32_t bytes_of(const tcp_ends *, int64_t seq)
{
    return 1000 + (uint32_t)seq;
}

struct connection : flow_wire {
    tcp_ends e{};

    explicit connection(bool timestamps = false)
    {
        tcp_sender_config config = {TCP_NEWRENO, INT64_MAX,   2,     1000, USEC_PER_SEC,
                                    timestamps,  TCP_PER_ACK, false, false};
        REQUIRE(tcp_ends_init(&e, &f, &config, 0, bytes_of) == 0);
    }
    ~connection()
    {
        tcp_ends_destroy(&e);
    }
    // Delivers all segments, then all ACKs. Returns how many packets arrived in order.
    int64_t round(usec_t arrive, usec_t back)
    {
        int64_t packets = 0;
        while (!to_sink.empty()) {
            packets += tcp_ends_arrived(&e, take(to_sink), arrive);
            tcp_ends_ack_if_due(&e, arrive);
        }
        while (!to_source.empty())
            CHECK(tcp_ends_back(&e, take(to_source), back));
        return packets;
    }
};

} // namespace

TEST_CASE("tcp_ends: segments leave, ACKs return, the window opens")
{
    connection c;
    tcp_ends_send(&c.e, 0);
    REQUIRE(c.to_sink.size() == 2);
    CHECK(c.to_sink[1]->bytes == 1001); // the owner's size of segment 1
    CHECK(c.round(50 * ms, 100 * ms) == 2);
    tcp_ends_send(&c.e, 100 * ms);
    CHECK(c.to_sink.size() == 4);
    CHECK(c.e.sender.rto.srtt == 100 * ms);
}

TEST_CASE(
    "tcp_ends: a hole is filled after three duplicate ACKs, and the waiting data is then in order")
{
    connection c;
    for (int round = 0; round < 3; round++) {
        tcp_ends_send(&c.e, round * 100 * ms);
        c.round((round * 100 + 50) * ms, (round + 1) * 100 * ms);
    }
    tcp_ends_send(&c.e, 300 * ms);
    packet_free(flow_wire::take(c.to_sink));
    CHECK(c.round(350 * ms, 400 * ms) == 0);
    CHECK(c.f.counts.fast_retransmits == 1);
    tcp_ends_send(&c.e, 400 * ms);
    CHECK(c.f.counts.retransmits == 1);
    CHECK(c.round(450 * ms, 500 * ms) >= 16);
}

TEST_CASE("tcp_ends: a timeout retransmits and is counted")
{
    connection c;
    tcp_ends_send(&c.e, 0);
    while (!c.to_sink.empty())
        packet_free(flow_wire::take(c.to_sink));
    usec_t at = tcp_sender_next_timeout(&c.e.sender);
    tcp_ends_timeout(&c.e, at);
    tcp_ends_send(&c.e, at);
    CHECK(c.f.counts.timeouts == 1);
    REQUIRE(c.to_sink.size() == 1);
    CHECK(flow_head_of(c.to_sink[0]).number == 0);
}

TEST_CASE("tcp_ends: packets of a previous connection are ignored")
{
    connection c;
    tcp_ends_send(&c.e, 0);
    CHECK(tcp_ends_arrived(&c.e, flow_wire::take(c.to_sink), 50 * ms) == 1);
    tcp_ends_ack_if_due(&c.e, 50 * ms);
    tcp_ends_restart(&c.e, 5);
    CHECK_FALSE(tcp_ends_back(&c.e, flow_wire::take(c.to_source), 100 * ms));
    CHECK(tcp_ends_arrived(&c.e, flow_wire::take(c.to_sink), 100 * ms) == 0);
    CHECK(c.e.sender.una == 0);
    CHECK(c.e.receiver.next == 0);
}

TEST_CASE("tcp_ends: with time stamps every ACK is timed by the segment that it echoes")
{
    connection c(true);
    tcp_ends_send(&c.e, 10 * ms);
    c.round(40 * ms, 70 * ms);
    CHECK(c.e.sender.rto.latest == 60 * ms);
}
