// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/bridge/reflection.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/support/two_sizes.hpp"

namespace
{
const usec_t MS = USEC_PER_MSEC;
const usec_t TARGET = 250 * MS;
const usec_t TICK = 31250;

struct rig {
    ladder l = two_sizes(); // 100 to 400 kbit/s
    reflection r{};
    reflect_access a{};
    usec_t now = 0;
    int told = 0; // number of limits told
    double last = -1;
    int marks = 0, events = 0;

    explicit rig(reflect_mode mode = REFLECT_LIMIT)
    {
        reflection_init(&r, mode, TARGET, 1.0 / 3, &l, 0);
        reflection_set_rtt(&r, 200 * MS);
        a.carried_bps = INFINITY;
        a.wanted_bps = 400000;
    }
    // For so long the access delivers `bps` while `queue` waits, and the backbone brings `media`.
    void run(usec_t time, double bps, usec_t queue, double media = 0)
    {
        for (usec_t end = now + time; now < end;) {
            now += TICK;
            a.delivered_bytes += bps / 8 * TICK / 1e6;
            a.waiting = queue;
            a.waiting_bytes = queue > 0 ? 1000 : 0;
            reflection_arrived(&r, static_cast<size_t>(media / 8 * TICK / 1e6));
            reflect_orders orders = reflection_update(&r, &a, now);
            if (orders.sends_limit) {
                told++;
                last = orders.limit_bps;
            }
            marks += orders.marks;
            events += orders.marks > 0;
        }
    }
};
} // namespace

TEST_CASE("reflection: the limit of each queue at 200 kbit/s")
{
    struct row {
        usec_t queue;
        double limit;
    };
    const row table[] = {
        {0, 0},
        {120 * MS, 0},
        {125 * MS, 225000}, // 200 * (1 + 0.125)
        {250 * MS, 200000},
        {500 * MS, 150000},
        {750 * MS, 100000},
        {1000 * MS, 100000}, // not below the lowest level
        {5000 * MS, 100000},
    };
    for (const row &one : table) {
        INFO("queue of " << one.queue / MS << " ms");
        rig r;
        r.run(2 * USEC_PER_SEC, 200000, one.queue);
        CHECK(r.r.limit_bps == Approx(one.limit).epsilon(0.01));
        CHECK(r.r.sent_bps == Approx(one.limit).epsilon(0.04)); // steps of 3 %
    }
}

TEST_CASE("reflection: the rate is that of the time in which something waited")
{
    rig r;
    r.run(5 * USEC_PER_SEC, 50000, 0); // the source needed no more
    r.run(250 * MS, 200000, 200 * MS);
    CHECK(r.r.rate_bps == Approx(200000).epsilon(0.01));
}

TEST_CASE("reflection: what the access delivered since then replaces an older, lower measurement")
{
    rig r;
    r.run(2 * USEC_PER_SEC, 20000, TARGET);
    CHECK(r.r.rate_bps == Approx(20000).epsilon(0.01));
    r.run(5 * USEC_PER_SEC, 300000, 0); // nothing waits
    CHECK(r.r.rate_bps == Approx(300000).epsilon(0.01));
    double before = r.r.limit_bps;
    r.run(TICK, 300000, 150 * MS); // too short to be measured
    CHECK(r.r.limit_bps >= before);
}

TEST_CASE("reflection: the rate is the highest of a second, so that one stall of TCP is none of it")
{
    rig r;
    r.run(2 * USEC_PER_SEC, 200000, TARGET);
    r.run(500 * MS, 0, TARGET);
    CHECK(r.r.rate_bps == Approx(200000).epsilon(0.01));
    r.run(2 * USEC_PER_SEC, 80000, TARGET);
    CHECK(r.r.rate_bps == Approx(80000).epsilon(0.01));
}

TEST_CASE("reflection: what the transport has not sent is part of the queue")
{
    rig r;
    r.a.unsent_bytes = 12500; // half a second
    r.run(2 * USEC_PER_SEC, 200000, 0);
    CHECK(r.r.queue == Approx(500 * MS).epsilon(0.01));
    CHECK(r.r.limit_bps == Approx(150000).epsilon(0.01));
}

