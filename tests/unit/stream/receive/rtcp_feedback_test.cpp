// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/receive/rtcp_feedback.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace
{
std::vector<struct rtcp_item> compound(struct rtcp_feedback *f, struct rtp_receiver *r)
{
    uint8_t out[RTCP_MAX_PACKET];
    size_t len = rtcp_feedback_compound(f, r, out, sizeof(out), 1000000);
    std::vector<struct rtcp_item> items;
    struct rtcp_item item;
    size_t at = 0;
    int got;
    while ((got = rtcp_next(out, len, &at, &item)) == 1)
        items.push_back(item);
    CHECK(got == 0);
    return items;
}

void receive(struct rtp_receiver *r, uint16_t seq)
{
    struct rtp_packet p = {};
    p.seq = seq;
    p.ssrc = 99;
    int64_t ext;
    rtp_receiver_packet(r, &p, 0, &ext, 0);
}
} // namespace

TEST_CASE("feedback: every compound begins with RR and SDES")
{
    struct rtcp_feedback f;
    rtcp_feedback_init(&f, 0x1122334455667788);
    struct rtp_receiver r;
    rtp_receiver_init(&r);
    auto items = compound(&f, &r);
    REQUIRE(items.size() == 2);
    CHECK(items[0].kind == RTCP_IS_RR);
    CHECK(items[0].ssrc == 0x55667788);
    CHECK(items[0].report_count == 0); // nothing was received yet
    CHECK(items[1].kind == RTCP_IS_SDES);
    CHECK(std::string(items[1].cname) == "weir-play-1122334455667788");

    receive(&r, 10);
    receive(&r, 11);
    items = compound(&f, &r);
    REQUIRE(items[0].report_count == 1);
    CHECK(items[0].reports[0].ssrc == 99);
    CHECK(items[0].reports[0].highest_seq == 11);
}

TEST_CASE("feedback: pending contents are sent once")
{
    struct rtcp_feedback f;
    rtcp_feedback_init(&f, 1);
    struct rtp_receiver r;
    rtp_receiver_init(&r);
    receive(&r, 10);
    f.nack_count = 2;
    f.nacks[0] = {11, 0x8001};
    f.nacks[1] = {40, 0};
    f.pli = true;
    f.bye = true;
    auto items = compound(&f, &r);
    REQUIRE(items.size() == 5);
    CHECK(items[2].kind == RTCP_IS_NACK);
    CHECK(items[2].media_ssrc == 99);
    REQUIRE(items[2].nack_count == 2);
    CHECK(items[2].nacks[0].pid == 11);
    CHECK(items[2].nacks[0].blp == 0x8001);
    CHECK(items[3].kind == RTCP_IS_PLI);
    CHECK(items[3].media_ssrc == 99);
    CHECK(items[4].kind == RTCP_IS_BYE);
    CHECK(compound(&f, &r).size() == 2);
}

TEST_CASE("feedback: the largest compound fits")
{
    struct rtcp_feedback f;
    rtcp_feedback_init(&f, ~(uint64_t)0);
    struct rtp_receiver r;
    rtp_receiver_init(&r);
    receive(&r, 10);
    f.nack_count = RTCP_MAX_NACKS;
    f.pli = f.bye = true;
    CHECK(compound(&f, &r).size() == 5);
}

TEST_CASE("feedback: a max rate is requested once, of the source that is received")
{
    struct rtcp_feedback f;
    rtcp_feedback_init(&f, 1);
    struct rtp_receiver r;
    rtp_receiver_init(&r);
    receive(&r, 10);
    f.limits = true;
    f.max_bps = 512000;
    auto items = compound(&f, &r);
    REQUIRE(items.size() == 3);
    CHECK(items[2].kind == RTCP_IS_TMMBR);
    CHECK(items[2].media_ssrc == 99);
    CHECK(items[2].max_rate.bps == 512000);
    CHECK(compound(&f, &r).size() == 2);
}
