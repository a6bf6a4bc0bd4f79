// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/rate_request.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

namespace
{

rtcp_item request(rtcp_kind kind, std::vector<uint32_t> sources)
{
    rtcp_item item{};
    item.kind = kind;
    item.media_ssrc = kind == RTCP_IS_TMMBR ? sources.at(0) : 0;
    if (kind == RTCP_IS_REMB)
        item.ssrc_count = static_cast<int>(sources.size());
    std::copy(sources.begin(), sources.end(), item.ssrcs);
    return item;
}

} // namespace

TEST_CASE("rate_request: the source that it is for")
{
    struct {
        rtcp_kind kind;
        std::vector<uint32_t> sources;
        bool is_for;
    } const table[] = {
        {RTCP_IS_TMMBR, {7}, true},      {RTCP_IS_TMMBR, {8}, false}, {RTCP_IS_TMMBR, {0}, false},
        {RTCP_IS_REMB, {7}, true},       {RTCP_IS_REMB, {8}, false},  {RTCP_IS_REMB, {0}, true},
        {RTCP_IS_REMB, {8, 9, 7}, true}, {RTCP_IS_REMB, {}, true},    {RTCP_IS_TMMBN, {7}, false},
        {RTCP_IS_PLI, {7}, false},
    };
    for (const auto &row : table) {
        rtcp_item item = request(row.kind, row.sources);
        CHECK(rate_request_is_for(&item, 7) == row.is_for);
    }
}

TEST_CASE("rate_request: a TMMBR is in force until the next request, a REMB for 10 s")
{
    rtcp_item tmmbr = request(RTCP_IS_TMMBR, {7}), remb = request(RTCP_IS_REMB, {7});
    CHECK(rate_request_until(&tmmbr, 5) == USEC_NEVER);
    CHECK(rate_request_until(&remb, 5) == 10000005);
}

TEST_CASE("rate_request: a TMMBR's rate within what a session takes")
{
    struct {
        uint64_t asked;
        int bps;
    } const table[] = {
        {0, 8000},       {7999, 8000},    {8000, 8000}, {512000, 512000}, {2147483647, 2147483647},
        {2147483648, 0}, {UINT64_MAX, 0},
    };
    for (const auto &row : table) {
        rtcp_item item{};
        item.kind = RTCP_IS_TMMBR;
        item.max_rate.bps = row.asked;
        CHECK(rate_request_of(&item, 8000) == row.bps);
    }
}
