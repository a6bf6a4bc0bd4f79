// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <vector>

#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/congestion/tfrc.h"
#include "tests/support/holds.hpp"
#include "tests/support/sanitized.hpp"

namespace
{
const usec_t ms = USEC_PER_MSEC;
const usec_t R = 100 * ms;
const usec_t clock_offset = -77 * USEC_PER_SEC; // the receiver's clock less ours

struct sender {
    tfrc t{};
    controller *c = &t.base;
    int64_t number = 0;

    explicit sender(const char *params = "", double max_bps = 1e9, uint32_t s = 1460)
    {
        t.base.config = {s, max_bps, 0, 0};
        REQUIRE(tfrc_init(c, params, 0) == 0);
    }
    double x() const // bytes/s
    {
        controller_info i;
        c->ops->info(c, &i, 0);
        return i.rate_bps / 8;
    }
    cc_packet send(usec_t now, bool backlogged = true, uint32_t bytes = 1460, usec_t r = R)
    {
        cc_sent s = {number, bytes, backlogged};
        c->ops->sent(c, &s, now);
        return {number++, bytes, false, false, now, now + r / 2 + clock_offset};
    }
    void feedback(const std::vector<cc_packet> &p, usec_t now, usec_t rtt = R)
    {
        cc_feedback f = {p.data(), p.size(), rtt, rtt, number - 1, number - 1, 0};
        c->ops->feedback(c, &f, now);
    }
    void expire()
    {
        c->ops->timeout(c, c->ops->next_timeout(c));
    }
};

// A path without a queue: everything arrives after r/2, a report leaves each r and takes r/2. It
// tells of a loss once three later packets arrived.
struct path {
    sender s;
    std::function<bool(int64_t)> lose; // by number
    usec_t r;
    uint32_t bytes;
    usec_t now = 0, report_at;
    usec_t app_gap = 0; // 0: always something to send
    usec_t app_at = 0;
    std::deque<cc_packet> out;
    struct hole {
        cc_packet packet;
        int later; // arrivals
    };
    std::deque<hole> held;
    std::vector<double> rates; // at each report
    double sent_bytes = 0;

    // Packets of `size` bytes, of at most `full`.
    path(const char *params, std::function<bool(int64_t)> l, double max_bps = 1e9, usec_t rtt = R,
         uint32_t size = 1460, uint32_t full = 1460)
        : s(params, max_bps, full), lose(std::move(l)), r(rtt), bytes(size), report_at(rtt)
    {
    }
    // Returns the bytes per second that leave in a time that the start does not belong to.
    double long_run()
    {
        run(60 * USEC_PER_SEC);
        double before = sent_bytes;
        run(160 * USEC_PER_SEC);
        return (sent_bytes - before) / 100;
    }
    void run(usec_t end)
    {
        while (now < end) {
            usec_t send_at = usec_max(s.c->ops->next_send(s.c, now), app_at);
            usec_t next = usec_min(usec_min(send_at, report_at), s.c->ops->next_timeout(s.c));
            now = usec_max(now, next);
            if (now >= s.c->ops->next_timeout(s.c))
                s.c->ops->timeout(s.c, now);
            else if (now >= report_at)
                report();
            else
                send();
        }
    }
    void send()
    {
        out.push_back(s.send(now, app_gap == 0, bytes, r));
        out.back().lost = lose(out.back().number);
        sent_bytes += out.back().bytes;
        if (app_gap > 0)
            app_at = now + app_gap;
    }
    void report()
    {
        std::vector<cc_packet> p;
        for (; !out.empty() && out.front().sent_at <= now - r; out.pop_front()) {
            if (out.front().lost) {
                held.push_back({out.front(), 0});
                continue;
            }
            p.push_back(out.front());
            for (auto &h : held)
                h.later++;
        }
        for (; !held.empty() && held.front().later >= 3; held.pop_front())
            p.push_back(held.front().packet);
        std::sort(p.begin(), p.end(),
                  [](const cc_packet &x, const cc_packet &y) { return x.number < y.number; });
        if (!p.empty())
            s.feedback(p, now, r);
        rates.push_back(s.x());
        report_at = now + r;
    }
};
} // namespace

