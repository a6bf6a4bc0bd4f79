// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "common/congestion/controller.h"

namespace
{
constexpr uint32_t S = 1500;

struct flow {
    std::unique_ptr<controller, decltype(&free)> c{nullptr, free};
    int64_t number = 0;

    explicit flow(const std::string &name, double max_bps = 1e9)
    {
        controller_config config = {S, max_bps, 0, 0};
        c.reset(controller_new(name.c_str(), &config, 0));
        REQUIRE(c);
    }
    void send(usec_t now, bool backlogged = true)
    {
        cc_sent s = {number++, S, backlogged};
        c->ops->sent(c.get(), &s, now);
    }
    // `arrived` packets, one every `gap` us from `first` on, then perhaps a loss; nothing is under
    // way any more but `flight` packets.
    void hear(usec_t now, int arrived, usec_t first, usec_t gap, bool loss, usec_t rtt,
              uint64_t flight = 0)
    {
        std::vector<cc_packet> news;
        for (int i = 0; i < arrived; i++)
            news.push_back({i, S, false, false, 0, first + i * gap});
        if (loss)
            news.push_back({arrived, S, true, false, 0, 0});
        cc_feedback f = {news.data(), news.size(), rtt, rtt, number - 1, number - 1, flight * S};
        c->ops->feedback(c.get(), &f, now);
    }
    usec_t next(usec_t now)
    {
        return c->ops->next_send(c.get(), now);
    }
    controller_info info(usec_t now) const
    {
        controller_info out;
        c->ops->info(c.get(), &out, now);
        return out;
    }
    double w(usec_t now) const
    {
        return info(now).variable[0].value;
    }
    double bandwidth(usec_t now) const
    {
        return info(now).variable[1].value;
    }
    double outstanding(usec_t now) const
    {
        return info(now).variable[2].value;
    }
};

// A pipe: a drop-tail queue before a link, the rest of the round trip after it. The receiver
// reports once an RTT, and at once when a packet overtakes a hole by three.
class path
{
  public:
    path(const char *name, double bps, usec_t rtt, double queue)
        : f_(name), tx_(S * 8e6 / bps), rtt_(rtt), queue_(queue)
    {
    }

    void run(usec_t until)
    {
        for (usec_t send_at = f_.next(now_); now_ < until; send_at = f_.next(now_)) {
            usec_t heard_at = pending_.empty() ? USEC_NEVER : report_at();
            now_ = usec_min(usec_min(send_at, heard_at), until);
            if (now_ == heard_at)
                report();
            else if (now_ == send_at)
                send();
        }
    }

    usec_t now() const
    {
        return now_;
    }
    int64_t arrived = 0, lost = 0;
    double w_after_loss = 0, bandwidth_at_loss = 0;

  private:
    void send()
    {
        bool drop = (free_at_ - static_cast<double>(now_)) / tx_ > queue_;
        cc_packet p = {f_.number, S, drop, false, now_, 0};
        if (!drop) {
            free_at_ = std::fmax(free_at_, static_cast<double>(now_)) + tx_;
            p.arrived_at = static_cast<usec_t>(free_at_);
            if (since_loss_ >= 0 && since_loss_++ == 2 && urgent_at_ == USEC_NEVER)
                urgent_at_ = p.arrived_at + rtt_;
        } else {
            since_loss_ = 0;
        }
        pending_.push_back(p);
        f_.send(now_, f_.number > 0);
    }

    usec_t report_at() const
    {
        return usec_min(reported_at_ + rtt_, urgent_at_);
    }

