// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "lab/traffic/model/pareto.h"

static std::vector<double> draws(double mean, double shape, double max, int count)
{
    rng r = rng_seeded(1);
    std::vector<double> values;
    for (int i = 0; i < count; i++)
        values.push_back(pareto_draw(&r, mean, shape, max));
    std::sort(values.begin(), values.end());
    return values;
}

TEST_CASE("pareto: the mean, where the variance is finite")
{
    for (double shape : {2.5, 3.0, 5.0}) {
        INFO("shape " << shape);
        const auto values = draws(50000, shape, 1e12, 100000);
        double sum = 0;
        for (double v : values)
            sum += v;
        CHECK(sum / 100000 == Approx(50000).epsilon(0.02));
    }
}

TEST_CASE("pareto: quantiles follow P(X > x) = (x_min / x)^shape")
{
    for (double shape : {1.2, 1.5, 3.0}) {
        INFO("shape " << shape);
        const auto values = draws(50000, shape, 1e12, 100000);
        const double x_min = 50000 * (shape - 1) / shape; // shape 1.2: 8333
        CHECK(values.front() >= x_min * 0.999999);
        CHECK(values[50000] == Approx(x_min * std::pow(2, 1 / shape)).epsilon(0.02));
        CHECK(values[99000] == Approx(x_min * std::pow(100, 1 / shape)).epsilon(0.1));
    }
}

TEST_CASE("pareto: bounds and repetition")
{
    CHECK(draws(50000, 1.01, 1e6, 100000).back() == 1e6);
    CHECK(draws(0, 1.5, 1e6, 100).back() == 0);
    CHECK(draws(50000, 1.2, 1e12, 100) == draws(50000, 1.2, 1e12, 100));
}
