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
        {600, 300, 0},    // exactly 20 %
        {700, 301, 301},  //
        {800, 100, 0},    // too soon
        {1199, 100, 0},   //
        {1200, 100, 100}, //
        {2000, 81, 0},    // 19 %
        {3000, 79, 79},   //
        {4000, 20, 20},   //
        {5000, 30, 0},    // 50 %, and 10 ms
        {6000, 31, 31},   //
        {7000, 0, 0},     // not known any more
    };
    playout_notice n{};
    for (const auto &s : steps) {
        INFO(s.at);
        CHECK(playout_notice_due(&n, s.target * ms, s.at * ms) == s.told);
    }
}
