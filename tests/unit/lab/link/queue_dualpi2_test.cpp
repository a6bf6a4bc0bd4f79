// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "tests/unit/lab/link/queue_fixture.hpp"

namespace
{

// The step is set so high that all marks of L are coupled ones.
queue_config dualpi2_config(usec_t step = 1000 * USEC_PER_SEC)
{
    queue_config c = config_of(QUEUE_DUALPI2, 10000);
    c.ecn = true;
    c.target = 15 * MS;
    c.interval = 16 * MS;
    c.alpha = 0.16;
    c.beta = 3.2;
    c.k = 2;
    c.step = step;
    return c;
}

struct counts {
    size_t dropped, marked;
};

// 1000 packets arrive at 0, and all are dequeued at `t`.
counts signals_at(usec_t t, ecn e, const queue_config &c = dualpi2_config())
{
    queue_fixture f(c);
    f.put_many(1000, 0, e);
    f.take_all(t);
    return {f.dropped(LINK_DROP_AQM).size(), f.marked.size()};
}

} // namespace

TEST_CASE("dualpi2: p', its square for C, its double for L, by hand")
{
    // Each 16 ms: 0.16 (wait - 0.015) + 3.2 * 0.016.
    struct row {
        usec_t at_ms;
        double p; // for the reader
        size_t c, l;
    };
    const row rows[] = {
        {15, 0, 0, 0},            // before the first update
        {16, 0.05136, 2, 102},    // 0.00016 + 0.0512; 1000 p^2 = 2.64, 1000 * 2 p = 102.7
        {31, 0.05136, 2, 102},    //
        {32, 0.10528, 11, 210},   // + 0.00272 + 0.0512; 11.08, 210.6
        {48, 0.16176, 26, 323},   // + 0.00528 + 0.0512; 26.17, 323.5
        {64, 0.2208, 48, 441},    // + 0.00784 + 0.0512; 48.75, 441.6
        {80, 0.2824, 79, 564},    // + 0.0104 + 0.0512; 79.75, 564.8
        {128, 0.48256, 232, 965}, // + 0.01296, 0.01552, 0.01808 + 3 * 0.0512; 232.9, 965.1
    };
    for (const row &r : rows) {
        CAPTURE(r.at_ms, r.p);
        counts classic = signals_at(r.at_ms * MS, ECN_NOT);
        CHECK(classic.dropped == r.c);
        CHECK(classic.marked == 0);
        counts ect0 = signals_at(r.at_ms * MS, ECN_ECT0);
        CHECK(ect0.dropped == 0);
        CHECK(ect0.marked == r.c);
        counts l4s = signals_at(r.at_ms * MS, ECN_ECT1);
        CHECK(l4s.dropped == 0);
        CHECK(l4s.marked == r.l);
    }
}

TEST_CASE("dualpi2: without `ecn` ECT(0) is dropped; L is marked in any case")
{
    queue_config c = dualpi2_config();
    c.ecn = false;
    CHECK(signals_at(48 * MS, ECN_ECT0, c).dropped == 26);
    CHECK(signals_at(48 * MS, ECN_ECT1, c).marked == 323);
}

TEST_CASE("dualpi2: overload: from k p' = 1 on, drops in both queues whatever the ECN bits")
{
    // At 144 ms: p' = 0.48256 + 0.02064 + 0.0512 = 0.5544, p'^2 = 0.30736
    for (ecn e : {ECN_NOT, ECN_ECT0}) {
        counts c = signals_at(144 * MS, e);
        CHECK(c.dropped == 307);
        CHECK(c.marked == 0);
    }
    counts l = signals_at(144 * MS, ECN_ECT1);
    CHECK(l.dropped == 307);
    CHECK(l.marked == 693);
}

TEST_CASE("dualpi2: both queues share p', the longer wait drives it")
{
    queue_fixture f(dualpi2_config());
    f.put_many(1000, 0, ECN_ECT1);
    f.put_many(1000, 40 * MS, ECN_NOT);
    f.take_all(48 * MS);
    CHECK(f.dropped(LINK_DROP_AQM).size() == 26);
    CHECK(f.marked.size() == 323);
}

