// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cmath>

#include "common/base/rng.h"
#include "common/repair/fec_plan.h"

namespace
{
const usec_t ms = USEC_PER_MSEC;

// The probability that more than `most` of `n` packets are lost, each with probability p.
double more_than(int most, int n, double p)
{
    double sum = 0, term = std::pow(1 - p, n);
    for (int i = 0; i <= most; i++) {
        sum += term;
        term *= p / (1 - p) * (n - i) / (i + 1);
    }
    return 1 - sum;
}
} // namespace

TEST_CASE("FEC plan: the window is as many frames as there is slack")
{
    struct {
        int slack_ms, window;
    } table[] = {{-1, 0}, {0, 1}, {33, 1}, {66, 1}, {67, 2}, {99, 2}, {120, 3}, {1000, 8}};
    for (const auto &row : table) {
        INFO(row.slack_ms << " ms");
        CHECK(fec_plan_window(row.slack_ms * ms, 33333) == row.window);
    }
}

TEST_CASE("FEC plan: random loss, against the binomial distribution")
{
    for (double loss : {0.001, 0.01, 0.02, 0.05, 0.1, 0.2}) {
        for (int packets : {1, 4, 7, 14, 21, 60}) {
            int parity = fec_plan_parity(packets, loss, 1 / (1 - loss));
            INFO(packets << " packets, loss " << loss << ": " << parity);
            CHECK((parity == FEC_PLAN_MAX_PARITY ||
                   more_than(parity, packets + parity, loss) <= 1e-3 * (1 + 1e-9)));
            CHECK((parity == 0 || more_than(parity - 1, packets + parity - 1, loss) > 1e-3));
        }
    }
    CHECK(fec_plan_parity(7, 0, 1) == 0);
    CHECK(fec_plan_parity(0, 0.1, 1) == 0);
    CHECK(fec_plan_parity(7, 0.02, 1) == 2); // 9 packets: 7e-4 lose three or more
    CHECK(fec_plan_parity(14, 0.02, 1) == 3);
    CHECK(fec_plan_parity(128, 1, 1) == FEC_PLAN_MAX_PARITY);
}

TEST_CASE("FEC plan: bursts, against their simulation")
{
    // Bursts of four, at 4 %: more parity than at random, and it fails as rarely as it should.
    const double loss = 0.04, burst = 4, rise = 1 / burst, fall = rise * loss / (1 - loss);
    const int packets = 21, parity = fec_plan_parity(packets, loss, burst);
    CHECK(parity > fec_plan_parity(packets, loss, 1 / (1 - loss)));
    rng random = rng_seeded(3);
    int more = 0, fewer = 0;
    const int turns = 200000;
    for (int turn = 0; turn < turns; turn++) {
        bool bad = rng_unit(&random) < loss;
        int lost = 0, lost_before = 0;
        for (int i = 0; i < packets + parity; i++) {
            lost_before = lost;
            bad = rng_unit(&random) < (bad ? 1 - rise : fall);
            lost += bad;
        }
        more += lost > parity;
        fewer += lost_before > parity - 1;
    }
    CHECK(more <= 1.2e-3 * turns);
    CHECK(fewer >= 0.8e-3 * turns);
}

TEST_CASE("FEC plan: parity is spread over the frames of the window")
{
    struct {
        int window, packets, frames, sum;
    } table[] = {
        {1, 7, 10, 20},  // two a window at 2 %, each frame
        {2, 14, 10, 15}, // three a window
        {3, 7, 9, 6},    // two a window: two of three frames
        {3, 21, 30, 40}, // four a window
    };
    for (const auto &row : table) {
        INFO("window " << row.window << ", " << row.packets << " packets");
        fec_plan p;
        fec_plan_init(&p);
        int sum = 0, most = 0, least = 100;
        for (int i = 0; i < row.frames; i++) {
            int now = fec_plan_frame(&p, row.window, row.packets, 0.02, 1);
            sum += now;
            most = std::max(most, now);
            least = std::min(least, now);
        }
        CHECK(sum == row.sum);
        CHECK(most - least <= 1);
    }
}

TEST_CASE("FEC plan: none without time, packets or loss; never more than the most")
{
    CHECK(fec_plan_window(-1, 40000) == 0); // the deadline has passed
    CHECK(fec_plan_window(0, 40000) == 1);
    CHECK(fec_plan_window(80000, 40000) == 2);
    CHECK(fec_plan_window(100 * 40000, 40000) == FEC_PLAN_MAX_WINDOW);
    CHECK(fec_plan_parity(0, .1, 1) == 0);
    CHECK(fec_plan_parity(10, 0, 1) == 0);
    CHECK(fec_plan_parity(40, .9, 20) == FEC_PLAN_MAX_PARITY);
}
