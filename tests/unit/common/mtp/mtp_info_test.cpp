// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/mtp/mtp_info.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "common/base/bytes.h"

namespace
{

const uint16_t PACKET = 100;

struct flow : mtp_flow {
    explicit flow(usec_t now)
    {
        mtp_options o;
        REQUIRE(mtp_options_parse("", &o) == 0);
        REQUIRE(mtp_flow_init(this, &o, 1, PACKET, now) == 0);
    }
    ~flow()
    {
        mtp_flow_destroy(this);
    }
    flow(const flow &) = delete;
    flow &operator=(const flow &) = delete;
};

} // namespace

TEST_CASE("mtp_info: before the first packet, unknown values are NaN")
{
    flow f(0);
    transport_info info;
    mtp_info_fill(&f, &info, 0);
    CHECK(info.unsent_bytes == 0);
    CHECK(info.delivered_bytes == 0);
    CHECK(info.cwnd_packets > 0);
    CHECK(info.unheard == 0);
    CHECK(std::isnan(info.rtt_ms));
    CHECK(std::isnan(info.latest_rtt_ms));
    CHECK(std::isnan(info.allowed_bps));
    CHECK(std::isnan(info.window_bps));
    CHECK(info.flight_bytes == 0);
    CHECK(std::isnan(info.loss));
    CHECK(std::isnan(info.rate_bps));
}

TEST_CASE("mtp_info: names and order of the variables")
{
    flow f(0);
    transport_info info;
    mtp_info_fill(&f, &info, 0);
    const std::vector<std::string> names = {"mode", "holes", "replaced", "dropped", "why"};
    std::vector<std::string> all;
    for (const transport_variable &v : info.variable)
        all.emplace_back(v.name);
    CHECK(all == names);
}

TEST_CASE("mtp_info: outstanding packets")
{
    flow f(0);
    uint8_t rtp[PACKET] = {2 << 6};
    for (uint16_t seq = 0; seq < 2; seq++) {
        store_be16(rtp + 2, seq);
        REQUIRE(mtp_flow_push(&f, rtp, sizeof(rtp), 0) == 0);
    }
    transport_info info;
    mtp_info_fill(&f, &info, 0);
    double queued = info.unsent_bytes;
    CHECK(queued == 2 * PACKET);
    uint8_t out[MTP_RECORD_HEAD + PACKET];
    int64_t slot;
    REQUIRE(mtp_flow_pull(&f, out, &slot, 0) > 0);
    mtp_info_fill(&f, &info, 500000);
    CHECK(info.unsent_bytes == PACKET);
    CHECK(info.delivered_bytes == 0);
    CHECK(info.loss == 0); // of one packet none is known to be lost
    CHECK(info.unheard == 500000);
}
