// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "common/congestion/psp.h"

namespace
{
constexpr usec_t RTT = 84000;

struct flow {
    std::unique_ptr<controller, decltype(&free)> c{nullptr, free};
    int64_t number = 0;

    explicit flow(const std::string &name, double max_bps = 1e12)
    {
        controller_config config = {1500, max_bps, 0, 0};
        c.reset(controller_new(name.c_str(), &config, 0));
        REQUIRE(c);
    }
    void send(usec_t now)
    {
        cc_sent s = {number++, 1500, true};
        c->ops->sent(c.get(), &s, now);
    }
    // Reports one more packet as arrived or lost.
    void hear(usec_t now, bool lost, usec_t rtt = RTT, bool ce = false, uint64_t flight = 0)
    {
        cc_packet p = {number - 1, 1500, lost, ce, now - RTT, lost ? 0 : now};
        cc_feedback f = {&p, 1, rtt, RTT, number - 1, number - 1, flight};
        c->ops->feedback(c.get(), &f, now);
    }
    usec_t next(usec_t now)
    {
        return c->ops->next_send(c.get(), now);
    }
    controller_info info() const
    {
        controller_info out;
        c->ops->info(c.get(), &out, 0);
        return out;
    }
    double spacing() const
    {
        return info().variable[0].value;
    }
    double rate() const
    {
        return info().rate_bps;
    }
};
} // namespace

// One decision per RTT: the feedback (-: all arrived, x: a loss, m: a mark), and the spacing after
// it.
TEST_CASE("psp: tables of decisions")
{
    struct row {
        const char *name, *heard;
        std::vector<double> spacing;
    };
    const row rows[] = {
        // Figure 4
        {"psp-plain", "--", {0, 0}},
        {"psp-plain", "xxx-", {50, 100, 200, 198}},
        {"psp-plain", "x--xm-", {50, 48, 46, 92, 184, 182}},
        {"psp-plain:initial=3", "---x", {1, 0, 0, 50}},
        {"psp-plain:initial=60000", "x-xx", {84000, 83998, 84000, 84000}}, // at most the RTT
        {"psp-plain:first=30,step=7.5", "x-xx", {30, 22.5, 45, 90}},
        // 2.2: a loss after a decrease takes it back, the next decision holds
        {"psp", "xxx-", {50, 100, 200, 198}},
        {"psp", "x-x-", {50, 48, 50, 50}},
        {"psp", "x-xx-", {50, 48, 50, 50, 48}},  // held whatever was heard
        {"psp", "x-x-x", {50, 48, 50, 50, 100}}, // no decrease before it: doubles
        {"psp", "x--x--x--", {50, 48, 46, 48, 48, 46, 48, 48, 46}},
        {"psp:initial=1", "--x", {0, 0, 50}}, // 0 - 2 was no decrease
        {"psp:initial=1", "-x-x", {0, 1, 1, 2}},
    };
    for (const row &r : rows) {
        CAPTURE(r.name, r.heard);
        flow f(r.name);
        f.send(0);
        for (size_t i = 0; r.heard[i]; i++) {
            f.hear(static_cast<usec_t>(i + 1) * RTT, r.heard[i] == 'x', RTT, r.heard[i] == 'm');
            CAPTURE(i);
            CHECK(f.spacing() == Approx(r.spacing[i]).margin(1e-9));
        }
    }
}

TEST_CASE("psp: a packet leaves t_x + t_s after its predecessor")
{
    // 1500 bytes at 100 Mbit/s: 120 us.
    flow f("psp-plain:link=100000000,initial=30");
    CHECK(f.next(0) == 0);
    f.send(0);
    CHECK(f.next(0) == 150);
    CHECK(f.next(200) == 200);
    f.send(200); // late: the spacing is kept
    CHECK(f.next(200) == 350);
    CHECK(f.rate() == Approx(12000 / 150e-6));
    CHECK(flow("psp").rate() == Approx(1e9));        // 12 us, no spacing
    CHECK(flow("psp", 50e6).rate() == Approx(50e6)); // the configured maximum
    CHECK(flow("psp:link=100000000").rate() == Approx(1e8));
}

