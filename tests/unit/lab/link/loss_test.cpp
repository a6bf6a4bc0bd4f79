// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "lab/link/loss.h"
#include "tests/unit/lab/link/collector.hpp"

namespace
{

loss_config mask_of(const std::string &bits, bool repeats)
{
    loss_config config{};
    config.kind = LOSS_MASK;
    config.mask_packets = (uint16_t)bits.size();
    config.mask_repeats = repeats;
    for (size_t i = 0; i < bits.size(); i++)
        config.mask[i / 8] |= (uint8_t)((bits[i] == '1') << (i % 8));
    return config;
}

// Returns the fate of `n` packets as text; 1: lost.
std::string pattern(loss *l, collector *c, int n)
{
    std::string lost;
    for (int i = 0; i < n; i++) {
        size_t before = c->dropped.size();
        node_push(&l->node, c->make((uint32_t)i), i);
        lost += c->dropped.size() > before ? '1' : '0';
    }
    return lost;
}

std::string pattern_of(const loss_config &config, int n, uint64_t seed)
{
    collector c;
    loss l;
    loss_init(&l, &c.sink.node, &config, &c.drops.dropper, seed);
    std::string lost = pattern(&l, &c, n);
    CHECK(c.came.size() + c.dropped.size() == (size_t)n);
    for (const auto &d : c.dropped)
        if (d.second != LINK_DROP_LOSS)
            FAIL("cause " << d.second);
    return lost;
}

double rate_of(const std::string &lost)
{
    return (double)std::count(lost.begin(), lost.end(), '1') / (double)lost.size();
}

// Returns the mean length of the runs of 1.
double burst_of(const std::string &lost)
{
    size_t bursts = lost[0] == '1';
    for (size_t i = 1; i < lost.size(); i++)
        bursts += lost[i] == '1' && lost[i - 1] == '0';
    return rate_of(lost) * (double)lost.size() / (double)bursts;
}

} // namespace

TEST_CASE("loss: a mask selects packets")
{
    struct {
        const char *mask;
        bool repeats;
        const char *lost;
    } const table[] = {
        {"0010", false, "00100000000000"},
        {"0010", true, "00100010001000"},
        {"1", true, "11111111111111"},
        {"1", false, "10000000000000"},
        {"00000000011", false, "00000000011000"},
        {"00000000011", true, "00000000011000"},
        {"01011", true, "01011010110101"},
    };
    for (const auto &t : table) {
        INFO(t.mask);
        CHECK(pattern_of(mask_of(t.mask, t.repeats), 14, 1) == t.lost);
    }
    std::string longest(LOSS_MASK_MAX, '0');
    longest.back() = '1';
    CHECK(pattern_of(mask_of(longest, true), 2 * LOSS_MASK_MAX, 1) == longest + longest);
}

TEST_CASE("loss: a setting applies to later packets, a mask from its first packet on")
{
    collector c;
    loss l;
    loss_config config = mask_of("01", true);
    loss_init(&l, &c.sink.node, &config, &c.drops.dropper, 1);
    CHECK(pattern(&l, &c, 3) == "010");
    loss_set(&l, &config);
    CHECK(pattern(&l, &c, 3) == "010");
    config = {};
    loss_set(&l, &config);
    CHECK(pattern(&l, &c, 5) == "00000");
    config.kind = LOSS_IID;
    config.probability = 1;
    loss_set(&l, &config);
    CHECK(pattern(&l, &c, 5) == "11111");
    CHECK(node_next_run_at(&l.node) == USEC_NEVER);
}

TEST_CASE("loss: independent losses")
{
    loss_config config{};
    config.kind = LOSS_IID;
    const int n = 200000;
    for (double p : {0.0, 0.001, 0.02, 0.5, 1.0}) {
        INFO("p = " << p);
        config.probability = p;
        const std::string lost = pattern_of(config, n, 11);
        CHECK(rate_of(lost) == Approx(p).margin(5 * std::sqrt(p * (1 - p) / n))); // 5 sigma
        // Bursts of independent losses are geometric: 1 / (1 - p).
        if (p == 0.5)
            CHECK(burst_of(lost) == Approx(2).epsilon(0.02));
        CHECK(pattern_of(config, 100, 11) == lost.substr(0, 100));
    }
    config.probability = 0.5;
    CHECK(pattern_of(config, 100, 11) != pattern_of(config, 100, 12));
}

TEST_CASE("loss: Gilbert-Elliott's long-run loss and bursts")
{
    struct {
        double p, r, good, bad;
        double loss, burst; // burst 0: not of one cause, unchecked
    } const table[] = {
        {0.01, 0.25, 0, 1, 0.0384615, 4},       // Gilbert's: 0.01 / 0.26, bursts of 1 / r
        {0.05, 0.50, 0, 1, 0.0909091, 2},       // 0.05 / 0.55
        {0.001, 0.1, 0.002, 0.5, 0.0069307, 0}, // (0.1 * 0.002 + 0.001 * 0.5) / 0.101
        {0.5, 0.5, 0.1, 0.3, 0.2, 0},           // half of the time each
        {0, 1, 0, 1, 0, 0},                     // never bad
        {1, 0, 0, 1, 1, 0},                     // bad before the first packet, for ever
    };
    for (const auto &t : table) {
        INFO("p " << t.p << " r " << t.r);
        loss_config config{};
        config.kind = LOSS_GILBERT_ELLIOTT;
        config.p = t.p;
        config.r = t.r;
        config.good = t.good;
        config.bad = t.bad;
        const std::string lost = pattern_of(config, 400000, 5);
        CHECK(rate_of(lost) == Approx(t.loss).epsilon(0.06));
        if (t.burst > 0)
            CHECK(burst_of(lost) == Approx(t.burst).epsilon(0.04));
    }
}
