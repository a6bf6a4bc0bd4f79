// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "common/base/rng.h"
#include "lab/link/bottleneck.h"
#include "tests/unit/lab/link/collector.hpp"

namespace
{

using times = std::vector<usec_t>;

rate_schedule constant(double bps)
{
    return {1, {{0, bps}}, 0};
}

// A bottleneck with a drop-tail queue, between a test and a collector.
struct bench {
    collector out;
    struct bottleneck node;
    struct trace trace {
    };

    explicit bench(const rate_schedule &s, uint32_t overhead = 0, usec_t now = 0)
    {
        bottleneck_init(&node, &out.sink.node, queue(), &s, nullptr, overhead, now);
    }
    explicit bench(const std::string &text, uint32_t overhead = 0, usec_t now = 0)
    {
        size_t line;
        REQUIRE(trace_parse(&trace, text.data(), text.size(), &line) == 0);
        bottleneck_init(&node, &out.sink.node, queue(), nullptr, &trace, overhead, now);
    }
    ~bench()
    {
        node_destroy(&node.node);
        trace_destroy(&trace);
    }
    void push(uint32_t flow, uint32_t bytes, usec_t now)
    {
        node_push(&node.node, out.make(flow, bytes), now);
    }
    void run(usec_t until)
    {
        run_node(&node.node, until);
    }
    usec_t next() const
    {
        return node_next_run_at(&node.node);
    }

  private:
    struct queue *queue()
    {
        queue_config config{};
        config.kind = QUEUE_DROPTAIL;
        config.limit.packets = 100000;
        return queue_new(&config, &out.drops.dropper, 1);
    }
};

} // namespace

TEST_CASE("bottleneck: packets are sent one by one, each as long as its bits take")
{
    bench b(constant(12e6), 0, 5000); // 1500 bytes in 1000 us
    std::vector<usec_t> waited;
    b.out.on_packet = [&](const packet *p, usec_t) { waited.push_back(p->queue_delay); };
    CHECK(b.next() == USEC_NEVER);
    b.push(0, 1500, 6000);
    b.push(1, 750, 6000);
    b.push(2, 1500, 6100);
    CHECK(b.node.queue->packets == 2); // the one under way is not in the queue
    b.run(20000);
    b.push(3, 3000, 20000);
    b.run(30000);
    CHECK(b.out.times() == times{7000, 7500, 8500, 22000});
    CHECK(b.out.flows() == std::vector<uint32_t>{0, 1, 2, 3});
    CHECK(waited == times{0, 1000, 1400, 0});
    CHECK(b.next() == USEC_NEVER);
}

TEST_CASE("bottleneck: a packet costs its overhead")
{
    bench b(constant(8e6), 38); // a byte a microsecond
    b.push(0, 1500, 0);
    b.push(1, 0, 0);
    b.run(10000);
    CHECK(b.out.times() == times{1538, 1576});
}

TEST_CASE("bottleneck: a busy period ends with its last bit, rounded up once")
{
    struct {
        double bps;
        int packets; // of 12,000 bits
        usec_t end;
    } const table[] = {
        {30e6, 1000000, 400000000},   // 400 us each
        {7e6, 1000000, 1714285715},   // 12e9 / 7 = 1,714,285,714.29 us
        {1e9, 1000000, 12000000},     // 12 us each
        {1e9 / 3, 100000, 3600001},   // counted as 333,333,333.333 bit/s: 3,600,000.0000036 us
        {100e9, 1000000, 120000},     // 0.12 us each: eight or nine in each
        {100e9, 1, 1},                //
        {1e3, 1000, 12000000000},     // 12 s each
        {33333.333, 1000, 360000004}, // 12e6 / 33,333.333 = 360.0000036 s
    };
    for (const auto &t : table) {
        bench b(constant(t.bps));
        INFO(t.bps);
        usec_t last = 0;
        int left = t.packets, came = 0;
        auto feed = [&](usec_t now) {
            if (left > 0)
                left--, b.push(0, 1500, now);
        };
        b.out.on_packet = [&](const packet *, usec_t now) {
            came++, last = now;
            b.out.came.clear();
            feed(now);
        };
        for (int i = 0; i < 20; i++) // never empty: 100 Gbit/s sends 8.3 in a microsecond
            feed(0);
        b.run(USEC_NEVER - 1);
        CHECK(came == t.packets);
        CHECK(last == t.end);
    }
}