    void report()
    {
        // Lost are those that three later ones overtook.
        std::vector<cc_packet> news;
        int64_t highest = -1;
        std::deque<int64_t> last;
        for (const cc_packet &p : pending_)
            if (!p.lost && p.arrived_at + rtt_ <= now_) {
                highest = p.number;
                last.push_back(p.number);
            }
        while (!pending_.empty()) {
            cc_packet p = pending_.front();
            bool known = p.lost ? last.size() >= 3 && p.number < last[last.size() - 3]
                                : p.arrived_at + rtt_ <= now_;
            if (!known)
                break;
            (p.lost ? lost : arrived)++;
            news.push_back(p);
            pending_.pop_front();
        }
        usec_t rtt = 0;
        for (const cc_packet &p : news)
            rtt = p.lost ? rtt : p.arrived_at + rtt_ - p.sent_at;
        srtt_ = rtt && srtt_ ? (7 * srtt_ + rtt) / 8 : rtt ? rtt : srtt_;
        highest_ = std::max(highest_, highest);
        cc_feedback f = {news.data(),
                         news.size(),
                         rtt,
                         srtt_,
                         f_.number - 1,
                         highest_,
                         static_cast<uint64_t>(f_.number - 1 - highest_) * S};
        double before = f_.w(now_);
        f_.c->ops->feedback(f_.c.get(), &f, now_);
        if (f_.w(now_) < before) {
            w_after_loss = f_.w(now_);
            bandwidth_at_loss = f_.bandwidth(now_);
        }
        reported_at_ = now_;
        if (urgent_at_ <= now_) {
            urgent_at_ = USEC_NEVER;
            since_loss_ = -1;
        }
    }

    flow f_;
    double tx_;
    usec_t rtt_;
    double queue_;
    double free_at_ = 0;
    usec_t now_ = 0, reported_at_ = 0, srtt_ = 0, urgent_at_ = USEC_NEVER;
    int64_t highest_ = -1;
    int since_loss_ = -1;
    std::deque<cc_packet> pending_;
};
} // namespace

TEST_CASE("arc: the first packet at once, the second when quick probing has paid for the first")
{
    flow f("arc");
    CHECK(f.next(0) == 0);
    f.send(0, false);
    // w = 2^(t/0.3), outstanding 1: 0.5 (0.3/ln 2 (2^(t/0.3) - 1) - t) = 1 at t = 0.88101 s:
    // 2^(t/0.3) = 7.6565; 0.432809 * 6.6565 - 0.88101 = 2.
    usec_t at = f.next(0);
    double t = usec_to_sec(at);
    CHECK(0.5 * (0.3 / std::log(2) * (std::exp2(t / 0.3) - 1) - t) == Approx(1).epsilon(1e-5));
    CHECK(f.w(300000) == Approx(2));
    CHECK(f.info(300000).rate_bps == Approx(0.5 * (2 - 1) * S * 8)); // Eq. 1
    // It is known to have arrived at 0.1 s: w = 2^(1/3) = 1.25992, nothing outstanding.
    // 0.5 * 0.432809 * 1.25992 (2^(t/0.3) - 1) = 1 less what was earned before,
    // 0.5 (0.432809 * 0.25992 - 0.1) = 0.00624738: 2^(t/0.3) = 4.64472, t = 0.66471 s.
    f.hear(100000, 1, 0, 0, false, 100000);
    CHECK(std::abs(f.next(100000) - 764700) < 100);
}

TEST_CASE("arc: a loss sets w = B (RTTmin + 1/k) and probing becomes gentle")
{
    flow f("arc");
    // 11 packets, one every 10 ms: 1.2 Mbit/s = 100 packets/s. w = 100 (0.1 + 2) = 210 packets.
    f.hear(0, 11, 7, 10000, true, 100000);
    CHECK(f.bandwidth(0) == Approx(1.2e6));
    CHECK(f.w(0) == Approx(210));
    CHECK(f.info(0).rate_bps == Approx(0.5 * 210 * S * 8));
    // Gentle: r = 104.5 packets/s after this one, and rising by 0.5/0.3 a second.
    f.send(0);
    usec_t at = f.next(0);
    CHECK(at == 9569); // 0.5 (209 t + t^2 / 0.6) = 1: t = 9.56865 ms
    f.hear(at, 0, 0, 0, false, 100000);
    f.send(at);
    CHECK(f.w(at) == Approx(210 + 0.009569 / 0.3));
    // Another loss within an SRTT is no event, one after it is.
    f.hear(99999, 0, 0, 0, true, 100000);
    CHECK(f.w(99999) > 210);
    f.hear(100000, 0, 0, 0, true, 100000);
    CHECK(f.w(100000) == Approx(210));
}

