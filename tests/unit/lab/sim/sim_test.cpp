// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/sim.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/support/sanitized.hpp"
#include "tests/unit/lab/sim/simulation.hpp"

TEST_CASE("sim: constant rate over a bottleneck, by hand")
{
    // 12 Mbit/s in, 10 out: a packet a millisecond comes, one leaves each 1.2 ms. After the queue
    // of 10 has filled, one in six is dropped.
    simulation s("rate=10mbit,queue=droptail:10p", {"cbr:rate=12mbit,rtt=20ms,stop=12s"});
    s.run(13);
    CHECK(s.counts().sent_packets == 12000);
    CHECK(s.counts().dropped == Approx(2000 - 10).margin(2));
    CHECK(s.counts().arrived_packets + s.counts().dropped == 12000);
    // Below the bottleneck's rate nothing waits.
    simulation light("rate=10mbit,queue=droptail:10p", {"cbr:rate=9mbit,rtt=20ms"});
    light.run(10);
    CHECK(light.counts().dropped == 0);
    CHECK(hist_max_us(&link_all_stats(chain_link_at(&light.s.chain, 0, true))->queue_delay) == 0);
}

static std::vector<std::pair<usec_t, usec_t>> arrivals; // sent, arrived

static void note(void *, const struct flow_arrival *a, usec_t now)
{
    arrivals.emplace_back(a->sent_at, now);
}

TEST_CASE("sim: a packet's delay is half its rtt plus its transmissions")
{
    // Access 2 x 120 us, bottleneck 1200 us, 20 ms / 2; over two hops a bottleneck and 5 ms more.
    arrivals.clear();
    simulation one("rate=10mbit", {"cbr:rate=1mbit,rtt=20ms,stop=1s"});
    sim_watch(&one.s, note, nullptr);
    one.run(1);
    REQUIRE(arrivals.size() == 83); // 12 ms apart; the last ones are on their way
    for (const auto &a : arrivals)
        CHECK(a.second - a.first == 10000 + 2 * 120 + 1200);
    arrivals.clear();
    simulation two("rate=10mbit,delay=5ms", {"cbr:rate=1mbit,rtt=30ms,from=2,to=0,stop=1s"}, 1, 2);
    sim_watch(&two.s, note, nullptr);
    two.run(2);
    for (const auto &a : arrivals)
        CHECK(a.second - a.first == 15000 + 2 * 120 + 2 * 1200);
    CHECK(arrivals.size() == 84);
}

TEST_CASE("sim: flows of a parking lot pass the hops between their routers")
{
    simulation s("rate=1mbit,delay=10ms,queue=droptail:12p",
                 {"cbr:rate=100kbit", "cbr:rate=100kbit,from=1,to=2",
                  "cbr:rate=100kbit,from=2,to=1", "cbr:rate=100kbit,from=3,to=0"},
                 1, 3);
    s.run(100);
    static const struct {
        int hop;
        bool right;
        int flows;
    } table[] = {{0, true, 1},  {1, true, 2},  {2, true, 1},
                 {0, false, 1}, {1, false, 2}, {2, false, 1}};
    for (const auto &row : table) {
        auto in = link_all_stats(chain_link_at(&s.s.chain, row.hop, row.right))->packets_in;
        CHECK(in == Approx(834 * row.flows).margin(row.flows));
    }
    for (uint32_t i = 0; i < 4; i++)
        CHECK(s.counts(i).arrived_packets == Approx(833).margin(2));
}

// Mathis et al. 1997: rate = s / R sqrt(3 / (2 b p)), for random losses rare enough that the timer
// plays no part. SACK comes close to the model.
TEST_CASE("sim: TCP's rate at a given loss and round-trip time")
{
    static const struct {
        const char *group;
        double b;
    } table[] = {{"sack:rtt=100ms,delack=0,minrto=200ms", 1}, {"sack:rtt=100ms,minrto=200ms", 2}};
    const double p = 0.002;
    for (const auto &row : table) {
        CAPTURE(row.group);
        simulation s("rate=1gbit,loss=0.2%", {row.group}, 3, 1, "rate=1gbit");
        s.run(1000);
        double model = 1500 * 8 / 0.1 * std::sqrt(3 / (2 * row.b * p));
        double measured = s.counts().good_bytes * 8 / 1000.0;
        CHECK(measured == Approx(model).epsilon(0.12));
        CHECK(s.counts().dropped / (double)s.counts().sent_packets == Approx(p).epsilon(0.1));
    }
}