TEST_CASE("bottleneck: time before a packet's arrival is not credited to it")
{
    // 12,000 bits at 7 Mbit/s: 1714.29 us.
    bench waiting(constant(7e6));
    waiting.push(0, 1500, 0);
    waiting.push(1, 1500, 1714); // at 1714.29 it is there
    waiting.run(10000);
    CHECK(waiting.out.times() == times{1715, 3429});

    bench late(constant(7e6));
    late.push(0, 1500, 0);
    late.push(1, 1500, 1715); // before the node is run at this instant
    late.run(10000);
    CHECK(late.out.times() == times{1715, 3430});

    bench idle(constant(7e6));
    idle.push(0, 1500, 0);
    idle.run(1715);
    idle.push(1, 1500, 1715);
    idle.run(10000);
    CHECK(idle.out.times() == times{1715, 3430});
}

TEST_CASE(
    "bottleneck: several packets leave in one microsecond, and their receiver may push at once")
{
    bench b(constant(100e9)); // 100,000 bits a microsecond
    for (uint32_t i = 0; i < 30; i++)
        b.push(i, 1250, 10); // 10,000 bits each
    b.out.on_packet = [&](const packet *p, usec_t now) {
        if (p->flow == 29)
            b.push(30, 1250, now);
    };
    b.run(100);
    times expected;
    for (usec_t i = 0; i < 30; i++)
        expected.push_back(11 + i / 10);
    expected.push_back(14);
    CHECK(b.out.times() == expected);
}

TEST_CASE("bottleneck: the rest of a packet is sent at the new rate")
{
    const rate_schedule half = {2, {{0, 12e6}, {500, 6e6}}, 0};
    const rate_schedule outage = {3, {{0, 12e6}, {500, 0}, {10500, 24e6}}, 0};
    const rate_schedule dark = {2, {{0, 0}, {3000, 12e6}}, 0};
    const rate_schedule loop = {2, {{0, 12e6}, {250, 0}}, 1000};
    const rate_schedule border = {2, {{0, 12e6}, {1000, 6e6}}, 0};
    struct {
        const rate_schedule *schedule;
        times leave; // 1500 bytes each, all at 0 (of the schedule)
    } const table[] = {
        {&half, {1500, 3500, 5500}},      // 6000 bits by 500, 6000 at 6 Mbit/s
        {&outage, {10750, 11250, 11750}}, // 6000 bits by 500, 6000 in 250 us
        {&dark, {4000, 5000, 6000}},      //
        {&loop, {3250, 7250, 11250}},     // a quarter of a packet in each ms
        {&border, {1000, 3000, 5000}},    //
    };
    for (const auto &t : table) {
        bench b(*t.schedule, 0, 100000);
        for (uint32_t i = 0; i < 3; i++)
            b.push(i, 1500, 100000);
        b.run(200000);
        times expected = t.leave;
        for (usec_t &e : expected)
            e += 100000;
        CHECK(b.out.times() == expected);
        CHECK(b.next() == USEC_NEVER);
    }
}

TEST_CASE("bottleneck: at rate 0 packets stay in the queue, and an idle one does not wake")
{
    const rate_schedule s = {3, {{0, 12e6}, {1000, 0}, {50000, 6e6}}, 0};
    bench b(s);
    CHECK(b.node.queue->rate_bps == 12e6);
    CHECK(b.next() == USEC_NEVER);
    b.push(0, 1500, 2000);
    b.push(1, 1500, 2000);
    CHECK(b.node.queue->rate_bps == 0);
    CHECK(b.node.queue->packets == 2);
    CHECK(b.next() == 50000);
    b.run(50000);
    CHECK(b.node.queue->rate_bps == 6e6);
    CHECK(b.node.queue->packets == 1);
    b.run(100000);
    CHECK(b.out.times() == times{52000, 54000});
}

