// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/model/rolling_mean.h"

#include <catch2/catch.hpp>
#include <cmath>

TEST_CASE("rolling_mean: rate and mean of the last four steps, not of the whole")
{
    static const double nan_ = std::nan("");
    static const struct {
        double count, sum; // totals, a quarter of a second apart
        double rate, mean;
    } table[] = {
        {0, nan_, nan_, nan_}, // one look tells nothing
        {0, nan_, 0, nan_},    // nothing came
        {10, 100, 20, 10},     // 10 values of 10 in 0.5 s
        {20, 300, 80.0 / 3, 15}, {30, 500, 30, 50.0 / 3},
        {40, 700, 40, 17.5}, // from 0 at the second look
        {40, 700, 30, 20},   // from 10 at the third
        {40, 700, 20, 20},       {40, 700, 10, 20},
        {40, 700, 0, nan_}, // nothing for a second
        {41, 777, 1, 77},
    };
    struct rolling_mean r = {};
    usec_t now = 5 * USEC_PER_SEC;
    for (const auto &row : table) {
        rolling_mean_add(&r, row.count, row.sum, now);
        now += USEC_PER_SEC / 4;
        INFO(row.count << " " << row.sum);
        if (std::isnan(row.rate))
            CHECK(std::isnan(rolling_mean_rate(&r)));
        else
            CHECK(rolling_mean_rate(&r) == Approx(row.rate));
        if (std::isnan(row.mean))
            CHECK(std::isnan(rolling_mean_mean(&r)));
        else
            CHECK(rolling_mean_mean(&r) == Approx(row.mean));
    }
}
