// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/base/hist.h"
#include "common/base/rng.h"

TEST_CASE("hist: an empty histogram gives NaN")
{
    struct hist h;
    hist_init(&h);
    CHECK(std::isnan(hist_mean_us(&h)));
    CHECK(std::isnan(hist_stddev_us(&h)));
    CHECK(std::isnan(hist_quantile_us(&h, 0.5)));
    CHECK(std::isnan(hist_max_us(&h)));
}

TEST_CASE("hist: small values are exact")
{
    struct hist h;
    hist_init(&h);
    for (usec_t v : {2, 4, 4, 4, 5, 5, 7, 9})
        hist_add(&h, v);
    CHECK(hist_mean_us(&h) == 5);   // 40 / 8
    CHECK(hist_stddev_us(&h) == 2); // squares 9+1+1+1+0+0+4+16 = 32; 32 / 8 = 4
    CHECK(hist_quantile_us(&h, 0) == 2);
    CHECK(hist_quantile_us(&h, 0.5) == 4); // the 4th of 8
    CHECK(hist_quantile_us(&h, 0.75) == 5);
    CHECK(hist_quantile_us(&h, 1) == 9);
    CHECK(hist_max_us(&h) == 9);
}

TEST_CASE("hist: values out of range count in the first and the last bucket")
{
    struct hist h;
    hist_init(&h);
    hist_add(&h, -5);
    CHECK(h.min == 0);
    CHECK(hist_mean_us(&h) == 0);
    hist_add(&h, (usec_t)1 << 60);
    CHECK(hist_max_us(&h) == std::ldexp(1, 60));
    CHECK(h.count == 2);
}

TEST_CASE("hist: quantiles are within 1/128 of the exact value")
{
    struct rng rng = rng_seeded(2);
    struct hist h;
    hist_init(&h);
    std::vector<usec_t> values;
    for (int i = 0; i < 20000; i++) {
        usec_t v = (usec_t)std::exp(rng_unit(&rng) * 20); // 1 us .. 8 min
        values.push_back(v);
        hist_add(&h, v);
    }
    std::sort(values.begin(), values.end());
    for (double q : {0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999}) {
        double truth = (double)values[(size_t)std::ceil(q * 20000) - 1];
        CHECK(hist_quantile_us(&h, q) == Approx(truth).epsilon(1.0 / 128).margin(1e-9));
    }
    CHECK(hist_quantile_us(&h, 1) <= (double)values.back());
}
