// SPDX-License-Identifier: GPL-2.0-or-later
// One controller, fed by hand. How it fares on links: scream_link_test.cpp.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "common/base/err.h"
#include "common/congestion/controller.h"

namespace
{
constexpr uint32_t S = 1200;
constexpr usec_t MS = USEC_PER_MSEC;
constexpr usec_t RTT = 50 * MS;
constexpr usec_t OFFSET = 3000000; // of the receiver's clock

struct flow {
    std::unique_ptr<controller, decltype(&free)> c{nullptr, free};
    usec_t now = 0;
    int64_t number = 0;

    explicit flow(const std::string &name = "scream", double max_bps = 1e9, double start_bps = 0,
                  usec_t start_rtt = 0)
    {
        controller_config config = {S, max_bps, start_bps, start_rtt};
        c.reset(controller_new(name.c_str(), &config, 0));
        REQUIRE(c);
    }
    void send(bool backlogged = true)
    {
        cc_sent s = {number++, S, backlogged};
        c->ops->sent(c.get(), &s, now);
    }
    usec_t next()
    {
        return c->ops->next_send(c.get(), now);
    }
    double variable(const char *name) const
    {
        controller_info i;
        c->ops->info(c.get(), &i, now);
        for (const auto &v : i.variable)
            if (v.name && std::string(v.name) == name)
                return v.value;
        FAIL(name);
        return 0;
    }
    double allowed() const
    {
        controller_info i;
        c->ops->info(c.get(), &i, now);
        return i.rate_bps;
    }
    bool leads() const
    {
        controller_info i;
        c->ops->info(c.get(), &i, now);
        return i.leads;
    }
    double wnd() const
    {
        return variable("ref_wnd");
    }
    struct report {
        usec_t queued = 0;     // of each packet
        int lost = 0;          // of the first ones but one
        int marked = 0;        // of the last ones
        bool together = false; // a radio held them: they arrive with the last one
    };
    // `count` packets that left one RTT ago, one every `gap`, and are reported now.
    void hear(int count, usec_t gap, report r)
    {
        std::vector<cc_packet> p;
        now += count * gap;
        for (int i = 0; i < count; i++) {
            usec_t sent = now - RTT - r.queued - (count - 1 - i) * gap;
            bool lost = i > 0 && i <= r.lost;
            bool ce = !lost && i >= count - r.marked;
            usec_t held = r.together ? (count - 1 - i) * gap : 0;
            p.push_back({number++, S, lost, ce, sent,
                         lost ? 0 : OFFSET + sent + 25 * MS + r.queued + held});
        }
        usec_t rtt = RTT + r.queued;
        cc_feedback f = {p.data(), p.size(), rtt, rtt, number - 1, number - 1, 0};
        c->ops->feedback(c.get(), &f, now);
    }
    void hear(int count, usec_t gap)
    {
        hear(count, gap, report());
    }
    // Reports of four packets each, 5 ms apart: 1.92 Mbit/s.
    void hear_for(usec_t time, report r)
    {
        for (usec_t end = now + time; now < end;)
            hear(4, 5 * MS, r);
    }
    void hear_for(usec_t time)
    {
        hear_for(time, report());
    }
};
} // namespace

TEST_CASE("scream: it begins with ten packets per 100 ms, a frame's 1.5 times as fast")
{
    flow f;
    CHECK(f.wnd() == 10);
    CHECK(f.allowed() == Approx(10 * S * 8 / 0.1));
    CHECK(f.next() == 0);
    f.send(false);
    f.send();
    CHECK(f.next() == 0); // two packets of credit
    f.send();
    CHECK(f.next() == std::ceil(10000 / 1.5)); // 1 / 100 s each
    for (int i = 0; i < 40 && f.next() != USEC_NEVER; i++) {
        f.now = f.next();
        f.send();
    }
    CHECK(f.next() == USEC_NEVER); // twice (100 ms and a report, 11 packets) and two
    CHECK(f.number == 24);
}