TEST_CASE("arc: r is 0 until w exceeds what is outstanding, and never above the maximum")
{
    flow f("arc");
    f.hear(0, 11, 0, 10000, true, 100000); // w = 210, gentle
    f.hear(0, 0, 0, 0, false, 100000, 212);
    f.send(0); // 213 are outstanding
    CHECK(f.info(0).rate_bps == 0);
    // Three packets more take 0.9 s; then 0.5 t^2 / 0.6 = 1 in 1.095445 s.
    CHECK(std::abs(f.next(0) - (900000 + 1095445)) <= 1);

    flow capped("arc", 600e3); // 50 packets/s where r would be 105
    capped.hear(0, 11, 0, 10000, true, 100000);
    CHECK(capped.info(0).rate_bps == 600e3);
    capped.send(0);
    CHECK(capped.next(0) == 20000);
    CHECK(capped.w(5000000) == Approx(210)); // the rate is not used: w is frozen
}

TEST_CASE("arc: a rate that is not used does not let w grow")
{
    flow f("arc");
    f.hear(0, 11, 0, 10000, true, 100000); // w = 210
    // Idle: the credit of one packet is full after 1 / 105 s, w grew by 0.0317 packets up to then.
    CHECK(f.w(60000000) == Approx(210.0317).epsilon(1e-6));
    CHECK(f.next(60000000) == 60000000);
    f.send(60000000);
    f.send(60000000, false); // the application was the limit: w stays what the last packet met
    const double w = f.w(60000000);
    CHECK(w == Approx(210.0317).epsilon(1e-6));
    f.send(60005000, false); // what it grew in 5 ms is taken back
    CHECK(f.w(60005000) == w);
    // A loss now measures the application: 10 packets/s would set w = 21; it halves.
    f.hear(60100000, 11, 60000000, 100000, true, 100000);
    CHECK(f.bandwidth(60100000) < 1.2e6);
    CHECK(f.w(60100000) == Approx(w / 2).epsilon(1e-3));
    // Long after such a packet it does not.
    f.send(60100000);
    f.hear(61000000, 11, 61100000, 100000, true, 100000);
    CHECK(f.w(61000000) < 30);
}

TEST_CASE("arc: a rate that is used but for a little lets w grow, packet by packet")
{
    // Of so much of the rate, a packet at a time: none waits for the one before.
    struct {
        double share, least, most; // packets that w grows by in 30 s; gentle probing has 100
    } const table[] = {{0.9, 75, 101}, {0.6, 45, 101}, {0.3, 0, 3}, {0.1, 0, 3}};
    for (const auto &row : table) {
        INFO(row.share);
        flow f("arc");
        f.hear(0, 11, 0, 10000, true, 100000); // w = 210
        usec_t now = 0;
        for (int i = 0; i < 100; i++) { // all of the rate, until the share is known
            now = f.next(now);
            f.send(now);
            f.hear(now, 0, 0, 0, false, 100000);
        }
        double before = f.w(now);
        for (usec_t end = now + 30 * USEC_PER_SEC; now < end;) {
            now += static_cast<usec_t>(S * 8e6 / (row.share * f.info(now).rate_bps));
            f.send(now, false);
            f.hear(now, 0, 0, 0, false, 100000);
        }
        CHECK(f.w(now) - before >= row.least);
        CHECK(f.w(now) - before <= row.most);
    }
}