TEST_CASE("bottleneck: a rate set in place of the schedule")
{
    const rate_schedule s = {2, {{0, 12e6}, {100, 1e3}}, 200};
    bench b(s);
    b.push(0, 1500, 0);
    b.push(1, 1500, 0);
    bottleneck_set_rate(&b.node, 6e6, 50); // 600 bits are sent; 11,400 at 6 Mbit/s: 1900 us
    CHECK(b.next() == 1950);
    b.run(2950); // and half of the second
    bottleneck_set_rate(&b.node, 0, 2950);
    CHECK(b.node.queue->rate_bps == 0);
    CHECK(b.next() == USEC_NEVER);
    b.push(2, 1500, 3000);
    bottleneck_set_rate(&b.node, 12e6, 10000);
    CHECK(b.next() == 10500);
    b.run(10500);
    bottleneck_set_rate(&b.node, 24e6, 11500); // the node has not yet run at this instant
    b.push(3, 1500, 11500);
    b.run(20000);
    CHECK(b.out.times() == times{1950, 10500, 11500, 12000});
    CHECK(b.node.bps == 24e6);
}

TEST_CASE("bottleneck: rate 0 and then a rate, with waiting packets")
{
    bench b(constant(0));
    b.push(0, 1500, 0);
    CHECK(b.next() == USEC_NEVER);
    bottleneck_set_rate(&b.node, 12e6, 700);
    b.run(10000);
    CHECK(b.out.times() == times{1700});
}

TEST_CASE("bottleneck: a late caller does not slow the server down")
{
    bench b(constant(12e6));
    for (uint32_t i = 0; i < 20; i++)
        b.push(i, 1500, 0);
    while (b.next() <= 10500)
        node_run(&b.node.node, 10500);
    CHECK(b.out.came.size() == 10);
    CHECK(b.next() == 11000);
    b.run(100000);
    CHECK(b.out.came.back().second == 20000);
}

TEST_CASE("bottleneck: equals a computation microsecond by microsecond")
{
    rng r = rng_seeded(9);
    for (int round = 0; round < 40; round++) {
        rate_schedule s{};
        s.count = 1 + (int)rng_below(&r, 6);
        for (int i = 0; i < s.count; i++) {
            s.steps[i].at = i ? s.steps[i - 1].at + 1 + (usec_t)rng_below(&r, 400) : 0;
            s.steps[i].bps = rng_below(&r, 4) ? 1e6 * (double)(1 + rng_below(&r, 20000)) / 7 : 0;
        }
        s.steps[s.count - 1].bps = 333e6;
        s.loop = round % 2 ? s.steps[s.count - 1].at + 1 + (usec_t)rng_below(&r, 300) : 0;
        bench b(s);
        times expected;
        std::vector<int64_t> backlog; // 1e-9 bits of each packet that is there
        const usec_t end = 8000;
        for (usec_t t = 0; t < end + 100000; t++) {
            b.run(t);
            while (t < end && rng_below(&r, 20) == 0) {
                uint32_t bytes = 40 + (uint32_t)rng_below(&r, 1461);
                b.push(0, bytes, t);
                backlog.push_back((int64_t)bytes * 8 * 1000000000);
            }
            usec_t until;
            int64_t work = std::llround(rate_schedule_at(&s, t, &until) * 1000);
            while (!backlog.empty() && work >= backlog[0]) {
                work -= backlog[0];
                backlog.erase(backlog.begin());
                expected.push_back(t + 1);
            }
            if (!backlog.empty())
                backlog[0] -= work;
        }
        b.run(end + 100000);
        INFO("round " << round);
        CHECK(expected.size() > 10); // not all, where the schedule mostly stands still
        CHECK(b.out.times() == expected);
    }
}