TEST_CASE("dualpi2: updates happen at their own times, for any number of packets between them")
{
    queue_config c = dualpi2_config();
    c.limit.packets = 1000;
    for (usec_t poke : {1, 7, 16, 50}) {
        CAPTURE(poke);
        queue_fixture f(c);
        f.put_many(1000, 0);
        for (usec_t t = poke; t <= 128; t += poke)
            f.put(t * MS); // does not fit, and is an event
        f.take_all(130 * MS);
        CHECK(f.dropped(LINK_DROP_AQM).size() == 232);
    }
}

TEST_CASE("dualpi2: p' falls while no packet waits")
{
    struct row {
        usec_t at_ms;
        size_t marks; // of 10000 L packets
    };
    // 0.16176 at 48 ms. At 64: - 0.16 * 0.015 - 3.2 * 0.048 = 0.00576; then 0.0024 each 16 ms.
    const row rows[] = {
        {63, 3235}, {64, 115}, {80, 67}, {96, 19}, {112, 0}, {3600000, 0}, {3600000000, 0},
    };
    for (const row &r : rows) {
        CAPTURE(r.at_ms);
        queue_fixture f(dualpi2_config());
        f.put_many(1000, 0);
        f.take_all(48 * MS);
        f.put_many(10000, r.at_ms * MS, ECN_ECT1);
        f.take_all(r.at_ms * MS);
        CHECK(f.marked.size() == r.marks);
    }
}

TEST_CASE("dualpi2: after a long rate of 0, p' is 1 and all packets are dropped")
{
    for (usec_t hours : {1, 100}) {
        queue_fixture f(dualpi2_config());
        f.put_many(500, 0);
        f.put_many(500, 0, ECN_ECT1);
        CHECK_FALSE(f.take(hours * 3600 * USEC_PER_SEC));
        CHECK(f.dropped(LINK_DROP_AQM).size() == 1000);
        CHECK(f.q->packets == 0);
    }
}

TEST_CASE("dualpi2: skipping updates beyond the bound does not distort the wait")
{
    // The wait itself does not count, its growth adds 1e-8 an update.
    queue_config c = dualpi2_config(USEC_NEVER);
    c.alpha = 0;
    c.beta = 1e-8 / 0.016;
    queue_fixture f(c);
    f.put_many(1000, 0, ECN_ECT1);
    f.take_all(3600 * USEC_PER_SEC); // 225000 updates, 10000 of them made: p' = 0.0001
    CHECK(f.marked.size() == 0);     // 1000 * 2 * 0.0001 = 0.2
}

TEST_CASE("dualpi2: L's step, with more than one packet behind the leaving one")
{
    struct row {
        uint32_t behind;
        usec_t wait;
        bool marked;
    };
    const row rows[] = {
        {2, 1000, false},  {2, 1001, true},   {9, 1001, true}, // above the step
        {1, 1001, false},  {0, 1001, false},                   // Th_len
        {1, 12000, false}, {0, 12000, false},                  // 12 ms: a packet's time at 1 Mbit/s
    };
    for (const row &r : rows) {
        CAPTURE(r.behind, r.wait);
        queue_fixture f(dualpi2_config(MS));
        f.put_many(1 + r.behind, 0, ECN_ECT1);
        f.put_many(5, 0, ECN_ECT0); // in C: they do not count
        f.take(r.wait);
        CHECK(f.marked.size() == r.marked);
    }
    queue_fixture classic(dualpi2_config(MS));
    classic.put_many(5, 0, ECN_ECT0);
    classic.take(14 * MS);
    CHECK(classic.marked.empty());
}

