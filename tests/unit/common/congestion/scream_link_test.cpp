// SPDX-License-Identifier: GPL-2.0-or-later
// SCReAMv2 on simulated links, in virtual time: live media that follows its network
// (live_link.hpp), and flows that always have data.
#include "tests/support/live_link.hpp"

#include <string>
#include <vector>

#include "tests/support/sanitized.hpp"
#include "tests/unit/lab/sim/simulation.hpp"

namespace
{
constexpr usec_t RTT = 50 * USEC_PER_MSEC;
constexpr uint64_t SEEDS = seeds_of(4);

std::string greedy(const char *more = "")
{
    return std::string("datagram:cc=scream,rtt=50ms,size=1228B,spread=2s,ect=1") + more;
}

// As Linux's; `growth`: packets (Reno's), cubic.
std::string tcp(const char *growth)
{
    return std::string("sack:rtt=50ms,spread=2s,delack=40ms,ts=1,minrto=200ms,iw=10p,ca=") + growth;
}

// Bytes that arrived from each flow between two instants.
std::vector<double> bytes_between(simulation &s, double from, double to)
{
    std::vector<double> got;
    s.run(from);
    for (uint32_t i = 0; i < s.s.count; i++)
        got.push_back(-static_cast<double>(s.counts(i).good_bytes));
    s.run(to);
    for (uint32_t i = 0; i < s.s.count; i++)
        got[i] += static_cast<double>(s.counts(i).good_bytes);
    return got;
}

double jain(const std::vector<double> &x)
{
    double sum = 0, squares = 0;
    for (double v : x) {
        sum += v;
        squares += v * v;
    }
    return sum * sum / (static_cast<double>(x.size()) * squares);
}
} // namespace

TEST_CASE("scream on links: random loss without delay does not limit live media")
{
    for (const char *loss : {"1%", "5%"})
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            INFO(loss << ", seed " << seed);
            std::string link = std::string("rate=4mbit,queue=droptail:50000B,loss=") + loss;
            live_link n("scream", link.c_str(), 2 * RTT, 0, 0, seed);
            n.run_to(20);
            CHECK(n.sent_mbps(5, 20) >= 1.9);
            CHECK(n.mean_level(5, 20) > 5.9);
            CHECK(n.late_ms(0.95, 5, 20) < 115); // 50 on the way, up to 30 for a frame of 12 kB
        }
}

TEST_CASE("scream on links: a link of 4, 1, 4 Mbit/s")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        INFO("seed " << seed);
        live_link n("scream", "rate=4mbit:1mbit@12s:4mbit@24s,queue=droptail:50000B", RTT, 0, 0,
                    seed);
        n.run_to(36);
        // What enters the network is below the new rate a tenth after the first late report.
        CHECK(n.first_at(1.0, 12, 24, 0.1, true) <= 0.3);
        CHECK(n.sent_mbps(12.2, 12.5) < 1.0); // the queue drains
        CHECK(n.late_ms(0.95, 12.6, 17) < 180);
        CHECK(n.got_mbps(16.5, 18) > 0.8 * 1.0); // within 5 s
        CHECK(n.got_mbps(28.5, 30) > 0.8 * 1.92);
        CHECK(n.late_ms(0.5, 0, 36) < 60);
        CHECK(n.late_ms(0.95, 0, 36) < 110);
        CHECK(n.late_ms(0.99, 0, 36) < 200);
        CHECK(n.shown(0, 36) > 0.98 * live_link::FPS);
        CHECK(n.stalled(0, 36) < 0.01);
    }
}

TEST_CASE("scream on links: a link that is silent for a moment is not slower afterwards")
{
    // As a radio: 60 ms a second without a delivery, from 10 s on.
    std::string rates = "rate=3mbit";
    for (int at = 10000; at < 20000; at += 1000)
        rates += ":0@" + std::to_string(at) + "ms:3mbit@" + std::to_string(at + 60) + "ms";
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        INFO("seed " << seed);
        live_link n("scream", (rates + ",queue=droptail:100000B").c_str(), RTT, 0, 0, seed);
        n.run_to(20);
        CHECK(n.got_mbps(10.5, 20) > 0.8 * n.got_mbps(6, 10));
        CHECK(n.late_ms(0.95, 10, 20) < 120);
    }
}

