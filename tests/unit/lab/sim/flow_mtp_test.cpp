// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/flow_mtp.h"

#include <catch2/catch.hpp>

#include <string>

#include "tests/support/sanitized.hpp"
#include "tests/unit/lab/sim/simulation.hpp"

TEST_CASE("flow_mtp: without loss it equals Reno, packet by packet")
{
    // Links so fast that nothing queues; 60 ms: the window doubles each round trip from 2.
    simulation mtp("rate=1gbit", {"mtp:rtt=60ms,size=1000B,access=10gbit"});
    simulation reno("rate=1gbit", {"reno:rtt=60ms,size=1000B,access=10gbit,delack=0"});
    for (double seconds : {0.05, 0.1, 0.2, 0.3, 0.45}) {
        INFO(seconds);
        mtp.run(seconds);
        reno.run(seconds);
        CHECK(mtp.counts().sent_packets == reno.counts().sent_packets);
        CHECK(mtp.counts().good_bytes == reno.counts().good_bytes);
    }
    CHECK(mtp.counts().sent_packets == 2 + 4 + 8 + 16 + 32 + 64 + 128 + 256);
}

TEST_CASE("flow_mtp: one loss costs as much as with Reno, and no data is sent twice")
{
    // Packet 20, in a window of 16, found by duplicate ACKs.
    const char *link = "rate=1gbit,loss=mask:000000000000000000001";
    const char *ends = "rtt=60ms,size=1000B,access=10gbit,start=0s";
    simulation mtp(link, {std::string("mtp:") + ends}, 1, 1, "rate=1gbit");
    simulation reno(link, {std::string("reno:ca=count,delack=0,") + ends}, 1, 1, "rate=1gbit");
    for (double seconds : {0.2, 0.3, 0.5, 1.0, 2.0}) {
        INFO(seconds);
        mtp.run(seconds);
        reno.run(seconds);
        CHECK(mtp.counts().sent_packets == reno.counts().sent_packets);
    }
    CHECK(mtp.counts().fast_retransmits == 1);
    CHECK(mtp.counts().timeouts == 0);
    CHECK(mtp.counts().retransmits == 0);
    CHECK(reno.counts().retransmits == 1);
    CHECK(mtp.counts().lost == 1);
    CHECK(mtp.counts().good_bytes == mtp.counts().arrived_bytes);
}

TEST_CASE("flow_mtp: its throughput equals Reno's, in each mode")
{
    const char *ends = "rtt=60ms,size=1000B";
    auto goodput = [&](const std::string &kind) {
        uint64_t sum = 0;
        for (uint64_t seed = 1; seed <= seeds_of(3); seed++) {
            simulation s("rate=100mbit,loss=1.4%", {kind + ends}, seed, 1, "rate=100mbit");
            s.run(200);
            CHECK(s.counts().timeouts > 10);
            sum += s.counts().good_bytes;
        }
        return static_cast<double>(sum);
    };
    double reno = goodput("reno:ca=count,delack=0,");
    for (const char *mode : {"strict", "fill", "resend"}) {
        INFO(mode);
        CHECK_MEAN(goodput(std::string("mtp:mode=") + mode + ",") == Approx(reno).epsilon(0.05));
    }
}

TEST_CASE("flow_mtp: also at high loss, with time stamps and without")
{
    auto goodput = [&](const std::string &kind) {
        uint64_t sum = 0;
        for (uint64_t seed = 1; seed <= seeds_of(2); seed++) {
            simulation s("rate=100mbit,loss=10%", {kind + ",n=25,rtt=140ms..480ms,size=1000B"},
                         seed, 1, "rate=100mbit,loss=10%");
            s.run(400);
            for (uint32_t i = 0; i < 25; i++)
                sum += s.counts(i).good_bytes;
        }
        return static_cast<double>(sum);
    };
    double reno = goodput("reno:ca=count,delack=0"), ts = goodput("reno:ca=count,delack=0,ts=1");
    CHECK_MEAN(ts > 1.1 * reno); // a new RTT sample ends the backing off of the timeout
    CHECK_MEAN(goodput("mtp:ts=0") == Approx(reno).epsilon(0.05));
    CHECK_MEAN(goodput("mtp:ts=1") == Approx(ts).epsilon(0.05));
}

TEST_CASE("flow_mtp: stops, and the same seed gives the same run")
{
    simulation a("rate=10mbit,loss=2%", {"mtp:n=3,rtt=40ms,stop=5s"}, 7);
    simulation b("rate=10mbit,loss=2%", {"mtp:n=3,rtt=40ms,stop=5s"}, 7);
    a.run(5);
    b.run(10);
    for (uint32_t i = 0; i < 3; i++)
        CHECK(a.counts(i).sent_packets == b.counts(i).sent_packets);
}