TEST_CASE("tfrc: parameters")
{
    struct {
        const char *params;
        int err;
    } table[] = {
        {"", 0},
        {"damp", 0},
        {"selfclock", 0},
        {"komssys,damp,selfclock", 0},
        {"komssys,rounds", 0},
        {"rounds", 0},
        {"damp,", ERR_MALFORMED},
        {",", ERR_MALFORMED},
        {"fack", ERR_MALFORMED},
        {"damp=1", ERR_MALFORMED},
    };
    for (const auto &row : table) {
        tfrc t{};
        t.base.config = {1460, 1e6, 0, 0};
        CHECK(tfrc_init(&t.base, row.params, 0) == row.err);
    }
    sender k("komssys", 1e9, 1000);
    CHECK(k.t.path.packet_bytes == 1460);
    CHECK(k.t.path.b == 2);
    const controller_kind kind = CONTROLLER_TFRC;
    CHECK(kind.bytes == sizeof(tfrc));
    CHECK(kind.init == tfrc_init);
}

TEST_CASE("tfrc: slow start, report by report")
{
    sender s;
    CHECK(s.c->ops->next_timeout(s.c) == USEC_NEVER);
    CHECK(s.c->ops->next_send(s.c, 0) == 0);
    cc_packet first = s.send(0);
    CHECK(s.c->ops->next_send(s.c, 0) == 1000 * ms); // a packet a second
    CHECK(s.c->ops->next_timeout(s.c) == 2000 * ms);
    s.feedback({first}, R);
    CHECK(s.x() == Approx(43800)); // W_init / R = 4380 / 0.1 s (4.2)
    // It holds from now on, and the lateness of the second packet is more than a whole one.
    CHECK(s.c->ops->next_send(s.c, R) == R);
    CHECK(s.c->ops->next_timeout(s.c) == R + 400 * ms); // 4 R > 2 s / X = 67 ms
    std::vector<cc_packet> news;
    for (int i = 0; i < 3; i++)
        news.push_back(s.send(R + i * 33 * ms));
    // The last R of arrivals: two packets in 66 ms and 34 ms of the 100 ms that the one before took
    // to come. 2 X_recv = 2 * 2.34 * 1460 / 0.1 s.
    s.feedback(news, 2 * R);
    CHECK(s.x() == Approx(68328));
    s.feedback({s.send(2 * R)}, 2 * R + 50 * ms); // sooner than R after the last
    CHECK(s.x() == Approx(68328));
    news.clear();
    for (int i = 1; i < 10; i++)
        news.push_back(s.send(2 * R + i * 12 * ms));
    s.feedback(news, 3 * R + 20 * ms); // 2 X_recv = 2 * 1460 / 12 ms is no limit
    CHECK(s.x() == Approx(2 * 68328));
}

TEST_CASE("tfrc: the first loss seeds p with what the equation needs for X_recv")
{
    sender s;
    s.feedback({s.send(0)}, R);
    std::vector<cc_packet> news;
    for (int i = 0; i < 60; i++) { // 1460 bytes each 5 ms = 292000 bytes/s
        news.push_back(s.send(R + i * 5 * ms));
        if (i % 20 == 19) {
            news[10].lost = i == 59;
            s.feedback(news, R + i * 5 * ms + R);
            news.clear();
        }
    }
    // In the last R one packet of 20 did not arrive; X follows.
    double x_recv = s.t.recv.rate;
    CHECK(x_recv == Approx(292000 * 19 / 20.0));
    CHECK(s.x() == Approx(x_recv).epsilon(1e-6));
    CHECK(s.t.p == Approx(tcp_equation_loss(&s.t.path, x_recv)).epsilon(1e-6));
    CHECK(s.t.losses.events == 1);

    sender dead; // its first packet is lost: X_target = s / (2 R)
    news = {dead.send(0), dead.send(1), dead.send(2), dead.send(3)};
    news[0].lost = true;
    for (size_t i = 1; i < 4; i++)
        news[i].bytes = 0;
    dead.feedback(news, R);
    CHECK(dead.t.p == Approx(tcp_equation_loss(&dead.t.path, 7300)));
}

