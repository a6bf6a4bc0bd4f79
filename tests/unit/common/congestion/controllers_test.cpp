// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/congestion/controller.h"
#include "tests/support/holds.hpp"
#include "tests/support/sanitized.hpp"

namespace
{
using controller_ptr = std::unique_ptr<controller, decltype(&free)>;

constexpr usec_t START = 5 * USEC_PER_SEC;
constexpr controller_config config = {1200, 20e6, 0, 0};

struct step {
    double rate;
    usec_t next;
    bool operator==(const step &o) const
    {
        return rate == o.rate && next == o.next;
    }
};

// Random packets, reports, losses, marks and silences; the controller's outputs after each.
class script
{
  public:
    script(const char *name, uint64_t seed)
        : c_(controller_new(name, &config, START), free), random_(rng_seeded(seed))
    {
        REQUIRE(c_);
    }

    std::vector<step> run(int count)
    {
        std::vector<step> steps;
        for (int i = 0; i < count; i++) {
            event();
            now_ +=
                static_cast<usec_t>(rng_below(&random_, rng_below(&random_, 50) ? 2000 : 3000000));
            timers();
            steps.push_back(check());
        }
        return steps;
    }

    // Sets the max rate, and lets the media's rate, a packet and its report follow.
    void limit(double bps)
    {
        controller_set_max_rate(c_.get(), bps);
        now_ += 10 * USEC_PER_SEC;
        if (c_->ops->media_rate)
            c_->ops->media_rate(c_.get(), 40e6, now_);
        send();
        while (resolved_ < next_)
            feedback();
        max_ = bps;
        check();
    }

  private:
    void event()
    {
        uint64_t kind = rng_below(&random_, 100);
        if (kind < 70 && c_->ops->next_send(c_.get(), now_) <= now_)
            send();
        else if (kind < 90)
            feedback();
        else if (kind == 90 && next_ > resolved_)
            rto();
        else if (kind == 91 && c_->ops->media_rate)
            c_->ops->media_rate(c_.get(), 1e4 + rng_unit(&random_) * 4e7, now_);
    }

    void send()
    {
        auto bytes = static_cast<uint32_t>(100 + rng_below(&random_, 1200));
        cc_sent s = {next_++, bytes, rng_below(&random_, 4) > 0};
        sent_.push_back({s.number, bytes, false, false, now_, 0});
        c_->ops->sent(c_.get(), &s, now_);
    }

    void feedback()
    {
        std::vector<cc_packet> news;
        uint64_t some = rng_below(&random_, static_cast<uint64_t>(next_ - resolved_) + 1);
        uint64_t loss = rng_below(&random_, 30);
        for (; some > 0; some--, resolved_++) {
            cc_packet p = sent_[static_cast<size_t>(resolved_)];
            p.lost = rng_below(&random_, 100) < loss;
            p.ce = !p.lost && rng_below(&random_, 100) < 2;
            p.arrived_at = p.lost ? 0 : 1000000007 + p.sent_at + 7 * (p.number % 3);
            if (!p.lost)
                highest_ = p.number;
            news.push_back(p);
        }
        uint64_t flight = 0;
        for (auto n = static_cast<size_t>(highest_ + 1); n < sent_.size(); n++)
            flight += sent_[n].bytes;
        usec_t rtt = news.empty() ? 0 : now_ - news.back().sent_at + 1;
        srtt_ = rtt && srtt_ ? (7 * srtt_ + rtt) / 8 : rtt ? rtt : srtt_;
        if (!news.empty())
            silent_ = 0;
        cc_feedback f = {news.data(), news.size(), rtt, srtt_, next_ - 1, highest_, flight};
        c_->ops->feedback(c_.get(), &f, now_);
    }

    void rto()
    {
        c_->ops->rto(c_.get(), ++silent_, now_);
        send(); // the endpoint's probe
    }

    void timers()
    {
        HOLDS((c_->ops->next_timeout == nullptr) == (c_->ops->timeout == nullptr));
        if (!c_->ops->next_timeout)
            return;
        for (int i = 0; c_->ops->next_timeout(c_.get()) <= now_; i++) {
            HOLDS(i < 10000); // it makes progress
            c_->ops->timeout(c_.get(), now_);
        }
    }