TEST_CASE("psp: media leaves at no more than its peak rate, whatever the spacing allows")
{
    flow f("psp-plain:first=10000");
    f.c->ops->media_rate(f.c.get(), 4e6, 0); // a packet takes 3 ms
    f.send(0);
    CHECK(f.next(0) == 3000);
    CHECK(f.rate() == Approx(1e9)); // the law's
    f.hear(RTT, true);              // t_s = 10 ms
    f.send(RTT);
    CHECK(f.next(RTT) == RTT + 10012);
    f.c->ops->media_rate(f.c.get(), 1e6, RTT); // 12 ms
    f.send(RTT + 10012);
    CHECK(f.next(RTT + 10012) == RTT + 10012 + 12000);
}

TEST_CASE("psp: the mean period is exact although times are whole microseconds")
{
    flow f("psp-plain:link=70000000", 1e12); // 171.43 us
    f.send(0);
    f.hear(RTT, false);
    usec_t now = RTT, end = RTT + 10 * USEC_PER_SEC;
    int64_t n = 0;
    for (; now < end; n++) {
        f.send(now);
        now = f.next(now);
    }
    CHECK(std::abs(static_cast<double>(n) - 10 * 70e6 / 12000) <= 2);
}

TEST_CASE("psp: ten packets before the first RTT sample")
{
    flow f("psp");
    usec_t now = 0;
    for (int i = 0; i < PSP_FIRST_PACKETS; i++) {
        now = f.next(now);
        CHECK(now == i * 12);
        f.send(now);
    }
    CHECK(f.next(now) == USEC_NEVER);
    CHECK(f.rate() == 0);
    f.hear(RTT, false, 0); // no sample
    CHECK(f.next(RTT) == USEC_NEVER);
    f.hear(RTT + 1, false);
    CHECK(f.next(RTT + 1) == RTT + 1);
    CHECK(f.c->wish.interval == RTT);
}

TEST_CASE("psp: one decision per base RTT, at its end if the feedback came earlier")
{
    flow f("psp-plain");
    const controller_ops *ops = f.c->ops;
    f.send(0);
    CHECK(ops->next_timeout(f.c.get()) == USEC_NEVER);
    f.hear(RTT, true);
    CHECK(f.spacing() == 50);
    f.hear(RTT + 10000, true);
    f.hear(RTT + 20000, false);
    CHECK(f.spacing() == 50);
    CHECK(ops->next_timeout(f.c.get()) == 2 * RTT);
    ops->timeout(f.c.get(), 2 * RTT);
    CHECK(f.spacing() == 100);
    CHECK(ops->next_timeout(f.c.get()) == USEC_NEVER); // no news, nothing outstanding
    f.hear(3 * RTT, false, RTT / 2);                   // a shorter RTT is the base now
    CHECK(f.spacing() == 98);
    f.hear(3 * RTT + RTT / 2, false);
    CHECK(f.spacing() == 96);
}

TEST_CASE("psp: two base RTTs without feedback double")
{
    flow f("psp");
    const controller_ops *ops = f.c->ops;
    f.send(0);
    f.hear(RTT, false);
    const usec_t t = 10 * RTT; // idle until then: no silence
    CHECK(ops->next_timeout(f.c.get()) == USEC_NEVER);
    f.send(t);
    f.send(t + 1000);
    double spacing[] = {50, 100, 200};
    for (int i = 0; i < 3; i++) {
        usec_t due = t + (i + 1) * 2 * RTT;
        CHECK(ops->next_timeout(f.c.get()) == due);
        ops->timeout(f.c.get(), due - 1); // too early: nothing
        ops->timeout(f.c.get(), due);
        CHECK(f.spacing() == spacing[i]);
    }
    f.hear(t + 7 * RTT, false, RTT, false, 1500); // one is still under way
    CHECK(f.spacing() == 0);                      // as before the silence: only reports were lost
    CHECK(ops->next_timeout(f.c.get()) == t + 9 * RTT);
    ops->timeout(f.c.get(), t + 9 * RTT);
    CHECK(f.spacing() == 50);
    f.hear(t + 10 * RTT, true, RTT, false, 1500); // a packet was: as after any loss
    CHECK(f.spacing() == 50);
}
