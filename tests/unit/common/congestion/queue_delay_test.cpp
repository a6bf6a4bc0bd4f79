// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/congestion/queue_delay.h"

#include <catch2/catch.hpp>

namespace
{
constexpr usec_t MS = USEC_PER_MSEC;
constexpr usec_t OFFSET = -7000000; // of the two clocks

struct rig {
    queue_delay q;
    rig()
    {
        queue_delay_init(&q);
    }
    // One report of a packet that waited so long, 20 ms after it left.
    usec_t report(usec_t waited, usec_t now)
    {
        queue_delay_base(&q, OFFSET + 20 * MS + waited, now);
        usec_t got = queue_delay_arrived(&q, OFFSET + 20 * MS + waited, now);
        queue_delay_update(&q, 50 * MS, now);
        return got;
    }
};
} // namespace

TEST_CASE("queue_delay: what is more than the base delay, whatever the clocks' offset")
{
    rig r;
    CHECK(r.report(30 * MS, 0) == 0); // nothing shorter is known
    CHECK(r.report(0, 1000 * MS) == 0);
    CHECK(r.report(30 * MS, 2000 * MS) == 30 * MS);
    CHECK(queue_delay_of(&r.q, OFFSET + 25 * MS) == 5 * MS);
}

TEST_CASE("queue_delay: the base delay is forgotten after 30 to 60 s, as when the route changed")
{
    rig r;
    r.report(0, 0);
    usec_t now = 0;
    for (; now < 30 * USEC_PER_SEC; now += USEC_PER_SEC)
        CHECK(r.report(now ? 40 * MS : 0, now) == (now ? 40 * MS : 0));
    while (now < 61 * USEC_PER_SEC)
        r.report(40 * MS, now += USEC_PER_SEC);
    CHECK(r.report(40 * MS, now) == 0);
    CHECK(r.report(45 * MS, now) == 5 * MS);
}

TEST_CASE("queue_delay: a frame that queues behind itself is no standing queue, only a tail")
{
    rig r;
    r.report(0, 0);
    for (usec_t frame = 100 * MS; frame < 1000 * MS; frame += 20 * MS)
        for (usec_t i = 0; i < 5; i++) // its packets wait 0, 5 .. 20 ms
            r.report(i * 5 * MS, frame);
    CHECK(r.q.standing == 0);
    CHECK(queue_delay_tail(&r.q) == 10 * MS);
    CHECK(r.q.average == 0);
    // A queue under all of it shows within 50 ms.
    for (usec_t frame = 1000 * MS; frame < 1080 * MS; frame += 20 * MS)
        for (usec_t i = 0; i < 5; i++)
            r.report((30 + i * 5) * MS, frame);
    CHECK(r.q.standing == 30 * MS);
    CHECK(queue_delay_tail(&r.q) == 40 * MS);
    CHECK(r.q.last == 50 * MS);
}

TEST_CASE("queue_delay: the average follows a rise by a quarter each 25 ms, a fall at once")
{
    rig r;
    usec_t now = 0;
    r.report(0, now);
    r.report(40 * MS, now += 60 * MS); // the 0 is forgotten by 50 ms
    CHECK(r.q.average == Approx(10e3));
    r.report(40 * MS, now += 10 * MS); // too early
    CHECK(r.q.average == Approx(10e3));
    r.report(40 * MS, now += 20 * MS);
    CHECK(r.q.average == Approx(17.5e3));
    r.report(4 * MS, now += 30 * MS);
    CHECK(r.q.average == Approx(4e3));
}

TEST_CASE("queue_delay: the peak is of this second and of the one before")
{
    rig r;
    r.report(0, 0);
    r.report(70 * MS, 500 * MS);
    r.report(10 * MS, 600 * MS);
    CHECK(r.q.peak == 70 * MS);
    r.report(20 * MS, 1500 * MS);
    CHECK(r.q.peak_before == 70 * MS);
    CHECK(r.q.peak == 20 * MS);
    r.report(5 * MS, 2600 * MS);
    CHECK(r.q.peak_before == 20 * MS);
}
