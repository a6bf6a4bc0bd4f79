// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/playout_notice.h"

#include <catch2/catch.hpp>

TEST_CASE("playout notice: at first, and after a change that matters")
{
    const usec_t ms = USEC_PER_MSEC;
    const struct {
        int at, target, told; // ms; 0: nothing is told
    } steps[] = {
        {0, 0, 0},        // not known yet
        {10, 250, 250},   // the first one
        {20, 250, 0},     //
        {600, 255, 0},    // 5 ms
        {700, 256, 256},  //
        {800, 100, 0},    // too soon
        {1199, 100, 0},   //
        {1200, 100, 100}, //
        {2000, 95, 0},    //
        {3000, 94, 94},   //
        {4000, 0, 0},     // not known any more
    };
    playout_notice n{};
    for (const auto &s : steps) {
        INFO(s.at);
        CHECK(playout_notice_due(&n, s.target * ms, s.at * ms) == s.told);
    }
}
