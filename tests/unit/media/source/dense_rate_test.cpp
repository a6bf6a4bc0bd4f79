// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "media/source/dense_rate.h"

#include <cmath>
#include <random>
#include <vector>

namespace
{
struct part {
    double rate;
    int pictures;
};

// Times rounded to `unit`, microseconds.
std::vector<usec_t> times_of(const std::vector<part> &parts, usec_t unit)
{
    std::vector<usec_t> times;
    double at = 0;
    for (auto &p : parts)
        for (int i = 0; i < p.pictures; i++) {
            times.push_back(std::llround(at / (double)unit) * unit);
            at += 1e6 / p.rate;
        }
    return times;
}

double above(const std::vector<usec_t> &times, double named)
{
    dense_rate r;
    dense_rate_init(&r);
    for (usec_t t : times)
        dense_rate_add(&r, t);
    return dense_rate_above(&r, named);
}
} // namespace

TEST_CASE("dense_rate: the rate of the densest part")
{
    struct {
        const char *what;
        double named;
        std::vector<part> parts;
        double want; // 0: the named one is right
    } table[] = {
        {"one rate", 25, {{25, 500}}, 0},
        {"less than was named", 50, {{25, 500}}, 0},
        {"twice the rate later", 25, {{25, 500}, {50, 500}}, 50},
        {"in between", 25, {{25, 500}, {60, 100}, {25, 500}}, 60},
        {"twice the rate first", 37.5, {{50, 500}, {25, 500}}, 50},
        {"30 beside 25", 25, {{25, 500}, {30, 500}}, 30},
        {"NTSC", 29.97, {{30000.0 / 1001, 500}, {60000.0 / 1001, 500}}, 59.94},
        {"a telephone's slow motion", 30, {{30, 100}, {120, 300}, {30, 100}}, 120},
        {"a rate that wavers", 30, {{29.8, 200}, {30.3, 200}, {29.9, 200}}, 0},
        {"wrong time stamps", 25, {{25, 500}, {15360, 100}, {50, 500}}, 50},
        {"too few pictures to judge", 25, {{25, 64}, {50, 20}, {25, 64}}, 0},
        {"nothing", 25, {}, 0},
    };
    for (auto &t : table)
        for (usec_t unit : {1, 11, 1000}) {
            INFO(t.what << ", times in " << unit << " us");
            CHECK(above(times_of(t.parts, unit), t.named) == Approx(t.want).epsilon(0.008));
        }
}

TEST_CASE("dense_rate: the order in which B frames are decoded does not matter")
{
    auto times = times_of({{25, 300}, {50, 600}}, 1000);
    for (size_t i = 1; i + 3 < times.size(); i += 4) // P4 B2 B1 B3
        std::swap(times[i], times[i + 3]);
    CHECK(above(times, 25) == Approx(50).epsilon(0.02));
}

TEST_CASE("dense_rate: pictures of a screen that come as it changes are no rate")
{
    std::mt19937 random(1);
    std::exponential_distribution<double> gap(15);
    std::vector<usec_t> times{0};
    for (int i = 0; i < 20000; i++)
        times.push_back(times.back() + 1000 + std::llround(gap(random) * 1e6));
    CHECK(above(times, 15) == 0);
}

TEST_CASE("dense_rate: a block does not reach across a break")
{
    dense_rate r;
    dense_rate_init(&r);
    for (int part = 0; part < 100; part++, dense_rate_break(&r))
        for (int i = 0; i < DENSE_BLOCK - 1; i++)
            dense_rate_add(&r, i * 10000);
    CHECK(dense_rate_above(&r, 25) == 0);
}