TEST_CASE("reflection: a key frame that is just leaving is no queue")
{
    rig r;
    r.run(5 * USEC_PER_SEC, 100000, 0);
    for (int i = 0; i < 20; i++) {
        r.a.unsent_bytes = 12500; // a second, at the rate that the media needs
        r.run(TICK, 100000, 0);
        r.a.unsent_bytes = 0;
        r.run(500 * MS, 100000, 0);
    }
    CHECK(r.told == 0);
}

TEST_CASE("reflection: what fills the access's own queue is part of it")
{
    rig r;
    r.a.rtt = 20 * MS;
    r.run(USEC_PER_SEC, 200000, 100 * MS);
    CHECK(r.r.queue == 100 * MS);
    CHECK(r.r.limit_bps == 0);
    r.a.rtt = 320 * MS;
    r.run(2 * USEC_PER_SEC, 200000, 100 * MS);
    CHECK(r.r.queue == 400 * MS);
    CHECK(r.r.limit_bps == Approx(170000).epsilon(0.01)); // 200 * (1 - 0.15)
}

TEST_CASE("reflection: between rare updates the deliveries are even")
{
    rig r;
    r.run(5 * USEC_PER_SEC, 150000, 0);
    // 8 ticks of 31.25 ms without an update, as of a viewer that needed no more
    r.now += 7 * TICK;
    r.a.delivered_bytes += 150000.0 / 8 * 7 * TICK / 1e6;
    r.run(TICK, 150000, 0);
    CHECK(r.r.rate_bps == Approx(150000).epsilon(0.01)); // it brings as much at least
    r.run(5 * TICK, 120000, TARGET);
    CHECK(r.r.rate_bps == Approx(150000).epsilon(0.03)); // not what came in one tick
}

TEST_CASE("reflection: it is idle while nothing waits, no limit is in force")
{
    rig r;
    r.run(USEC_PER_SEC, 200000, 0);
    CHECK(reflection_is_idle(&r.r));
    r.run(TICK, 200000, 1);
    CHECK(!reflection_is_idle(&r.r)); // a frame waits
    r.run(TICK, 200000, 0);
    CHECK(reflection_is_idle(&r.r));
    r.run(2 * USEC_PER_SEC, 200000, TARGET);
    r.run(TICK, 200000, 0);
    CHECK(r.r.limit_bps > 0);
    CHECK(!reflection_is_idle(&r.r));
    r.run(8 * USEC_PER_SEC, 200000, 0);
    CHECK(r.r.sent_bps == 0);
    CHECK(reflection_is_idle(&r.r));
    r.a.rtt = 20 * MS;
    r.run(TICK, 200000, 0);
    r.a.rtt = 120 * MS;
    r.run(TICK, 200000, 0);
    CHECK(!reflection_is_idle(&r.r)); // its own queue fills: more than a quarter of the target

    rig blocking(REFLECT_BLOCKING); // reads and stops within a round trip
    blocking.run(USEC_PER_SEC, 200000, 0);
    CHECK(!reflection_is_idle(&blocking.r));
}

TEST_CASE("reflection: a limit rises by 10 % in half a second, then ends")
{
    rig r;
    r.run(2 * USEC_PER_SEC, 200000, 250 * MS);
    double before = r.r.limit_bps;
    r.run(500 * MS, 200000, 0);
    CHECK(r.r.limit_bps == Approx(before * 1.1).epsilon(0.02));
    r.run(2 * USEC_PER_SEC, 200000, 0);
    CHECK(r.r.limit_bps == Approx(before * 1.61).epsilon(0.05)); // 1.1^5
    r.run(3 * USEC_PER_SEC, 200000, 0);
    CHECK(r.r.limit_bps == 0); // 1.25 times 400 kbit/s
    CHECK(r.last == 0);        // the origin knows
}

TEST_CASE("reflection: what the access carries limits the origin, not what the viewer asked for")
{
    for (double wanted : {100000., 200000., 400000.}) {
        INFO(wanted);
        rig r;
        r.a.wanted_bps = wanted;
        r.a.overhead_bps = 20000;
        r.run(5 * USEC_PER_SEC, wanted + 20000, 0);
        CHECK(r.told == 0);
        r.a.carried_bps = NAN; // no adaptation, as of a film
        r.run(5 * USEC_PER_SEC, wanted + 20000, 0);
        CHECK(r.told == 0);
    }
}

