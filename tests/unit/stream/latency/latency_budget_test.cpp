// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/latency/latency_budget.h"

#include <catch2/catch.hpp>

TEST_CASE("latency budget: the shares")
{
    struct { // ms
        usec_t target;
        usec_t encoder, transport, jitter, decoder, display;
        usec_t sender, buffer, floor;
        bool kept;
    } const table[] = {
        // Nothing measured: 10 ms stay for decoder and display.
        {500, 0, 0, 0, 0, 0, 490, 500, 10, true},
        // 500 - 20 - 100; 30 + 5 + 1 + 10; 20 + 380 - 5 - 1 - 10.
        {500, 20, 100, 30, 5, 1, 384, 380, 46, true},
        // The path leaves just the floor, then one less than that.
        {166, 20, 100, 30, 5, 1, 50, 46, 46, true},
        {165, 20, 100, 30, 5, 1, 50, 46, 46, false},
        // A path longer than the whole budget; nothing but an encoder: the sender's least.
        {100, 20, 300, 30, 5, 1, 50, 46, 46, false},
        {10, 5, 0, 0, 3, 0, 20, 13, 13, false},
        {90000, 20, 100, 30, 5, 1, 60000, 89880, 46, true},
    };
    const usec_t ms = USEC_PER_MSEC;
    for (const auto &row : table) {
        latency_parts parts = {row.encoder * ms, row.transport * ms, row.jitter * ms,
                               row.decoder * ms, row.display * ms};
        latency_shares shares;
        latency_budget_divide(row.target * ms, &parts, &shares);
        INFO("target " << row.target << ", transport " << row.transport);
        CHECK(shares.sender == row.sender * ms);
        CHECK(shares.buffer == row.buffer * ms);
        CHECK(shares.floor == row.floor * ms);
        CHECK(shares.kept == row.kept);
    }
}