TEST_CASE("scream on links: after a pause it is back at once, unless the link became slower")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        INFO("seed " << seed);
        live_link same("scream", "rate=2mbit,queue=droptail:50000B", RTT, 0, 0, seed);
        live_link slower("scream", "rate=2mbit:800kbit@15s,queue=droptail:50000B", RTT, 0, 0, seed);
        for (live_link *n : {&same, &slower}) {
            n->run_to(10);
            n->pause();
            n->run_to(20);
            n->play();
            n->run_to(30);
        }
        CHECK(same.got_mbps(20.5, 22.5) > 0.65 * same.got_mbps(5, 10));
        CHECK(same.late_ms(0.95, 20, 30) < 110);
        CHECK(slower.late_ms(1, 20, 21) < 650);
        CHECK(slower.late_ms(0.95, 21, 30) < 195);
        CHECK(slower.got_mbps(21, 30) > 0.7 * 0.8);
        CHECK(slower.stalled(20, 30) < 0.05);
    }
}

TEST_CASE("scream on links: reports that are lost do not stop it")
{
    for (const char *loss : {"loss=20%", "loss=40%"})
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            INFO(loss << ", seed " << seed);
            live_link n("scream", "rate=4mbit:1mbit@12s:4mbit@24s,queue=droptail:50000B", RTT, 0, 0,
                        seed, true, loss);
            n.run_to(36);
            CHECK(n.got_mbps(5, 12) > 1.85);
            CHECK(n.got_mbps(17, 24) > 0.6); // what it sees of a queue comes late
            CHECK(n.got_mbps(30, 36) > 1.7);
            CHECK(n.late_ms(0.95, 0, 36) < 180);
            CHECK(n.stalled(0, 36) < 0.02);
        }
}

TEST_CASE("scream on links: next to a TCP both get a fair share, of queues of any length")
{
    const struct {
        const char *queue, *growth;
        double least, most; // of the TCP's rate, a mean over seeds
    } table[] = {
        {"droptail:30000B", "packets", 0.6, 1.5},
        {"droptail:30000B", "cubic", 0.45, 1.5},
        {"droptail:62500B", "packets", 0.6, 1.6}, // a bandwidth-delay product
        {"droptail:62500B", "cubic", 0.6, 1.5},
        {"droptail:125000B", "packets", 0.6, 1.6},
        {"droptail:125000B", "cubic", 0.5, 1.5},
        {"codel", "packets", 0.6, 1.5},
        {"codel", "cubic", 0.6, 1.5},
        {"dualpi2", "packets", 0.45, 1.5}, // L4S
        {"dualpi2", "cubic", 0.35, 1.5},
    };
    for (const auto &row : table) {
        INFO(row.queue << ", " << row.growth);
        std::vector<double> total(2);
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            std::string link = std::string("rate=10mbit,queue=") + row.queue;
            simulation s(link.c_str(), {greedy(), tcp(row.growth)}, seed);
            std::vector<double> got = bytes_between(s, 10, 60);
            for (size_t i = 0; i < 2; i++)
                total[i] += got[i];
        }
        CHECK(total[0] / total[1] > row.least);
        CHECK(total[0] / total[1] < row.most);
        CHECK((total[0] + total[1]) * 8 / 50 / SEEDS > 0.9 * 10e6);
    }
}

TEST_CASE("scream on links: live media next to a download")
{
    // Of 10 Mbit/s it has all that it wants; of 4, about what a greedy flow's share leaves it.
    const struct {
        const char *link;
        double mbps, p95_ms;
    } table[] = {
        {"rate=10mbit,queue=droptail:62500B", 1.8, 110},
        {"rate=4mbit,queue=droptail:25000B", 1.1, 130},
        {"rate=4mbit,queue=droptail:50000B", 1.2, 160},
    };
    for (const auto &row : table) {
        INFO(row.link);
        double mbps = 0, fps = 0, late = 0;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            live_link n("scream", row.link, RTT, 1, USEC_PER_SEC, seed);
            n.run_to(60);
            mbps += n.got_mbps(10, 60) / SEEDS;
            fps += n.shown(10, 60) / SEEDS;
            late += n.late_ms(0.95, 10, 60) / SEEDS;
        }
        CHECK(mbps > row.mbps);
        CHECK(fps > 26);
        CHECK(late < row.p95_ms);
    }
}