TEST_CASE("sim: a finite transfer arrives completely in spite of losses")
{
    auto variant = GENERATE("reno", "newreno", "sack");
    CAPTURE(variant);
    simulation s("rate=5mbit,loss=5%,queue=droptail:20p,reorder=1%:30ms",
                 {std::string(variant) + ":rtt=40ms,packets=2000"});
    s.run(1000);
    CHECK(s.counts().good_bytes == 2000 * 1500);
    CHECK(s.counts().sent_packets == 2000 + s.counts().retransmits);
}

TEST_CASE("sim: web objects are transferred one by one")
{
    simulation s("rate=10mbit,loss=1%,queue=droptail:100p",
                 {"web:n=5,rtt=50ms,bytes=20KB,think=500ms"});
    s.run(300);
    uint64_t objects = 0;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < 5; i++) {
        objects += s.counts(i).transfers;
        bytes += s.counts(i).good_bytes;
    }
    CHECK(objects > 500);
    CHECK(bytes / objects > 8000); // the least object is a third of the mean
    CHECK(bytes / objects < 60000);
}

TEST_CASE("sim: a page has several objects, then a pause follows")
{
    // An object of a packet takes a round trip, 100 ms; a page of two, and 1 s to think on average.
    for (const char *pause : {"pareto", "exp"}) {
        simulation s("rate=100mbit", {std::string("web:n=20,bytes=1B,think=1s,objects=2,delack=0s,"
                                                  "rtt=100ms,pause=") +
                                      pause});
        s.run(500);
        uint64_t objects = 0;
        for (uint32_t i = 0; i < 20; i++)
            objects += s.counts(i).transfers;
        INFO(pause);
        // Pareto's mean comes slowly, as its variance is infinite.
        CHECK(objects == Approx(20 * 500 / 1.2 * 2).epsilon(*pause == 'e' ? 0.03 : 0.25));
    }
}

TEST_CASE("sim: Pareto on and off")
{
    simulation s("rate=100mbit", {"cbr:n=50,rate=500kbit,on=1s,off=2s,shape=1.5,rtt=10ms"});
    s.run(500);
    double sent = 0;
    for (uint32_t i = 0; i < 50; i++)
        sent += s.counts(i).sent_bytes * 8 / 500.0;
    // A third of the time, if the means were reached; with infinite variance they are not.
    CHECK(sent / 50 > 500e3 * 0.2);
    CHECK(sent / 50 < 500e3 * 0.5);
}

TEST_CASE("sim: a datagram flow with the real endpoints")
{
    simulation s("rate=1mbit,queue=droptail:20p",
                 {"datagram:cc=fixed,rate=500kbit,rtt=100ms,start=1s,stop=11s"});
    s.run(12);
    CHECK(s.counts().sent_bytes * 8 / 10.0 == Approx(500e3).epsilon(0.02));
    CHECK(s.counts().good_bytes == s.counts().sent_bytes);
    CHECK(s.counts().feedback_packets > 50); // one a round trip
    CHECK(s.counts().feedback_packets < 250);
    CHECK(s.counts().lost == 0);
    flow_state state;
    s.s.flows[0]->ops->state(s.s.flows[0], &state, 12000000);
    // 50 ms of delay each way, 12 ms + 240 us for 1500 bytes, less for a report.
    CHECK(state.srtt == Approx(113000).margin(3000));

    simulation lossy("rate=10mbit,queue=droptail:20p",
                     {"datagram:cc=fixed,rate=1mbit,rtt=100ms,loss=5%"});
    lossy.run(100);
    CHECK(lossy.counts().dropped > 300);
    CHECK(lossy.counts().lost == Approx((double)lossy.counts().dropped).margin(10));
}

