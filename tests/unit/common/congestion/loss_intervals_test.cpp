// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <initializer_list>
#include <vector>

#include "common/congestion/loss_intervals.h"

namespace
{
const usec_t ms = USEC_PER_MSEC;

// One packet per millisecond. The packets with the numbers in `lost` do not arrive.
struct trace {
    loss_intervals l;
    int64_t next = 0;
    usec_t rtt;

    explicit trace(usec_t rtt_) : rtt(rtt_)
    {
        loss_intervals_init(&l);
    }
    void until(int64_t end, std::initializer_list<int64_t> lost = {})
    {
        auto it = lost.begin();
        for (; next < end; next++) {
            if (it != lost.end() && *it == next) {
                loss_intervals_lost(&l, next, rtt);
                ++it;
            } else {
                loss_intervals_arrived(&l, next, next * ms, false, rtt);
            }
        }
    }
};
} // namespace

TEST_CASE("loss intervals: no loss, no p; equal intervals give their inverse")
{
    trace t(10 * ms);
    t.until(100);
    CHECK(loss_intervals_rate(&t.l) == 0);
    for (int64_t n = 100; n < 2000; n += 100) {
        t.until(n + 100, {n});
        CHECK(t.l.events == (uint64_t)n / 100);
        CHECK(loss_intervals_rate(&t.l) == Approx(0.01));
    }
}

TEST_CASE("loss intervals: the mean and the discount by hand")
{
    // The closed intervals, oldest first: 10 20 30 40; all weigh 1. Their mean is 25.
    struct {
        int64_t open;
        double mean;
    } table[] = {
        {6, 25},               // (6 + 40 + 30 + 20) / 4 = 24 is less
        {10, 25},              // equal
        {46, 34},              // (46 + 40 + 30 + 20) / 4, and 46 <= 2 * 25
        {100, 58},             // DF = 50 / 100: (100 + (40 + 30 + 20) / 2) / (1 + 3 / 2)
        {1000, 1022.5 / 1.75}, // DF = 1/4 at least: (1000 + 90 / 4) / (1 + 3 / 4)
    };
    for (const auto &row : table) {
        trace t(5 * ms);
        t.until(101, {10, 30, 60, 100});
        t.until(100 + row.open);
        CHECK(loss_intervals_rate(&t.l) == Approx(1 / row.mean));
    }
}

TEST_CASE("loss intervals: eight weigh 1 1 1 1 0.8 0.6 0.4 0.2, a ninth nothing")
{
    trace t(5 * ms);
    // Closed, newest first: 80 70 60 50 40 30 20 10, and before them 500.
    t.until(870, {500, 510, 530, 560, 600, 650, 710, 780, 860});
    // 80 + 70 + 60 + 50 + 0.8 * 40 + 0.6 * 30 + 0.4 * 20 + 0.2 * 10 = 320, divided by 6. The long
    // first interval caused no discounts, as it was not an open one.
    CHECK(t.l.count == 8);
    CHECK(loss_intervals_rate(&t.l) == Approx(6 / 320.0));
}

TEST_CASE("loss intervals: the discount of an old history stays with it")
{
    trace t(5 * ms);
    t.until(31, {10, 20, 30}); // 10 10 10
    t.until(131, {70});        // closed at 40 = twice 2 * 10: DF = 20 / 40
    CHECK(t.l.discount[1] == 1);
    CHECK(t.l.discount[2] == Approx(0.5));
    CHECK(t.l.discount[4] == Approx(0.5));
    // I_0 = 61; mean of the closed: (40 + 3 * 10 * 0.5) / (1 + 1.5) = 22; DF = 44 / 61.
    // (61 + DF (40 + 0.5 * 10 + 0.5 * 10)) / (1 + DF (1 + 0.5 + 0.5))
    double df = 44.0 / 61;
    CHECK(loss_intervals_rate(&t.l) == Approx((1 + 2 * df) / (61 + 50 * df)));
}

TEST_CASE("loss intervals: losses within an RTT of the first are one event")
{
    trace t(20 * ms);
    t.until(200, {100, 101, 110, 120, 121, 141, 142}); // from 100, 121 and 142
    CHECK(t.l.events == 3);
    CHECK(t.l.event_number == 142);
}

