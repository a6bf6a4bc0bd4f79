// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/transport_info.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

TEST_CASE("transport info: after clearing, every value is unknown")
{
    transport_info info;
    std::memset(&info, 1, sizeof(info));
    transport_info_clear(&info);
    for (double value : {info.rtt_ms, info.latest_rtt_ms, info.forward_rtt_ms, info.rate_bps,
                         info.loss, info.unsent_bytes, info.delivered_bytes, info.cwnd_packets,
                         info.loss_events, info.allowed_bps, info.flight_bytes, info.window_bps})
        CHECK(std::isnan(value));
    CHECK(info.variable[0].name[0] == '\0');
    CHECK_FALSE(info.is_reported);
    CHECK(info.reports_ignored == 0);
    CHECK(info.acks_ignored == 0);
    CHECK(info.unheard == 0);
}