TEST_CASE("arc: a timeout forgets what is outstanding and waits for news, the next halves B")
{
    flow f("arc");
    f.send(0, false);
    f.hear(100000, 11, 0, 10000, true, 100000); // B = 1.2 Mbit/s
    f.send(100000);
    f.c->ops->rto(f.c.get(), 1, 1200000);
    CHECK(f.bandwidth(1200000) == Approx(1.2e6));
    CHECK(f.w(1200000) == Approx(210)); // Eq. 2
    CHECK(f.outstanding(1200000) == 0);
    f.send(1200000); // the endpoint's probe
    f.c->ops->rto(f.c.get(), 2, 3200000);
    CHECK(f.bandwidth(3200000) == Approx(6e5));
    CHECK(f.w(3200000) == Approx(105));
    CHECK(f.w(60000000) == Approx(105)); // no growth in silence
    f.send(3200000);
    cc_feedback alive = {nullptr, 0, 0, 100000, 3, 0, 3 * S};
    f.c->ops->feedback(f.c.get(), &alive, 3300000); // tells of no packet
    CHECK(f.outstanding(3300000) == 1);
    f.hear(3400000, 1, 3300000, 0, false, 100000);
    CHECK(f.outstanding(3400000) == 0);
    f.send(3400000);
    CHECK(f.w(3400000 + 10000) > 105);
    for (int i = 1; i < 40; i++)
        f.c->ops->rto(f.c.get(), i, 4000000 + i);
    CHECK(f.w(5000000) == 1); // at least one packet
}

TEST_CASE("arc: a timeout before the first report does not end quick probing")
{
    flow f("arc");
    f.send(0, false);
    f.c->ops->rto(f.c.get(), 1, 1000000); // the RTT is longer, or the report was lost
    CHECK(f.w(1000000) == 1);
    f.send(1000000);
    f.hear(1200000, 1, 1200000, 0, false, 1200000);
    CHECK(f.w(1200000 + 600000) == Approx(4)); // doubled twice, Eq. 5
    f.c->ops->rto(f.c.get(), 1, 4000000);
    const double w = f.w(4000000);
    f.hear(4100000, 1, 4100000, 0, false, 1200000);
    CHECK(f.w(4100000 + 600000) == Approx(w + 2)); // Eq. 6
}

TEST_CASE("arc: the least RTT is of the last ten minutes")
{
    flow f("arc");
    f.send(0, false);
    f.hear(100000, 0, 0, 0, false, 100000);
    usec_t t = 5 * 60 * USEC_PER_SEC;
    f.hear(t, 0, 0, 0, false, 300000);
    f.hear(t, 31, 0, 10000, true, 300000); // 100 packets/s
    CHECK(f.w(t) == Approx(100 * (0.1 + 2)));
    t += 6 * 60 * USEC_PER_SEC; // the 100 ms are 11 minutes old
    f.hear(t, 0, 0, 0, true, 300000);
    CHECK(f.w(t) == Approx(100 * (0.3 + 2)));
}

TEST_CASE("arc: parameters")
{
    CHECK(flow("arc").c->wish.packets == 0);
    CHECK(flow("arc:report=packet").c->wish.packets == 1);
    flow f("arc:k=2,alpha=0.1");
    f.send(0, false);
    CHECK(f.w(100000) == Approx(2));
    f.hear(100000, 11, 0, 10000, true, 100000);
    CHECK(f.w(100000) == Approx(100 * (0.1 + 0.5)));
}

TEST_CASE("arc: alone on a link it settles at w = B (RTT + 1/k) and fills the link")
{
    struct row {
        double bps;
        usec_t rtt;
        double queue; // packets: the bandwidth-delay product, as in the paper
    };
    const row rows[] = {{1e6, 250000, 20}, {10e6, 250000, 208}, {2e6, 50000, 8}};
    for (const row &r : rows) {
        CAPTURE(r.bps, r.rtt);
        path p("arc", r.bps, r.rtt, r.queue);
        p.run(60 * USEC_PER_SEC); // past the start
        int64_t arrived = p.arrived, lost = p.lost;
        p.run(360 * USEC_PER_SEC);
        double share = static_cast<double>(p.arrived - arrived) * S * 8 / (300 * r.bps);
        CHECK(share >= 0.95);
        CHECK(share <= 1.01);
        CHECK(p.lost > lost); // it probes
        CHECK(static_cast<double>(p.lost - lost) < 0.01 * static_cast<double>(p.arrived - arrived));
        CHECK(p.bandwidth_at_loss == Approx(r.bps).epsilon(0.05));
        double rtt = usec_to_sec(r.rtt) + S * 8 / r.bps;
        CHECK(p.w_after_loss == Approx(r.bps / (8 * S) * (rtt + 2)).epsilon(0.05));
    }
}