TEST_CASE("loss intervals: small packets, whose losses count up to a full packet's bytes")
{
    // An event each 100 packets, of so many losses within an RTT.
    const struct {
        double full;
        int losses;
        double p;
    } table[] = {
        {1, 1, 0.01}, {1, 3, 0.01}, {2, 1, 0.01},    {2, 2, 0.02},
        {2, 3, 0.02}, {4, 3, 0.03}, {2.5, 3, 0.025}, {0.5, 2, 0.01},
    };
    for (const auto &row : table) {
        INFO(row.losses << " losses, " << row.full << " have a full one's bytes");
        trace t(10 * ms);
        t.l.full = row.full;
        for (int64_t n = 100; n < 1400; n += 100) {
            t.until(n);
            if (row.losses == 1)
                t.until(n + 10, {n});
            else if (row.losses == 2)
                t.until(n + 10, {n, n + 3});
            else
                t.until(n + 10, {n, n + 1, n + 6});
        }
        CHECK(loss_intervals_rate(&t.l) == Approx(row.p));
    }
    trace t(10 * ms); // the seed is the first event's interval, whatever it was
    t.l.full = 4;
    t.until(60, {50});
    loss_intervals_seed(&t.l, 200);
    t.until(61, {60});
    CHECK(loss_intervals_rate(&t.l) == Approx(1. / 200));
    t.until(63, {61});
    CHECK(t.l.events == 2);
    t = trace(20 * ms);
    t.l.full = 4;
    t.until(60, {50});
    loss_intervals_seed(&t.l, 200);
    t.until(62, {60});
    CHECK(loss_intervals_rate(&t.l) == Approx(1. / 100)); // two losses
}

TEST_CASE("loss intervals: nominal arrivals of a run of losses are interpolated")
{
    loss_intervals l;
    loss_intervals_init(&l);
    // 0 arrives at 0 and 10 at 1000 us, 1-9 are lost: due at 100, 200, ... With R = 350 us events
    // start at 1 (100 us), 5 (500) and 9 (900).
    loss_intervals_arrived(&l, 0, 0, false, 350);
    for (int n = 1; n < 10; n++)
        loss_intervals_lost(&l, n, 350);
    CHECK(l.events == 0); // not known before the next arrival
    loss_intervals_arrived(&l, 10, 1000, false, 350);
    CHECK(l.events == 3);
    CHECK(l.event_number == 9);
    CHECK(l.event_at == 900);
    CHECK(l.length[1] == 4);
    CHECK(l.length[2] == 4);
}

TEST_CASE("loss intervals: a loss that is reported after later arrivals")
{
    loss_intervals l;
    loss_intervals_init(&l);
    for (int n : {1, 2, 4, 5})
        loss_intervals_arrived(&l, n, 100 * n, false, 10);
    loss_intervals_lost(&l, 3, 10);
    CHECK(l.events == 1);
    CHECK(l.event_at == 300);
    loss_intervals_arrived(&l, 6, 600, false, 10);
    CHECK(l.events == 1);
}

TEST_CASE("loss intervals: lost first packets, a negative remote clock, and a seed")
{
    loss_intervals l;
    loss_intervals_init(&l);
    loss_intervals_lost(&l, 0, 1000);
    loss_intervals_lost(&l, 1, 1000);
    loss_intervals_arrived(&l, 2, -5000, false, 1000);
    CHECK(l.events == 1);
    CHECK(l.event_at == -5000);
    CHECK(loss_intervals_rate(&l) == Approx(1 / 3.0)); // I_0 is packets 0 to 2
    loss_intervals_seed(&l, 250);
    CHECK(loss_intervals_rate(&l) == Approx(1 / 250.0));
    loss_intervals_arrived(&l, 3, INT64_MAX, false, 1000); // nonsense does no harm
    loss_intervals_arrived(&l, 4, INT64_MIN, true, 1000);
    CHECK(loss_intervals_rate(&l) <= 1);
}

TEST_CASE("loss intervals: a mark counts as a loss of a packet that arrived")
{
    trace t(10 * ms);
    t.until(50);
    loss_intervals_arrived(&t.l, 50, 50 * ms, true, 10 * ms);
    loss_intervals_arrived(&t.l, 51, 51 * ms, true, 10 * ms);
    CHECK(t.l.events == 1);
    CHECK(t.l.event_at == 50 * ms);
    CHECK(loss_intervals_rate(&t.l) == Approx(1 / 50.0));
}