TEST_CASE("tfrc: silence halves the rate, down to a packet in 64 s")
{
    SECTION("never any feedback")
    {
        sender s;
        s.send(0);
        usec_t at[] = {2000, 6000, 14000, 30000, 62000, 126000, 254000, 382000}; // ms
        double x[] = {730, 365, 182.5, 91.25, 45.625, 22.8125, 22.8125, 22.8125};
        for (int i = 0; i < 8; i++) {
            CHECK(s.c->ops->next_timeout(s.c) == at[i] * ms);
            s.send(at[i] * ms - 1, false);
            s.expire();
            CHECK(s.x() == Approx(x[i]));
        }
    }
    SECTION("in congestion avoidance")
    {
        path p("", [](int64_t n) { return n % 100 == 99; });
        p.run(20 * USEC_PER_SEC);
        double before = p.s.x(), floor_rate = 1460 / 64.0;
        p.s.expire(); // limited by X_Bps or X_recv, whichever is less
        double once = p.s.x();
        CHECK(once <= 1.05 * before);
        for (double last = once; last > floor_rate; last = p.s.x()) {
            p.s.send(p.s.c->ops->next_timeout(p.s.c) - 1);
            p.s.expire();
            CHECK(p.s.x() == Approx(fmax(last / 2, floor_rate)));
        }
    }
    SECTION("idle: not below what it may begin with")
    {
        sender s;
        s.feedback({s.send(0)}, R);
        for (int i = 0; i < 5; i++)
            s.expire();
        CHECK(s.x() == Approx(43800));
    }
}

TEST_CASE("tfrc: small packets, and a receiver that may not report each R")
{
    sender s;
    s.feedback({s.send(0)}, R);
    usec_t now = R;
    for (int report = 0; report < 40; report++) { // 30 packets of 60 bytes a second, one report
        std::vector<cc_packet> news;
        for (int i = 0; i < 30; i++)
            news.push_back(s.send(now + i * 33 * ms, false, 60));
        now += 1000 * ms;
        for (; s.c->ops->next_timeout(s.c) <= now; s.expire())
            CHECK(report == 0); // the receiver has reported after R until then
        s.feedback(news, now);
        CHECK(s.x() >= Approx(43800)); // W_init / R, whatever s is
    }
    CHECK(s.t.path.packet_bytes < 80);
    usec_t silent_at = s.c->ops->next_timeout(s.c);
    CHECK(silent_at == now + 2000 * ms); // two reports are missing
}

TEST_CASE("tfrc: the long-run rate is the equation's")
{
    for (int every : {20, 50, 100, 400}) {
        path p("", [every](int64_t n) { return n % every == every - 1; });
        tcp_path tcp = {1460, 0.1, 0.4, 1, false};
        double want = tcp_equation_rate(&tcp, 1.0 / every);
        INFO("p = 1/" << every);
        CHECK(p.long_run() == Approx(want).epsilon(0.1));
        CHECK(p.s.t.p == Approx(1.0 / every).epsilon(0.1));
    }
}

TEST_CASE("tfrc: komssys is slower by its b and t_RTO")
{
    path p("komssys", [](int64_t n) { return n % 100 == 99; });
    CHECK(p.long_run() == Approx(1460 / 0.01285021).epsilon(0.1));
    sender s("komssys");
    s.feedback({s.send(0)}, R, R);
}

TEST_CASE("tfrc: komssys, R of the equation is the newest sample, t_RTO follows max(mean, newest)")
{
    struct {
        usec_t sample; // ms
        double mean, r, rto;
    } table[] = {
        {100, 100, 100, 500},      // at least 0.5 s
        {300, 102, 300, 1200},     // 0.99 * 100 + 0.01 * 300
        {50, 101.48, 50, 500},     // 4 * 101.48 = 405.92 ms
        {20, 100.6652, 20, 500},   //
        {400, 103.658, 400, 1600}, //
        {200, 104.621, 200, 800},  //
    };
    sender s("komssys");
    usec_t now = 0;
    for (const auto &row : table) {
        now += R;
        s.feedback({s.send(now)}, now + R, row.sample * ms);
        CHECK((double)s.t.rtt_mean == Approx(1e3 * row.mean).epsilon(1e-4));
        CHECK(s.t.path.rtt_s == Approx(1e-3 * row.r));
        CHECK(s.t.path.rto_s == Approx(1e-3 * row.rto));
        CHECK(s.t.rtt == usec_max(s.t.rtt_mean, row.sample * ms));
    }
    CHECK(s.t.path.packet_bytes == 1460); // whatever is sent (3.5)
}

