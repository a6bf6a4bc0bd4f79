// SPDX-License-Identifier: GPL-2.0-or-later
// A live stream through a proxy, in virtual time: what reflection and the queue's order reach. The
// backbone is TFRC over 10 Mbit/s and 200 ms, the access MIN_BUF over 10 ms and a queue of ten
// packets, as in Fiksdal's thesis (2003), chapter 6; the source is the default ladder, live, of 80
// to 1920 kbit/s.
#include <cstdio>
#include <cstdlib>

#include "tests/sim/proxy/proxy_session.hpp"
#include "tests/support/sanitized.hpp"

namespace
{
const double FROM = 15, TO = 65; // seconds
const int SEEDS = seeds_of(3);

struct outcome {             // means over the seeds
    double backbone, access; // Mbit/s
    double below;            // part of the time in which the queue was below target + 100 ms
    double base_ms;          // 95 % of the base layer's delays
    double access_ms;        // of these, from the proxy on
    double frames;           // a second
    double variation;        // of the backbone's rate
    double dropped;          // frames
};

outcome view(const proxy_setting &setting)
{
    outcome o{};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        proxy_setting s = setting;
        s.seed = seed;
        proxy_session n(s);
        n.run_to(TO);
        o.backbone += n.backbone_mbps(FROM, TO) / SEEDS;
        o.access += n.access_mbps(FROM, TO) / SEEDS;
        o.below += n.below(s.target + 100 * USEC_PER_MSEC, FROM, TO) / SEEDS;
        o.base_ms += n.delay_ms(.95, 0, FROM, TO) / SEEDS;
        o.access_ms += n.access_delay_ms(.95, 0, FROM, TO) / SEEDS;
        o.frames += n.frames_a_second(FROM, TO) / SEEDS;
        o.variation += n.variation(FROM, TO) / SEEDS;
        o.dropped += static_cast<double>(n.dropped()) / SEEDS;
    }
    if (std::getenv("WEIR_PROXY_PRINT"))
        std::printf("%-40s backbone %.3f access %.3f Mbit/s, short queue %.3f, base p95 %.0f ms "
                    "(access %.0f), %.1f "
                    "frames/s, variation %.2f, dropped %.0f\n",
                    setting.link.c_str(), o.backbone, o.access, o.below, o.base_ms, o.access_ms,
                    o.frames, o.variation, o.dropped);
    return o;
}

proxy_setting access(const char *rate, const char *loss, reflect_mode reflect = REFLECT_LIMIT)
{
    proxy_setting s;
    s.link = std::string("rate=") + rate + ",queue=droptail:10p,loss=" + loss;
    s.reflect = reflect;
    return s;
}
} // namespace

TEST_CASE("proxy: the limit keeps the backbone at the access's rate and the queue short")
{
    const char *const rates[] = {"1mbit", "512kbit", "256kbit", "128kbit"};
    for (const char *rate : rates) {
        INFO(rate);
        outcome o = view(access(rate, "0%"));
        CHECK_MEAN(o.backbone == Approx(o.access).epsilon(0.1));
        CHECK_MEAN(o.below >= 0.95);
    }
}

// TFRC reads a mark as a loss event, so its rate falls below the limit for some round trips. Below
// 512 kbit/s a frame is so large against a round trip that the queue is long more often.
TEST_CASE("proxy: marks do so with any controller")
{
    const struct {
        const char *rate;
        double below, used; // of the time; Mbit/s
    } table[] = {{"1mbit", 0.95, 0.87},
                 {"512kbit", 0.95, 0.45},
                 {"256kbit", 0.9, 0.2},
                 {"128kbit", 0.9, 0.1}};
    for (const auto &row : table) {
        INFO(row.rate);
        outcome o = view(access(row.rate, "0%", REFLECT_MARKS));
        CHECK_MEAN(o.backbone == Approx(o.access).epsilon(0.1));
        CHECK_MEAN(o.access >= row.used);
        CHECK_MEAN(o.below >= row.below);
    }
}

// TCP stands still while it repairs a loss. No limit prevents the queue of that time.
TEST_CASE("proxy: over an access that loses packets")
{
    for (reflect_mode mode : {REFLECT_LIMIT, REFLECT_MARKS})
        for (const char *rate : {"512kbit", "128kbit"})
            for (const char *loss : {"2%", "5%"}) {
                INFO(rate << " " << loss << " " << mode);
                outcome o = view(access(rate, loss, mode));
                CHECK_MEAN(o.backbone == Approx(o.access).epsilon(0.1));
                CHECK_MEAN(o.below >= 0.85);
            }
}

TEST_CASE("proxy: without reflection the proxy drops what the source need not have sent")
{
    outcome off = view(access("1mbit", "0%", REFLECT_OFF));
    outcome on = view(access("1mbit", "0%"));
    CHECK_MEAN(off.backbone > 1.8);
    CHECK_MEAN(on.backbone < 1.05); // the encoder came down
    CHECK_MEAN(on.access > 0.95);
    CHECK_MEAN(on.dropped * 20 < off.dropped);
    CHECK_MEAN(on.frames > 29);
}

// Reflection alone keeps the queue away: then the order of what is left matters little.
TEST_CASE("proxy: the base layer next to a proxy that drops nothing")
{
    const struct {
        reflect_mode mode;
        double share;
    } table[] = {{REFLECT_OFF, 0.1}, {REFLECT_LIMIT, 1.3}};
    for (const auto &row : table) {
        proxy_setting s = access("1mbit", "5%", row.mode);
        double priority = view(s).base_ms;
        s.queue = SCHEDULER_FIFO;
        CHECK_MEAN(priority <= row.share * view(s).base_ms);
    }
}

// At 2 % and 200 ms TFRC itself allows 0.4 Mbit/s, less than the access.
TEST_CASE("proxy: what the backbone loses is repaired there")
{
    proxy_setting s = access("1mbit", "0%");
    s.backbone_loss = 0.02;
    outcome o = view(s);
    CHECK_MEAN(o.frames > 14.5); // of levels with 15 a second, or 30
    CHECK_MEAN(o.below >= 0.95);
    CHECK_MEAN(o.dropped < 1);
}