TEST_CASE("scream: a source that always has data gets the rate, not 1.5 times that")
{
    flow f;
    f.hear_for(2 * USEC_PER_SEC);
    f.now += 60 * USEC_PER_SEC; // idle time earns one frame, no more
    const double bps = f.wnd() * S * 8 / 0.05;
    const usec_t start = f.now;
    int sent = 0;
    for (; f.next() - start < USEC_PER_SEC; sent++) {
        f.now = f.next();
        f.send();
        if (sent % 4 == 0) { // keeps the flight short, and tells nothing
            cc_feedback none = {nullptr, 0, 0, RTT, f.number - 1, f.number - 1, 0};
            f.c->ops->feedback(f.c.get(), &none, f.now);
        }
    }
    CHECK(sent * S * 8 < 1.1 * bps);
    CHECK(sent * S * 8 > 0.95 * bps);
}

TEST_CASE("scream: random loss without a queue does not shrink the window; 20 % of it does")
{
    flow f;
    f.hear_for(3 * USEC_PER_SEC);
    const double before = f.wnd();
    flow::report one;
    one.lost = 1;
    for (int i = 0; i < 100; i++) { // 5 %
        for (int k = 0; k < 4; k++)
            f.hear(4, 5 * MS);
        f.hear(4, 5 * MS, one);
        REQUIRE(f.wnd() >= 0.9 * before);
    }
    const double at_5 = f.wnd();
    for (int i = 0; i < 100; i++) // 25 %
        f.hear(4, 5 * MS, one);
    CHECK(f.wnd() < 0.9 * at_5);
}

TEST_CASE("scream: a loss in a queue, a classic mark and an L4S mark")
{
    struct row {
        const char *name;
        usec_t queued;
        int lost, marked;
        double least, most; // of the window before
    };
    const row rows[] = {
        {"scream", 15 * MS, 1, 0, 0.7, 0.7},       // BETA_LOSS
        {"scream:ecn=classic", 0, 0, 1, 0.8, 0.8}, // BETA_ECN
        {"scream", 20 * MS, 0, 1, 0.8, 0.8},       // no L4S queue is so long
        {"scream", 0, 0, 1, 0.97, 0.999},          // l4s_alpha = 1/4 * 1/8, and half of that
        {"scream", 0, 0, 4, 0.9, 0.97},
    };
    for (const row &r : rows) {
        CAPTURE(r.name, r.queued, r.lost, r.marked);
        flow f(r.name);
        f.hear_for(2 * USEC_PER_SEC);
        // The queue comes before its effect; it is not long enough to be drained.
        flow::report queue;
        queue.queued = r.queued;
        f.hear_for(100 * MS, queue);
        const double before = f.wnd();
        queue.lost = r.lost;
        queue.marked = r.marked;
        f.hear(4, 5 * MS, queue);
        CHECK(f.wnd() / before >= r.least - 0.005);
        CHECK(f.wnd() / before <= r.most + 0.02); // and what it grows by
        const double after = f.wnd();
        f.hear(4, 5 * MS, queue);
        if (r.most < 0.9) // once per round trip
            CHECK(f.wnd() >= after);
    }
}

TEST_CASE("scream: marks without a queue leave three packets, which leave evenly")
{
    flow f;
    f.hear_for(USEC_PER_SEC);
    flow::report marked;
    marked.marked = 4;
    double least = f.wnd();
    for (int i = 0; i < 500; i++) {
        f.hear(4, 5 * MS, marked);
        least = std::min(least, f.wnd());
    }
    CHECK(least == Approx(3));
    CHECK(f.wnd() == Approx(3));
    for (int i = 0; i < 3; i++)
        f.send();
    CHECK(f.next() - f.now == std::ceil(50000 / 3. / 1.1)); // two packets of credit
}

TEST_CASE("scream: a radio's batches leave three packets, and the rate is soon back")
{
    struct seen {
        double least; // ref_wnd
        double back;  // the media's rate 0.4 s later
    };
    // A radio, or a queue, holds the packets for that many times 200 ms.
    auto slow = [](bool together, int times) {
        flow f;
        flow::report fast, held;
        fast.together = held.together = together;
        held.queued = 400 * MS;
        for (int i = 0; i < 50; i++)
            f.hear(8, 5 * MS, fast);
        seen out = {f.wnd(), 0};
        for (int i = 0; i < times; i++) {
            f.hear(2, 100 * MS, held);
            out.least = std::min(out.least, f.wnd());
        }
        for (int i = 0; i < 10; i++)
            f.hear(8, 5 * MS, fast);
        out.back = f.allowed();
        return out;
    };
    CHECK(slow(true, 10).least == Approx(3));
    CHECK(slow(false, 10).least < 1);
    CHECK(slow(true, 1).back > 1e6);
    CHECK(slow(false, 1).back < 300e3);
}