TEST_CASE("tfrc: s is the mean size of the packets")
{
    struct {
        uint32_t bytes[2]; // of every other packet
        int packets;
        double least, most;
    } table[] = {
        {{1200, 1200}, 1000, 1200, 1200}, {{1200, 200}, 2000, 690, 710},
        {{200, 200}, 2000, 200, 201},     {{1200, 1200}, 1, 1200, 1200},
        {{100, 100}, 1, 1135, 1136}, // the nominal size counts as 16 packets: 1200 - 1100 / 17
        {{100, 100}, 16, 650, 651},  // (16 * 1200 + 16 * 100) / 32
        {{100, 100}, 112, 237, 238}, // (16 * 1200 + 112 * 100) / 128
    };
    for (const auto &row : table) {
        sender s("", 1e9, 1200);
        for (int i = 0; i < row.packets; i++)
            s.send(i * ms, true, row.bytes[i % 2]);
        CHECK(s.t.path.packet_bytes >= row.least);
        CHECK(s.t.path.packet_bytes <= row.most);
    }
}

TEST_CASE("tfrc: small packets have the bytes of full ones, within 1.5 times their number")
{
    // Of full packets the equation gives, per second: 112.2 at 1 % and 100 ms (2.9: R sqrt(2p/3) +
    // t_RTO 3 sqrt(3p/8) p (1 + 32 p^2)), 37.4 at 300 ms, 24.4 at 2 % and 300 ms, 34.6 at 5 % and
    // 100 ms. Small ones: x 1200 / (s + 40), and the bound.
    const struct {
        uint32_t size;
        int every; // 1 / p
        usec_t r;
        double packets, mean; // a second; with the word `mean`
    } table[] = {
        {1200, 100, 100 * ms, 112.2, 112.2}, {1160, 100, 100 * ms, 112.2, 112.2},
        {900, 100, 100 * ms, 143.3, 112.2},  {600, 100, 100 * ms, 168.3, 112.2},
        {300, 100, 100 * ms, 168.3, 112.2},  {300, 100, 300 * ms, 100, 37.4}, // not 132
        {900, 50, 300 * ms, 31.1, 24.4},     {300, 50, 300 * ms, 86.2, 24.4},
        {100, 50, 300 * ms, 100, 24.4}, // not 209
        {300, 20, 100 * ms, 100, 34.6},
    };
    for (const auto &row : table)
        for (const char *params : {"", "mean", "damp", "selfclock", "rounds"}) {
            int every = row.every;
            path p(
                params, [every](int64_t n) { return n % every == every - 1; }, 1e9, row.r, row.size,
                1200);
            INFO(row.size << " bytes, p 1/" << every << ", " << row.r << " us: " << params);
            double want = *params ? row.mean : row.packets;
            CHECK(p.long_run() / row.size == Approx(want).epsilon(0.1));
        }
}

TEST_CASE("tfrc: at random losses, small packets have no more bytes than full ones")
{
    for (double loss : {0.005, 0.02, 0.05})
        for (uint32_t size : {900u, 600u, 300u}) {
            double bytes[2];
            for (int small = 0; small < 2; small++) {
                rng random = rng_seeded(7);
                path p(
                    "", [&](int64_t) { return rng_unit(&random) < loss; }, 1e9, R,
                    small ? size : 1200, 1200);
                p.run((SANITIZED ? 60 : 600) * USEC_PER_SEC);
                bytes[small] = p.sent_bytes;
            }
            INFO(size << " bytes, loss " << loss);
            CHECK_MEAN(bytes[1] < 1.1 * bytes[0]);
            CHECK_MEAN(bytes[1] > bytes[0] * std::min(0.65, 1.25 * size / 1200));
        }
}