TEST_CASE("sim: next to a Reno flow, small packets get no more than full ones")
{
    // Bytes of a flow of packets of less than 1200, which they may have, divided by those of a TCP
    // of 1200: at most 1.2 of the share of full packets, where a packet's size does not matter to
    // the queue (RFC 4828). A drop-tail queue of bytes has room for small packets when it has none
    // for full ones: there the share is larger (mtp_sender.h, tfrc.h).
    const char *const tfrc = "datagram:cc=tfrc,size=";
    const char *const mtp = "mtp:newreno=1,ts=1,minrto=200ms,size=";
    const struct {
        const char *flow;
        int size;
        const char *queue;
        double least, most; // of the share of full packets
    } table[] = {
        {tfrc, 900, "codel", 0.8, 1.2},        {tfrc, 600, "codel", 0.6, 1.2},
        {tfrc, 300, "codel", 0.33, 1.2},       {tfrc, 600, "red", 0.6, 1.2},
        {tfrc, 300, "red", 0.25, 1.2},         {mtp, 900, "red", 0.7, 1.2},
        {mtp, 600, "red", 0.7, 1.2},           {mtp, 300, "red", 0.5, 1.2},
        {tfrc, 600, "droptail:40p", 0.6, 1.2}, {mtp, 900, "droptail:40p", 0.4, 1.2},
        {mtp, 600, "droptail:40p", 0.3, 1.2},
    };
    const double SECONDS = 120;
    auto share = [&](const std::string &group, const char *queue) {
        double bytes[2] = {0, 0};
        std::string link = std::string("rate=4mbit,delay=25ms,queue=") + queue;
        for (uint64_t seed = 1; seed <= seeds_of(4); seed++) {
            simulation n(link.c_str(), {group, "newreno:ts=1,minrto=200ms,ca=packets,size=1200B"},
                         seed);
            n.run(SECONDS);
            for (uint32_t i = 0; i < 2; i++)
                bytes[i] += static_cast<double>(n.counts(i).good_bytes);
        }
        return bytes[0] / bytes[1];
    };
    for (const auto &row : table) {
        INFO(row.flow << row.size << ", " << row.queue);
        double full = share(std::string(row.flow) + "1200B", row.queue);
        std::string size = std::to_string(row.size) + "B,full=1200B";
        double small = share(row.flow + size, row.queue);
        CHECK_MEAN(small < row.most * std::max(full, 1.0));
        CHECK_MEAN(small > row.least * std::min(full, 1.0));
    }
}

TEST_CASE("sim: small packets have most of what full ones have on a long path that loses packets")
{
    // 2 % lost both ways, 300 ms: the law of 1500 bytes leaves 0.34 Mbit/s, and a window of 8. Of
    // 390 bytes, as sound, a timeout a minute; an RTO of one round trip expired every 7 s.
    const struct {
        int size;
        double least, timeouts; // Mbit/s; in 300 s
    } table[] = {{1500, 0.3, 15}, {800, 0.27, 12}, {390, 0.23, 14}};
    for (const auto &row : table) {
        double mbps = 0, timeouts = 0;
        const int SEEDS = seeds_of(4);
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            std::string flow = "mtp:newreno=1,ts=1,minrto=200ms,iw=10p,full=1500B,size=" +
                               std::to_string(row.size) + "B,loss=2%";
            simulation n("rate=20mbit,queue=droptail:400KB,delay=150ms", {flow}, seed);
            n.run(300);
            mbps += static_cast<double>(n.counts().sent_bytes) * 8e-6 / 300 / SEEDS;
            timeouts += static_cast<double>(n.counts().timeouts) / SEEDS;
        }
        INFO(row.size << " bytes");
        CHECK_MEAN(mbps > row.least);
        CHECK_MEAN(timeouts < row.timeouts);
    }
}

TEST_CASE("sim: the same seed gives the same outcome, another seed another")
{
    auto outcome = [](uint64_t seed) {
        simulation s("rate=5mbit,queue=red:50p",
                     {"reno:n=3,rtt=10ms..90ms,overhead=100us,spread=1s",
                      "datagram:cc=tfrc,rtt=50ms", "web:n=3,rtt=20ms", "sack:from=1,to=0,rtt=30ms"},
                     seed);
        s.run(20);
        std::vector<uint64_t> counts;
        for (uint32_t i = 0; i < s.s.count; i++) {
            counts.push_back(s.counts(i).sent_bytes);
            counts.push_back(s.counts(i).good_bytes);
        }
        return counts;
    };
    CHECK(outcome(1) == outcome(1));
    CHECK(outcome(1) != outcome(2));
}

TEST_CASE("sim: a flow that the network cannot carry is refused")
{
    simulation low("rate=1mbit,delay=10ms", {"reno:rtt=30ms"}, 1, 2);
    CHECK_FALSE(low.made);
    CHECK(low.error == "reno:rtt=30ms: the rtt is too short: its hops alone take 40000 us");
    simulation far("rate=1mbit", {"reno:from=0,to=2"});
    CHECK_FALSE(far.made);
    CHECK(far.error == "reno:from=0,to=2: from and to are two of the routers 0 to 1");
    simulation many("rate=1mbit", {"reno:n=10000", "reno"});
    CHECK_FALSE(many.made);
}

TEST_CASE("sim: Jain's index")
{
    CHECK(sim_jain(2 + 2 + 2, 4 + 4 + 4, 3) == Approx(1));
    CHECK(sim_jain(5, 25, 4) == Approx(0.25)); // one has all
    CHECK(sim_jain(0, 0, 2) == 1);
}
