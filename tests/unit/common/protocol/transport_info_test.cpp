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

TEST_CASE("transport info: of a sender of datagrams, what is not known yet stays unknown")
{
    const struct {
        usec_t srtt, latest, forward;
        double rtt_ms, latest_ms, forward_ms; // 0: unknown
    } table[] = {
        {0, 0, 0, 0, 0, 0},
        {50500, 60000, 0, 50.5, 60, 0},
        {50500, 60000, 40000, 50.5, 60, 40},
    };
    auto is = [](double value, double expected) {
        return expected ? value == expected : std::isnan(value);
    };
    for (const auto &row : table)
        for (bool confirms : {false, true}) {
            INFO(row.srtt << " " << row.forward << " " << confirms);
            datagram_sender s = {};
            s.rto.srtt = row.srtt;
            s.rto.latest = row.latest;
            s.forward_rtt = row.forward;
            s.flight_bytes = 1200;
            s.counts.bytes_arrived = 7000;
            transport_info info;
            transport_info_clear(&info);
            transport_info_add_datagrams(&info, &s, confirms);
            CHECK(is(info.rtt_ms, row.rtt_ms));
            CHECK(is(info.latest_rtt_ms, row.latest_ms));
            CHECK(is(info.forward_rtt_ms, row.forward_ms));
            CHECK(info.flight_bytes == 1200);
            CHECK(is(info.delivered_bytes, confirms ? 7000 : 0));
        }
}