TEST_CASE("tfrc: with the mean size alone, packets of half the size get half the rate")
{
    double rate[2];
    for (uint32_t size : {1200u, 600u}) {
        sender s("mean", 1e9, 1200);
        usec_t now = 0;
        for (int round = 0; round < 400; round++) {
            std::vector<cc_packet> news;
            for (int i = 0; i < 20; i++, now += 5 * ms) {
                news.push_back(s.send(now, true, size));
                news.back().lost = s.number % 50 == 0 && i > 0 && i < 17;
            }
            s.feedback(news, now);
        }
        CHECK(s.t.p > 0);
        rate[size == 600] = s.t.equation_rate;
    }
    CHECK(rate[1] == Approx(rate[0] / 2).epsilon(0.01));
}

TEST_CASE("tfrc: losses of one round are one event, of the next another")
{
    struct {
        const char *params;
        int first, second; // numbers of two lost packets
        uint64_t events;
    } table[] = {
        // Packets leave every 10 ms, R = 100 ms: rounds begin at 1, 11, 21 ...
        {"rounds", 12, 20, 1}, // one round
        {"rounds", 19, 22, 2}, // 30 ms apart, in two rounds
        {"", 19, 22, 1},       // RFC 5348: within R of the first
        {"", 12, 23, 2},       // more than R apart
        {"komssys,rounds", 19, 22, 2},
    };
    for (const auto &row : table) {
        sender s(row.params);
        s.feedback({s.send(0)}, R);
        std::vector<cc_packet> news;
        for (int i = 1; i < 50; i++) {
            news.push_back(s.send(R + (i - 1) * 10 * ms));
            news.back().lost = i == row.first || i == row.second;
        }
        s.feedback(news, 700 * ms);
        INFO(row.params << " " << row.first << " " << row.second);
        CHECK(s.t.losses.events == row.events);
    }
}

TEST_CASE("tfrc: data-limited, the receive rate does not pull the rate down")
{
    path p("", [](int64_t) { return false; });
    p.run(1000 * ms);
    double peak = p.s.x();
    p.app_gap = 20 * ms; // 73000 bytes/s from here on
    p.run(20 * USEC_PER_SEC);
    CHECK(p.s.x() >= peak);
    // A loss now: X_recv_set halves, X is not above it for the moment (4.3).
    std::vector<cc_packet> news;
    for (int i = 0; i < 6; i++)
        news.push_back(p.s.send(p.now + i * 20 * ms, false));
    news[1].lost = true;
    p.s.feedback(news, p.now + 200 * ms);
    CHECK(p.s.x() < peak);
}

TEST_CASE("tfrc: 8.2.1 tells backlogged intervals from data-limited ones")
{
    sender s;
    s.feedback({s.send(0, false)}, R);
    std::vector<cc_packet> news;
    for (int i = 0; i < 4; i++)
        news.push_back(s.send(R + i * 20 * ms, i == 2));
    s.feedback(news, 2 * R + 60 * ms);
    CHECK(s.t.recv.count == 2); // updated
    news = {s.send(3 * R, false), s.send(3 * R + 50 * ms, false)};
    s.feedback(news, 4 * R + 50 * ms);
    CHECK(s.t.recv.count == 1); // maximised
}

TEST_CASE("tfrc: self-clocking, after a loss what arrived, else 1.1 times that")
{
    sender s("selfclock");
    s.feedback({s.send(0)}, R);
    std::vector<cc_packet> news;
    for (int i = 0; i < 60; i++)
        news.push_back(s.send(R + i * 5 * ms));
    news[50].lost = true;
    s.feedback(news, 500 * ms);
    CHECK(s.x() <= s.t.recv.rate * 1.0001);
    // Half of that arrives now, without a loss, and p falls.
    for (int round = 0; round < 40; round++) {
        news.clear();
        for (int i = 0; i < 10; i++)
            news.push_back(s.send(500 * ms + round * R + i * 10 * ms));
        s.feedback(news, 700 * ms + round * R);
    }
    CHECK(s.t.equation_rate > 1.1 * s.t.recv.rate);
    CHECK(s.x() == Approx(1.1 * 146000).epsilon(0.01));
}