TEST_CASE("reflection: the origin is told a rate of media, without headers and repair")
{
    rig r;
    r.a.overhead_bps = 20000;
    r.run(2 * USEC_PER_SEC, 200000, 250 * MS);
    CHECK(r.r.limit_bps == Approx(200000).epsilon(0.01));
    CHECK(r.last == Approx(180000).epsilon(0.01));
    CHECK(r.r.reason == REFLECT_BY_QUEUE);
    r.a.carried_bps = 185000;
    r.run(USEC_PER_SEC, 200000, 250 * MS);
    CHECK(r.last == Approx(165000).epsilon(0.01));
    CHECK(r.r.reason == REFLECT_BY_ADAPTATION);
    r.a.carried_bps = 1;
    r.run(3 * USEC_PER_SEC, 110000, 400 * MS);
    CHECK(r.last == Approx(100000).epsilon(0.03)); // the lowest level
}

TEST_CASE("reflection: a limit ends beyond what the viewer asked for")
{
    rig r;
    r.a.wanted_bps = 200000;
    r.run(2 * USEC_PER_SEC, 200000, 250 * MS);
    r.run(1500 * MS, 200000, 0);
    CHECK(r.last == 0);      // 1.25 times 200 kbit/s
    r.a.wanted_bps = 400000; // another level, over the same access
    r.run(USEC_PER_SEC, 400000, 0);
    CHECK(r.last == 0);
}

TEST_CASE("reflection: the limit of the adaptation ends as soon as that sees no lack")
{
    rig r;
    r.run(2 * USEC_PER_SEC, 200000, 0);
    r.a.carried_bps = 150000;
    r.run(USEC_PER_SEC, 160000, 0);
    CHECK(r.last > 100000);
    r.a.carried_bps = INFINITY;
    r.run(250 * MS, 160000, 0);
    CHECK(r.last == 0);
}

TEST_CASE("reflection: another session with the origin is told the limit again")
{
    rig r;
    r.run(2 * USEC_PER_SEC, 200000, 250 * MS);
    int before = r.told;
    reflection_origin_forgot(&r.r);
    r.run(USEC_PER_SEC, 200000, 250 * MS);
    CHECK(r.told == before + 1);
    CHECK(r.last == Approx(200000).epsilon(0.01));
}

TEST_CASE("reflection: a limit is told at most once a round trip")
{
    rig r;
    r.run(4 * USEC_PER_SEC, 200000, 250 * MS);
    int before = r.told;
    CHECK(before == 1); // nothing changed
    r.run(2 * USEC_PER_SEC, 200000, 0);
    CHECK(r.told - before <= 10);
    CHECK(r.told - before >= 5);
}

TEST_CASE("reflection: marks for what exceeds the limit, one event a round trip")
{
    rig r(REFLECT_MARKS);
    r.run(2 * USEC_PER_SEC, 200000, 0, 400000);
    CHECK(r.marks == 0);
    r.run(USEC_PER_SEC, 200000, 250 * MS, 200000); // as much as it takes
    CHECK(r.marks <= 1);
    r.marks = r.events = 0;
    // 400 - 200 kbit/s in 200 ms are 5000 bytes: 5 packets of 1200.
    r.run(2 * USEC_PER_SEC, 200000, 250 * MS, 400000);
    CHECK(r.events >= 8);
    CHECK(r.events <= 10);
    CHECK(r.marks <= 5 * r.events);
    CHECK(r.marks > 4 * r.events);
    CHECK(r.told == 0);
}

TEST_CASE("reflection: frames vary: an excess of 15 % over what the adaptation leaves is no mark")
{
    rig r(REFLECT_MARKS);
    r.a.carried_bps = 200000;
    r.run(2 * USEC_PER_SEC, 200000, 0, 225000);
    CHECK(r.marks == 0);
    r.run(2 * USEC_PER_SEC, 200000, 0, 250000);
    CHECK(r.marks > 0);
    r.a.carried_bps = INFINITY;
    r.run(USEC_PER_SEC, 200000, 250 * MS, 200000);
    r.marks = 0;
    r.run(2 * USEC_PER_SEC, 200000, 250 * MS, 225000); // a queue is no guess
    CHECK(r.marks > 0);
}

TEST_CASE("reflection: off")
{
    rig r(REFLECT_OFF);
    r.run(2 * USEC_PER_SEC, 200000, 2 * USEC_PER_SEC, 400000);
    CHECK(r.told == 0);
    CHECK(r.marks == 0);
}