TEST_CASE("scream: a queue sets the window to a share of what arrives, until it is gone")
{
    flow f;
    for (int i = 0; i < 200; i++)
        f.hear(8, 1250); // 7.68 Mbit/s
    CHECK(f.wnd() > 40);
    CHECK(f.variable("qdelay") < 1);
    flow::report queue;
    queue.queued = 50 * MS;
    usec_t since = f.now;
    for (double w = f.wnd(); f.wnd() >= w;) {
        w = f.wnd();
        f.hear(8, 2500, queue); // 3.84 Mbit/s now
        REQUIRE(f.now - since <= 100 * MS);
    }
    // 400 packets/s: 0.85 of those of 50 ms, but half of the rate, which is one window in 100 ms.
    for (int i = 0; i < 15; i++)
        f.hear(8, 2500, queue);
    CHECK(f.wnd() == Approx(0.5 * 400 * 0.1).epsilon(0.03));
    CHECK(f.allowed() >= 0.75 * 3.84e6); // the encoder does not stop
    CHECK(f.allowed() <= 1.5 * 3.84e6);
    const double drained = f.wnd();
    for (int i = 0; i < 200; i++)
        f.hear(4, 2500);
    CHECK(f.wnd() > 1.5 * drained);
    CHECK(f.variable("mode") == 0);
}

TEST_CASE("scream: a queue that stays although the flow yields belongs to others")
{
    flow f;
    f.hear_for(2 * USEC_PER_SEC);
    const double before = f.wnd();
    flow::report queue;
    queue.queued = 130 * MS;
    f.hear_for(200 * MS, queue);
    CHECK(f.wnd() < 0.7 * before);
    CHECK(f.variable("mode") == 0);
    f.hear_for(1200 * MS, queue);
    CHECK(f.variable("mode") == 1);
    CHECK(f.wnd() >= 0.8 * before);
    // There it moves as a TCP: a loss each second takes 0.3.
    const double competing = f.wnd();
    queue.lost = 1;
    f.hear(4, 5 * MS, queue);
    CHECK(f.wnd() == Approx(0.7 * competing).epsilon(0.03));
    // The others leave: the fall of the queue ends the mode, and there is nothing left to drain.
    f.hear_for(3 * USEC_PER_SEC);
    CHECK(f.variable("mode") == 2);
    f.hear_for(6 * USEC_PER_SEC);
    CHECK(f.variable("mode") == 0);
}

TEST_CASE("scream: a trial halves the window at most, and a confirmed one is the media's limit")
{
    flow f;
    f.hear_for(2 * USEC_PER_SEC);
    flow::report queue;
    queue.queued = 130 * MS;
    f.hear_for(3 * USEC_PER_SEC, queue);
    CHECK(f.variable("mode") == 1);
    CHECK_FALSE(f.leads());
    queue.queued = 65 * MS; // it fell by half: the next drain decides
    double before = 0;
    while (f.variable("mode") == 1) {
        before = f.wnd();
        f.hear(4, 5 * MS, queue);
    }
    queue.queued = 130 * MS; // a burst of others: a packet in 40 ms is what arrives
    double least = f.wnd();
    for (int i = 0; i < 20 && f.variable("mode") == 2; i++) {
        f.hear(1, 40 * MS, queue);
        least = std::min(least, f.wnd());
    }
    CHECK(least < 0.6 * before);
    CHECK(least > 0.49 * before);
    CHECK(f.variable("mode") == 1);
    CHECK(f.leads());
}

TEST_CASE("scream: what the media does not use does not let the window grow without bound")
{
    flow f;
    f.hear_for(2 * USEC_PER_SEC);
    f.hear_for(600 * USEC_PER_SEC);
    // 2.4 times what arrives, 1.92 Mbit/s, and a packet per round trip.
    CHECK(f.wnd() * S * 8 / 0.05 <= 2.4 * 1.92e6 * 1.01 + S * 8 / 0.05);
    CHECK(f.allowed() <= 2.4 * 1.92e6 * 1.01 + S * 8 / 0.05);
    CHECK(f.allowed() >= 2 * 1.92e6); // a viewer's next level has twice the rate
}