TEST_CASE("tfrc: damping sends slower while the RTT is above its mean")
{
    sender plain, damped("damp");
    for (sender *s : {&plain, &damped}) {
        s->feedback({s->send(0)}, R, R);
        s->feedback({s->send(R)}, 2 * R, 4 * R);
    }
    // R_sqmean = 0.9 * sqrt(R) + 0.1 * sqrt(4 R) = 1.1 sqrt(R); X_inst = X * 1.1 / 2.
    CHECK(damped.t.rate == plain.t.rate);
    CHECK(damped.x() == Approx(plain.x() * 0.55));
}

TEST_CASE("tfrc: marks are losses")
{
    sender s;
    s.feedback({s.send(0)}, R);
    std::vector<cc_packet> news;
    for (int i = 0; i < 20; i++)
        news.push_back(s.send(R + i * 5 * ms));
    news[10].ce = true;
    s.feedback(news, 3 * R);
    CHECK(s.t.losses.events == 1);
    CHECK(s.t.p > 0);
}

TEST_CASE("tfrc: lateness is caught up on for at most 10 ms, idle time earns nothing")
{
    sender s;
    s.feedback({s.send(0)}, R); // 43800 bytes/s: 33334 us a packet
    usec_t t0 = 200 * ms;
    s.send(t0, false);
    usec_t ipi = 33334;
    CHECK(s.c->ops->next_send(s.c, t0) == t0 + ipi);
    s.send(t0 + ipi + 4 * ms, true); // 4 ms late
    CHECK(s.c->ops->next_send(s.c, t0) == t0 + 2 * ipi - 1);
    s.send(t0 + 2 * ipi + 50 * ms, true); // 50 ms late: 10 of them count
    CHECK(s.c->ops->next_send(s.c, t0) == t0 + 3 * ipi + 40 * ms);
    s.send(t0 + 900 * ms, false);
    CHECK(s.c->ops->next_send(s.c, t0) == t0 + 900 * ms + ipi);
    s.send(t0 + 901 * ms, true); // before its time, as an endpoint's probe is
    CHECK(s.c->ops->next_send(s.c, t0) == t0 + 901 * ms + ipi);
}

TEST_CASE("tfrc: whatever comes, the rate keeps its bounds, and the same again gives the same")
{
    for (const char *params :
         {"", "damp", "selfclock", "rounds", "komssys,damp,selfclock", "komssys,rounds"}) {
        for (uint64_t seed = 1; seed <= (SANITIZED ? 2 : 10); seed++) {
            std::vector<double> rates[2];
            const double max_bps = seed % 2 ? 2e6 : 100; // the latter below a packet in 64 s
            for (auto &out : rates) {
                rng r = rng_seeded(seed);
                sender s(params, max_bps);
                usec_t now = 0;
                double least = 1460; // of s
                std::vector<cc_packet> news;
                for (int i = 0; i < 3000; i++) {
                    now += (usec_t)rng_below(&r, 1u << rng_below(&r, 20));
                    uint64_t what = rng_below(&r, 20);
                    if (what < 15) {
                        cc_packet p = s.send(now, what & 1, (uint32_t)rng_below(&r, 65536));
                        p.lost = rng_below(&r, 30) == 0;
                        p.ce = !p.lost && rng_below(&r, 50) == 0;
                        p.arrived_at = p.lost ? 0 : (usec_t)rng_u64(&r) >> rng_below(&r, 60);
                        news.push_back(p);
                    } else if (what < 19) {
                        s.feedback(news, now, (usec_t)rng_below(&r, 1u << rng_below(&r, 24)));
                        news.clear();
                    } else if (s.c->ops->next_timeout(s.c) != USEC_NEVER) {
                        now = usec_max(now, s.c->ops->next_timeout(s.c));
                        s.c->ops->timeout(s.c, now);
                    }
                    HOLDS(s.x() <= max_bps / 8 * (1 + 1e-9));
                    least = fmin(least, s.t.path.packet_bytes);
                    HOLDS(s.x() >= fmin(least / 64, max_bps / 8) * (1 - 1e-9));
                    HOLDS(s.c->ops->next_send(s.c, now) >= now);
                    out.push_back(s.x());
                }
            }
            CHECK(rates[0] == rates[1]);
        }
    }
}