TEST_CASE("dualpi2: a step's mark does not affect the coupled ones")
{
    // p' = 0.05136 at 16 ms, p_CL = 0.10272: the tenth, ... of those that the step leaves alone.
    queue_config c = dualpi2_config(15999);
    queue_fixture f(c);
    f.put_many(1, 0, ECN_ECT1);
    f.put_many(20, 16 * MS, ECN_ECT1);
    f.take_all(16 * MS);
    CHECK(f.marked == std::vector<uint32_t>{0, 10, 20}); // 10 * 0.10272 > 1, 20 * 0.10272 > 2
}

TEST_CASE("dualpi2: ECT(0) is marked below p_Cmax = min(1 / k^2, 1), dropped from there on")
{
    struct row {
        double k;
        usec_t at_ms;
        size_t dropped, marked; // of 1000
    };
    // p' as above: 0.05136, 0.4312 (+ 0.01296 and 0.01552 + 2 * 0.0512 since 80 ms), 1 at last.
    const row rows[] = {
        {2, 16, 0, 2},      {20, 16, 2, 0},       // 1 / k = 0.05
        {1, 112, 0, 170},   {2, 112, 0, 170},     // p'^2 = 0.1705
        {3, 112, 170, 0},                         // 1 / k = 0.33
        {1, 9999, 1000, 0}, {0.5, 9999, 1000, 0}, // p' = 1: p_Cmax is never above it
    };
    for (const row &r : rows) {
        CAPTURE(r.k, r.at_ms);
        queue_config c = dualpi2_config();
        c.k = r.k;
        counts n = signals_at(r.at_ms * MS, ECN_ECT0, c);
        CHECK(n.dropped == r.dropped);
        CHECK(n.marked == r.marked);
    }
}

TEST_CASE("dualpi2: ECT(1) and CE go to L; it is served 15 : 1 while both wait")
{
    queue_fixture f(dualpi2_config());
    for (int i = 0; i < 25; i++) {
        f.put(0, ECN_NOT); // 0, 4, 8, ...
        f.put(0, ECN_ECT1);
        f.put(0, ECN_ECT0);
        f.put(0, ECN_CE);
    }
    f.take_all(0);
    REQUIRE(f.out.size() == 100);
    // 50 are in each: 15 L, C, 15 L, C, 15 L, C, 5 L, then the rest of C.
    for (size_t i = 0; i < 100; i++) {
        CAPTURE(i);
        bool l = i < 53 && i != 15 && i != 31 && i != 47;
        CHECK((f.out[i] % 2 == 1) == l);
    }
    CHECK(f.marked.empty()); // CE was CE before
}

TEST_CASE("dualpi2: the hard limit is one for both queues")
{
    queue_config c = dualpi2_config();
    c.limit.packets = 4;
    queue_fixture f(c);
    f.put_many(3, 0, ECN_ECT1);
    f.put_many(3, 0, ECN_NOT);
    CHECK(f.dropped(LINK_DROP_FULL) == std::vector<uint32_t>{4, 5});
}

TEST_CASE("dualpi2: a responsive classic sender waits near the target")
{
    const ecn e = GENERATE(ECN_NOT, ECN_ECT0);
    queue_fixture f(dualpi2_config(MS));
    run_link(f, 60 * USEC_PER_SEC, e, aimd{f, 0.3});
    CHECK(mean_of_second_half(f.waits) < 20 * MS);
    CHECK(f.out.size() > 0.75 * 60e6 / 1200); // one flow, cut by 30 %
}

TEST_CASE("dualpi2: permanent overload of 10 %: the target's wait, 1 / 11 dropped")
{
    queue_fixture f(dualpi2_config(MS));
    rng r = rng_seeded(11);
    run_link(f, 60 * USEC_PER_SEC, ECN_NOT,
             [&](usec_t) { return static_cast<usec_t>(rng_below(&r, 2182)); }); // mean 1090.5 us
    CHECK(mean_of_second_half(f.waits) == Approx(15 * MS).epsilon(0.1));
    double share = static_cast<double>(f.dropped(LINK_DROP_AQM).size()) / f.next;
    CHECK(share == Approx(1 / 11.0).epsilon(0.1));
    CHECK(f.out.size() > 0.98 * 60e6 / 1200);
}