TEST_CASE("scream on links: flows of its own share, and keep their queue short")
{
    for (const char *flows : {",n=2", ",n=4", ",n=8"}) {
        if (SANITIZED && flows[3] != '2')
            continue;
        for (const char *queue : {"droptail:62500B", "droptail:200000B", "dualpi2"}) {
            INFO(flows << " " << queue);
            std::string link = std::string("rate=10mbit,queue=") + queue;
            simulation s(link.c_str(), {greedy(flows)});
            std::vector<double> got = bytes_between(s, 30, 90);
            double sum = 0;
            for (double v : got)
                sum += v;
            CHECK(jain(got) > 0.85);
            CHECK(sum * 8 / 60 > 0.85 * 10e6);
        }
    }
}

TEST_CASE("scream on links: alone it fills any path")
{
    const struct {
        const char *link, *rtt;
        double bps;
    } table[] = {
        {"rate=10mbit,queue=droptail:100000B", "2ms", 10e6},
        {"rate=10mbit,queue=droptail:200000B", "200ms", 10e6},
        {"rate=50mbit,queue=droptail:300000B", "50ms", 50e6},
        {"rate=300kbit,queue=droptail:20000B", "50ms", 300e3},
        {"rate=4mbit,queue=droptail:50000B,loss=5%", "100ms", 3.8e6},
        {"rate=10mbit,queue=dualpi2", "50ms", 10e6},
    };
    for (const auto &row : table) {
        INFO(row.link << ", " << row.rtt);
        simulation s(row.link, {std::string("datagram:cc=scream,size=1228B,ect=1,rtt=") + row.rtt});
        std::vector<double> got = bytes_between(s, 10, 60);
        CHECK(got[0] * 8 / 50 > 0.9 * row.bps);
    }
}

TEST_CASE(
    "scream on links: where a queue marks, L4S keeps it short, and classic marks count as such")
{
    simulation l4s("rate=10mbit,queue=dualpi2", {greedy()});
    l4s.run(60);
    CHECK(l4s.counts().lost == 0);
    const flow_counts &c = l4s.counts();
    CHECK(static_cast<double>(c.good_bytes) * 8 / 60 > 0.85 * 10e6);
    // A classic queue that marks, where ECT(1) is answered as a TCP would.
    double ours = 0, theirs = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        simulation s("rate=10mbit,queue=codel:ecn", {greedy(), tcp("packets")}, seed);
        std::vector<double> got = bytes_between(s, 10, 60);
        ours += got[0];
        theirs += got[1];
    }
    CHECK(ours / theirs < 2.2);
}

TEST_CASE("scream on links: seeded storms of steps and losses end with the link in use", "[long]")
{
    static const char *const links[] = {
        "rate=4mbit:2mbit@10s:4mbit@12s:1mbit@14s:3mbit@16s:4mbit@20s,queue=droptail:50000B",
        "rate=4mbit:500kbit@10s:4mbit@20s,queue=droptail:100ms,loss=2%",
        "rate=4mbit:0@10s:4mbit@13s,queue=droptail:50000B",
        "rate=4mbit,queue=codel,loss=ge:p=1%:r=20%",
        "rate=4mbit,queue=droptail:8000B",
        "rate=4mbit:1500kbit@10s:4mbit@20s,queue=dualpi2",
    };
    for (const char *link : links)
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
            for (usec_t rtt : {RTT / 5, RTT, 4 * RTT}) {
                INFO(link << ", seed " << seed << ", " << usec_to_msec(rtt) << " ms");
                live_link n("scream", link, rtt, 0, 0, seed);
                n.run_to(60);
                CHECK(n.got_mbps(50, 60) > 0.8 * 1.92);
                CHECK(n.late_ms(0.95, 50, 60) < usec_to_msec(rtt) / 2 + 80);
            }
}
