// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/receive/loss_meter.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

TEST_CASE("loss meter: losses since the last reading")
{
    const struct {
        std::vector<uint16_t> seqs;
        uint64_t lost;
        uint64_t loss_events; // they are certain some packets later
        double fraction;      // -1: none was expected
    } table[] = {
        {{}, 0, 0, -1},
        {{1, 2, 3, 4}, 0, 0, 0},
        {{5, 8}, 2, 0, 2 / 4.0},
        {{}, 0, 0, -1},
        {{7, 9, 10}, 0, 1, 0}, // 7 was late: of the two that were missing only one
                               // still is
        {{12}, 1, 0, 1 / 2.0},
    };
    rtp_receiver r;
    rtp_receiver_init(&r);
    loss_meter m = {};
    usec_t now = 0;
    for (const auto &row : table) {
        for (uint16_t seq : row.seqs) {
            rtp_packet p = {};
            p.seq = seq;
            p.ssrc = 9;
            int64_t ext;
            rtp_receiver_packet(&r, &p, 0, &ext, now += USEC_PER_SEC);
        }
        loss_reading got = loss_meter_read(&m, &r);
        INFO("after " << (row.seqs.empty() ? 0 : row.seqs.back()));
        CHECK(got.lost == row.lost);
        if (row.fraction < 0)
            CHECK(std::isnan(got.fraction));
        else
            CHECK(got.fraction == Approx(row.fraction));
        CHECK(got.loss_events == row.loss_events);
    }
}