    step check()
    {
        controller_info info;
        c_->ops->info(c_.get(), &info, now_);
        HOLDS(std::isfinite(info.rate_bps));
        HOLDS(info.rate_bps >= 0);
        HOLDS(info.rate_bps <= max_ * (1 + 1e-9));
        HOLDS((std::isnan(info.loss_events) || (info.loss_events >= 0 && info.loss_events <= 1)));
        for (const auto &v : info.variable)
            if (v.name)
                HOLDS(std::isfinite(v.value));
        usec_t next = c_->ops->next_send(c_.get(), now_);
        HOLDS(next >= now_);
        HOLDS(next == c_->ops->next_send(c_.get(), now_));
        return {info.rate_bps, next};
    }

    controller_ptr c_;
    rng random_;
    double max_ = config.max_rate_bps;
    std::vector<cc_packet> sent_;
    usec_t now_ = START, srtt_ = 0;
    int64_t next_ = 0, resolved_ = 0, highest_ = -1;
    int silent_ = 0;
};
} // namespace

TEST_CASE("controllers: the table has every controller")
{
    int rows = 0;
    for (const controller_kind *k = controller_kinds; k->name; k++, rows++) {
        CAPTURE(k->name);
        CHECK(strlen(k->name) < CONTROLLER_MAX_NAME);
        CHECK(k->help != nullptr);
        CHECK(k->bytes >= sizeof(controller));
        CHECK(controller_check(k->name) == 0);
        CHECK(controller_check((std::string(k->name) + ":").c_str()) == 0);
        CHECK(controller_check((std::string(k->name) + ":nonsense").c_str()) == ERR_MALFORMED);
        controller_ptr c(controller_new(k->name, &config, 0), free);
        REQUIRE(c);
        CHECK(c->ops->next_send(c.get(), 0) == 0); // the first packet at once
        CHECK(c->config.packet_bytes == config.packet_bytes);
    }
    CHECK(rows == 6);
}

TEST_CASE("controllers: names that are accepted and refused")
{
    struct row {
        const char *name;
        int err;
    };
    const row rows[] = {
        {"", ERR_NOT_FOUND},
        {":", ERR_NOT_FOUND},
        {"ps", ERR_NOT_FOUND},
        {"pspp", ERR_NOT_FOUND},
        {"psp-plain", 0},
        {"PSP", ERR_NOT_FOUND},
        {"psp:step=1,first=20", 0},
        {"psp:first=0", ERR_RANGE},
        {"psp:rate=5", ERR_MALFORMED},
        {"fixed:rate=5000000", 0},
        {"fixed:rate=1", ERR_RANGE},
        {"fixed:rate=5m", ERR_MALFORMED},
        {"arc:report=packet,k=1,alpha=0.1,tau=0.2", 0},
        {"arc:report=never", ERR_MALFORMED},
        {"arc:k=0", ERR_RANGE},
        {"scream:ecn=classic,target=40", 0},
        {"scream:target=1", ERR_RANGE},
        {"arc:k=0.5,,", ERR_MALFORMED},
        {"fixed:rate=0000000000000000000000000000000001000000", ERR_MALFORMED}, // too long
    };
    for (const row &r : rows) {
        CAPTURE(r.name);
        CHECK(controller_check(r.name) == r.err);
        controller_ptr c(controller_new(r.name, &config, 0), free);
        CHECK((c != nullptr) == (r.err == 0));
    }
}

TEST_CASE("controllers: rates and times stay valid for random input, and are reproducible")
{
    for (const controller_kind *k = controller_kinds; k->name; k++)
        for (uint64_t seed = 1; seed <= seeds_of(4); seed++) {
            CAPTURE(k->name, seed);
            std::vector<step> once = script(k->name, seed).run(1500);
            CHECK(once == script(k->name, seed).run(1500));
        }
}

TEST_CASE("controllers: another max rate holds from the next report on")
{
    for (const controller_kind *k = controller_kinds; k->name; k++) {
        CAPTURE(k->name);
        script s(k->name, 5);
        s.run(500);
        for (double bps : {1e6, 30e6, 200e3, 20e6}) {
            CAPTURE(bps);
            s.limit(bps);
            s.run(500);
        }
    }
}
