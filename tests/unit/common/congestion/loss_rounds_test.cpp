// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "common/congestion/loss_rounds.h"

TEST_CASE("loss rounds: a round lasts one R, from its first packet")
{
    struct {
        int64_t number;
        usec_t at, rtt; // ms
        int64_t round;
    } table[] = {
        {0, 0, 0, 0},      // R is unknown: one round
        {1, 900, 0, 0},    //
        {2, 1000, 100, 1}, // more than R after the beginning of round 0
        {3, 1099, 100, 1}, //
        {4, 1100, 100, 2}, //
        {5, 1150, 40, 3},  // R shrank
        {6, 1189, 40, 3},  //
        {7, 2500, 40, 4},  // a pause is one round
    };
    loss_rounds r;
    loss_rounds_init(&r);
    CHECK(loss_rounds_of(&r, 0) == 0);
    for (const auto &row : table) {
        loss_rounds_sent(&r, row.number, row.rtt * USEC_PER_MSEC, row.at * USEC_PER_MSEC);
        CHECK(r.round == row.round);
    }
    for (const auto &row : table) // as reported later
        CHECK(loss_rounds_of(&r, row.number) == row.round);
}

TEST_CASE("loss rounds: packets older than the rounds kept count as of the oldest one")
{
    loss_rounds r;
    loss_rounds_init(&r);
    for (int i = 0; i < 100; i++) // ten packets a round
        for (int k = 0; k < 10; k++)
            loss_rounds_sent(&r, 10 * i + k, 1000, 1000 * i + k);
    CHECK(loss_rounds_of(&r, 999) == 99);
    CHECK(loss_rounds_of(&r, 990) == 99);
    CHECK(loss_rounds_of(&r, 989) == 98);
    CHECK(loss_rounds_of(&r, 680) == 68);
    CHECK(loss_rounds_of(&r, 679) == 68);
    CHECK(loss_rounds_of(&r, 0) == 68);
}
