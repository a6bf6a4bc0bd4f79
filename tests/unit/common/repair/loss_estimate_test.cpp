// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

#include "common/base/rng.h"
#include "common/repair/loss_estimate.h"

TEST_CASE("loss estimate: at first 1 % at random; by hand after")
{
    loss_estimate e;
    loss_estimate_init(&e);
    CHECK(loss_estimate_loss(&e) == Approx(0.01));
    CHECK(loss_estimate_burst(&e) == 1);
    // A run of two and one of one, among six packets: 4 / 106 lost, in 3 runs.
    for (bool lost : {true, true, false, false, true, false})
        loss_estimate_add(&e, lost);
    CHECK(loss_estimate_loss(&e) == Approx(4 / 106.0).epsilon(0.01));
    CHECK(loss_estimate_burst(&e) == Approx(4 / 3.0).epsilon(0.01));
    for (int i = 0; i < 20000; i++)
        loss_estimate_add(&e, false);
    CHECK(loss_estimate_loss(&e) < 1e-6);
    CHECK(loss_estimate_burst(&e) == 1);
    for (int i = 0; i < 20000; i++)
        loss_estimate_add(&e, true);
    CHECK(loss_estimate_loss(&e) == Approx(1));
}

TEST_CASE("loss estimate: random loss and bursts are told apart")
{
    // Gilbert's chain: `fall` to the bad state, `rise` back to the good one.
    struct {
        double fall, rise;
    } table[] = {{0.01, 0.99}, {0.02, 0.98}, {0.05, 0.95}, {0.01, 0.25}, {0.02, 0.1}};
    for (const auto &row : table) {
        rng random = rng_seeded(11);
        loss_estimate e;
        loss_estimate_init(&e);
        bool bad = false;
        double loss = 0, burst = 0;
        const int turns = 400000, first = 5000;
        for (int i = 0; i < turns; i++) {
            bad = rng_unit(&random) < (bad ? 1 - row.rise : row.fall);
            loss_estimate_add(&e, bad);
            if (i >= first) {
                loss += loss_estimate_loss(&e) / (turns - first);
                burst += loss_estimate_burst(&e) / (turns - first);
            }
        }
        INFO(row.fall << " " << row.rise);
        CHECK(loss == Approx(row.fall / (row.fall + row.rise)).epsilon(0.1));
        CHECK(burst == Approx(1 / row.rise).epsilon(0.15));
    }
}

TEST_CASE("loss estimate: a jump of the loss is followed within some 1000 packets")
{
    rng random = rng_seeded(12);
    double at_500 = 0, at_2000 = 0;
    for (int turn = 0; turn < 200; turn++) {
        loss_estimate e;
        loss_estimate_init(&e);
        for (int i = 0; i < 3000; i++)
            loss_estimate_add(&e, false);
        for (int i = 0; i < 2000; i++) {
            loss_estimate_add(&e, rng_unit(&random) < 0.05);
            at_500 += i == 500 ? loss_estimate_loss(&e) / 200 : 0;
        }
        at_2000 += loss_estimate_loss(&e) / 200;
    }
    CHECK(at_500 == Approx(0.05 * (1 - std::exp(-0.5))).epsilon(0.1));
    CHECK(at_2000 == Approx(0.05 * (1 - std::exp(-2))).epsilon(0.1));
}

TEST_CASE("loss estimate: how far apart two packets fail independently")
{
    // Of random loss the next packet already is.
    for (double loss : {0.0, 0.01, 0.05, 0.5})
        CHECK(loss_after_loss(loss, 1 / (1 - loss), 1) == Approx(loss));
    CHECK(loss_after_loss(1, 1, 5) == 1);
    // Bursts of 4 at 4 %: the chain's memory is 1 - 1 / (4 * 0.96).
    const double memory = 1 - 1 / (4 * 0.96);
    CHECK(loss_after_loss(0.04, 4, 0) == Approx(1));
    CHECK(loss_after_loss(0.04, 4, 1) == Approx(0.04 + 0.96 * memory));
    CHECK(loss_after_loss(0.04, 4, 8) == Approx(0.04 + 0.96 * std::pow(memory, 8)));
    CHECK(loss_after_loss(0.04, 4, 100) == Approx(0.04));
}

TEST_CASE("loss estimate: where all is lost, the next packet is lost, too")
{
    CHECK(loss_after_loss(1, 1, 1) == 1);
    CHECK(loss_after_loss(1, 5, 100) == 1);
    CHECK(loss_after_loss(.02, 1, 1) == Approx(.02).epsilon(.05));    // random loss has no memory
    CHECK(loss_after_loss(.02, 5, 1000) == Approx(.02).epsilon(.01)); // a burst ends
}
