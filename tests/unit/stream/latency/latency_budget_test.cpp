// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/latency/latency_budget.h"

#include <catch2/catch.hpp>

TEST_CASE("latency budget: the shares")
{
    struct { // ms
        usec_t target;
        usec_t encoder, transport, jitter, repair, decoder, display;
        usec_t sender, buffer, need;
        bool kept;
    } const table[] = {
        // Nothing measured: the sender's margin alone.
        {500, 0, 0, 0, 0, 0, 0, 497, 500, 0, true},
        {0, 0, 0, 0, 0, 0, 0, 400, 0, 0, true},
        // 380 - 5 - 1 - 3; 500 - 20 - 100; 30 - 10 + 5 + 1.
        {500, 20, 100, 30, 0, 5, 1, 371, 380, 26, true},
        // A jitter that is not seen.
        {0, 20, 100, 9, 0, 5, 1, 400, 6, 6, true},
        // A round of repair is needed, but a target does not move.
        {500, 20, 100, 30, 60, 5, 1, 371, 380, 86, true},
        {0, 20, 100, 30, 60, 5, 1, 400, 86, 86, true},
        // Without a target a frame may be late, though not by any time: 2 * 306. Jitter does not
        // count.
        {0, 20, 100, 600, 300, 5, 1, 612, 896, 896, true},
        {0, 20, 100, 600, 0, 5, 1, 400, 596, 596, true},
        // The path leaves less than jitter needs: the target holds.
        {150, 20, 100, 100, 0, 5, 1, 21, 30, 96, true},
        // It leaves just decoder and display, then one less than that: the sender's least.
        {126, 20, 100, 30, 0, 5, 1, 20, 6, 26, true},
        {125, 20, 100, 30, 0, 5, 1, 20, 6, 26, false},
        // A path longer than the whole budget.
        {100, 20, 300, 30, 0, 5, 1, 20, 6, 26, false},
        {90000, 20, 100, 30, 0, 5, 1, 60000, 89880, 26, true},
    };
    const usec_t ms = USEC_PER_MSEC;
    for (const auto &row : table) {
        latency_parts parts = {row.encoder * ms, row.transport * ms, row.jitter * ms,
                               row.repair * ms,  row.decoder * ms,   row.display * ms};
        latency_shares shares;
        latency_budget_divide(row.target * ms, &parts, &shares);
        INFO("target " << row.target << ", transport " << row.transport << ", jitter " << row.jitter
                       << ", repair " << row.repair);
        CHECK(shares.sender == row.sender * ms);
        CHECK(shares.buffer == row.buffer * ms);
        CHECK(shares.need == row.need * ms);
        CHECK(shares.kept == row.kept);
    }
}