TEST_CASE("bottleneck: a trace's opportunities carry 1500 bytes, of packets and parts")
{
    struct {
        const char *trace;
        uint32_t overhead;
        std::vector<uint32_t> bytes; // all at 0 (of the trace)
        times leave_ms;
    } const table[] = {
        {"1\n2\n5\n", 0, {1500, 1500, 1500, 1500, 1500}, {1, 2, 5, 6, 7}},
        {"1\n2\n5\n", 0, {600, 600, 600}, {1, 1, 2}},
        {"1\n2\n5\n", 0, {500, 500, 500, 1}, {1, 1, 1, 2}},
        {"1\n2\n5\n", 0, {4000, 500, 1}, {5, 5, 6}},
        {"1\n2\n5\n", 1, {1500, 1498, 1499}, {2, 2, 5}}, // 1501, 1499, 1500
        {"3\n3\n3\n", 0, {1500, 3000, 1500}, {3, 3, 6}},
        {"0\n4\n", 0, {1500, 1500, 1500, 1500}, {0, 4, 4, 8}}, // the end of a round is a start
    };
    for (const auto &t : table) {
        bench b(t.trace, t.overhead, 7000);
        uint32_t flow = 0;
        for (uint32_t bytes : t.bytes)
            b.push(flow++, bytes, 7000);
        b.run(100000);
        times expected;
        for (usec_t ms : t.leave_ms)
            expected.push_back(7000 + 1000 * ms);
        INFO(t.trace << " with " << t.bytes[0]);
        CHECK(b.out.times() == expected);
        CHECK(b.next() == USEC_NEVER);
    }
}

TEST_CASE("bottleneck: the rest of an opportunity, and one without a packet, are lost")
{
    bench b("1\n2\n5\n"); // 1 2 5, 6 7 10, ...
    CHECK(b.node.queue->rate_bps == Approx(7.2e6));
    b.push(0, 100, 0);
    b.run(1000);
    b.push(1, 100, 1000); // 1400 bytes of this instant's are gone
    b.run(2000);
    b.push(2, 100, 2001); // 2000 is over
    b.run(5000);
    b.push(3, 100, 7000); // just in time: 7000 was not used
    b.run(7000);
    b.out.on_packet = [&](const packet *p, usec_t now) {
        if (p->flow == 4)
            b.push(5, 100, now); // the queue ran empty before
    };
    b.push(4, 100, 8000);
    b.run(20000);
    CHECK(b.out.times() == times{1000, 2000, 5000, 7000, 10000, 11000});
}

TEST_CASE("bottleneck: a packet leaves the queue when an opportunity has room for it")
{
    bench b("1\n2\n");
    for (uint32_t i = 0; i < 3; i++)
        b.push(i, 1500, 0);
    CHECK(b.node.queue->packets == 3);
    b.run(1000);
    CHECK(b.node.queue->packets == 2);
    b.run(2000);
    CHECK(b.node.queue->packets == 1);
}

TEST_CASE("bottleneck: a trace's idle time takes no computation")
{
    bench b("0\n1\n1\n10\n");
    const usec_t day = 86400 * USEC_PER_SEC;
    int runs = 0;
    for (int i = 0; i < 1000; i++) {
        b.push(0, 1500, i * day + 2000);
        for (; b.next() != USEC_NEVER; runs++)
            node_run(&b.node.node, b.next());
        if (b.out.came.back().second != i * day + 10000)
            FAIL("day " << i);
    }
    CHECK(runs == 1000);
}

TEST_CASE("bottleneck: destroying it returns its packets")
{
    for (bool is_trace : {false, true}) {
        collector out;
        queue_config config{};
        config.kind = QUEUE_DROPTAIL;
        config.limit.packets = 10;
        uint32_t at_ms[] = {1, 2};
        struct trace trace = {at_ms, 2, 2};
        const rate_schedule s = constant(1e6);
        struct bottleneck b;
        bottleneck_init(&b, &out.sink.node, queue_new(&config, &out.drops.dropper, 1),
                        is_trace ? nullptr : &s, is_trace ? &trace : nullptr, 0, 0);
        for (uint32_t i = 0; i < 3; i++)
            node_push(&b.node, out.make(i, 2000), 0);
        run_node(&b.node, 1000); // in the midst of the first
        CHECK(b.serving != nullptr);
        node_destroy(&b.node);
        CHECK(out.came.empty());
        CHECK(out.pool.out == 0);
    }
}