TEST_CASE("scream: each timeout halves the window, and forgets what was under way")
{
    flow f;
    f.hear_for(2 * USEC_PER_SEC);
    for (int i = 0; f.next() != USEC_NEVER; i++) {
        REQUIRE(i < 1000);
        f.now = f.next();
        f.send();
    }
    const double before = f.wnd();
    f.now += USEC_PER_SEC;
    f.c->ops->rto(f.c.get(), 1, f.now);
    CHECK(f.wnd() == Approx(before / 2));
    CHECK(f.next() == f.now);
    for (int i = 2; i < 5; i++) // the media paused: no probe leaves
        f.c->ops->rto(f.c.get(), i, f.now += USEC_PER_SEC);
    CHECK(f.wnd() == Approx(before / 2));
    for (int i = 5; i < 50; i++) {
        f.send();
        f.c->ops->rto(f.c.get(), i, f.now += USEC_PER_SEC);
    }
    CHECK(f.wnd() * S * 8 / 0.05 == Approx(50e3)); // RATE_PACE_MIN
}

TEST_CASE("scream: after a pause of the media, what arrived before is due")
{
    const double before = 1.92e6 * 0.05 / 8 / S; // packets of a round trip
    const struct {
        usec_t pause;
        bool backlogged; // it was no pause of the media: the controller held it up
        bool due;
    } table[] = {
        {20 * USEC_PER_SEC, false, true},
        {20 * USEC_PER_SEC, true, false},
        {900 * MS, false, false},
    };
    for (const auto &row : table) {
        INFO(row.pause << " us" << (row.backlogged ? ", backlogged" : ""));
        flow f;
        f.hear_for(5 * USEC_PER_SEC);
        flow::report queue;
        queue.queued = 37 * MS;
        f.send(false);
        f.hear_for(300 * MS, queue);
        f.send(false);
        const double drained = f.wnd();
        REQUIRE(drained < 0.9 * before);
        f.now += row.pause;
        f.send(row.backlogged);
        CHECK(f.wnd() == Approx(row.due ? before : drained).epsilon(0.02));
        // The first queue after it takes what each queue takes, but not for long.
        f.hear_for(60 * MS, queue);
        CHECK(f.wnd() > 0.6 * before);
        f.hear_for(240 * MS, queue);
        CHECK(f.wnd() < 0.9 * before);
        f.hear_for(100 * MS);
        CHECK((f.wnd() >= before) == row.due);
    }
}

TEST_CASE("scream: begins at the rate that is known of the path, or with ten packets")
{
    const struct {
        double start_bps;
        usec_t start_rtt;
        double allowed;
    } table[] = {
        {0, 0, 960e3}, // in 100 ms
        {3e6, 50 * MS, 3e6}, {3e6, 200 * MS, 3e6},
        {3e6, 0, 3e6},       {100e3, 100 * MS, 960e3}, // the media had no more
    };
    for (const auto &row : table) {
        INFO(row.start_bps << " " << row.start_rtt);
        CHECK(flow("scream", 1e9, row.start_bps, row.start_rtt).allowed() ==
              Approx(row.allowed).epsilon(0.01));
    }
}

TEST_CASE("scream: the configured max bounds the rate")
{
    flow f("scream", 1e6);
    f.hear_for(10 * USEC_PER_SEC);
    CHECK(f.allowed() == Approx(1e6));
}

TEST_CASE("scream: parameters")
{
    CHECK(controller_check("scream:target=30,ecn=classic") == 0);
    CHECK(controller_check("scream:ecn=l4s") == 0);
    CHECK(controller_check("scream:ecn=no") == ERR_MALFORMED);
    CHECK(controller_check("scream:target=5") == ERR_RANGE);
    CHECK(flow().c->l4s);
    CHECK_FALSE(flow("scream:ecn=classic").c->l4s);
    CHECK_FALSE(flow("tfrc").c->l4s);
    // A lower target drains a shorter queue.
    flow::report queue;
    queue.queued = 22 * MS;
    for (const char *name : {"scream", "scream:target=20"}) {
        flow f(name);
        f.hear_for(2 * USEC_PER_SEC);
        const double before = f.wnd();
        f.hear_for(200 * MS, queue);
        CHECK((f.wnd() < 0.8 * before) == (std::string(name) != "scream"));
    }
}
