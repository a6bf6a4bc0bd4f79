// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/path_loss.h"

#include <catch2/catch.hpp>
#include <cmath>

TEST_CASE("path loss: by the time without a report, the round trip and the packets")
{
    const usec_t MS = USEC_PER_MSEC, now = 100 * USEC_PER_SEC;
    const struct {
        double rtt_ms;
        usec_t unheard;
        uint64_t packets;
        bool lost;
    } table[] = {
        {50, 0, 0, false},
        {50, 10 * USEC_PER_SEC, 0, false}, // nothing is outstanding: a
                                           // pause
        {50, 199 * MS, 50, false},
        {50, 200 * MS, 50, true},
        {50, 200 * MS, 3, true},
        {50, 399 * MS, 2, false}, // they may have got lost
        {50, 400 * MS, 1, true},
        {NAN, 199 * MS, 50, false},
        {NAN, 200 * MS, 50, true},
        {300, 399 * MS, 50, false}, // the first report takes a round trip
        {300, 400 * MS, 50, true},
    };
    for (const auto &row : table) {
        INFO(row.rtt_ms << " " << row.unheard << " " << row.packets);
        transport_info info;
        transport_info_clear(&info);
        info.rtt_ms = row.rtt_ms;
        info.unheard = row.unheard;
        info.unheard_packets = row.packets;
        usec_t since;
        CHECK(path_is_lost(&info, &since, now) == row.lost);
        if (row.rtt_ms == 50)
            CHECK(since == now - row.unheard - 75 * MS);
    }
}
