// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/transport/datagram_reports.h"

#include <catch2/catch.hpp>

#include <uv.h>
#include <vector>

#include "common/base/bytes.h"
#include "common/net/clock.h"
#include "common/wire/ccfb.h"

namespace
{

const uint32_t VIEWER = 9, MEDIA = 7;

struct bench {
    uv_loop_t loop;
    std::vector<std::vector<uint8_t>> reports;
    datagram_reports *r;
    usec_t start = clock_now();

    bench()
    {
        REQUIRE(uv_loop_init(&loop) == 0);
        datagram_reports_config config{};
        config.loop = &loop;
        config.ssrc = VIEWER;
        config.media_ssrc = MEDIA;
        config.ext = {RTP_EXT_CAPTURE_ID, RTP_EXT_ADU_ID, RTP_EXT_FEEDBACK_ID, RTP_EXT_MADE_ID};
        config.send = [](void *ctx, const uint8_t *data, size_t len) {
            static_cast<bench *>(ctx)->reports.emplace_back(data, data + len);
        };
        config.ctx = this;
        r = datagram_reports_new(&config, start);
        REQUIRE(r);
    }
    ~bench()
    {
        datagram_reports_free(r);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    bench(const bench &) = delete;
    bench &operator=(const bench &) = delete;

    void arrive(std::vector<uint8_t> bytes, uint8_t ecn)
    {
        sockaddr_storage from{};
        datagram d = {bytes.data(), bytes.size(), &from, start, ecn};
        datagram_reports_packet(r, &d);
    }
    // Of a flow whose packets are numbered over all its streams.
    void numbered(uint32_t ssrc, uint8_t type, uint16_t seq, uint16_t number)
    {
        rtp_packet p{};
        p.ssrc = ssrc;
        p.payload_type = type;
        p.seq = seq;
        p.has_feedback = true;
        p.feedback = {100, 0, true, number};
        std::vector<uint8_t> rtp(RTP_MAX_HEADER + 40);
        rtp.resize(rtp_encode(&p, rtp.data()) + 40);
        arrive(rtp, 0);
    }
    void packet(uint16_t seq, uint8_t ecn)
    {
        std::vector<uint8_t> rtp(100);
        rtp[0] = 2 << 6;
        rtp[1] = 96;
        store_be16(&rtp[2], seq);
        store_be32(&rtp[8], MEDIA);
        arrive(rtp, ecn);
    }
};

} // namespace

TEST_CASE("datagram_reports: one report of the packets that came, with their marks")
{
    bench b;
    b.packet(100, 2);
    b.packet(101, 3);
    b.packet(103, 2);
    CHECK(b.reports.empty()); // not before the other datagrams of this wake-up
    CHECK(datagram_reports_marked(b.r) == 1);
    while (b.reports.empty())
        uv_run(&b.loop, UV_RUN_ONCE);
    ccfb f;
    REQUIRE(ccfb_decode(b.reports[0].data(), b.reports[0].size(), &f) == 0);
    CHECK(f.ssrc == VIEWER);
    CHECK(f.media_ssrc == MEDIA);
    CHECK(f.begin_seq == 100);
    REQUIRE(f.count >= 2);
    CHECK(f.metric[0].received);
    CHECK(f.metric[1].received);
    CHECK(f.metric[1].ecn == 3);
}

TEST_CASE("datagram_reports: what is not RTP is not reported")
{
    bench b;
    std::vector<uint8_t> rtcp = {2 << 6, 200, 0, 1, 0, 0, 0, MEDIA};
    b.arrive(rtcp, 3);
    b.arrive({}, 3);
    b.arrive({1, 2, 3}, 3);
    b.arrive(std::vector<uint8_t>(100, 0), 3); // version 0
    CHECK(datagram_reports_marked(b.r) == 0);
    datagram_reports_free(nullptr);
}

TEST_CASE(
    "datagram_reports: each transmission is reported by its flow number, copies and parity too")
{
    bench b;
    const uint32_t PARITY = 8;
    b.numbered(MEDIA, RTP_PT_H264, 50, 200);
    b.numbered(MEDIA, RTP_PT_H264, 51, 201);
    b.numbered(PARITY, RTP_PT_FEC, 9000, 202);
    b.numbered(MEDIA, RTP_PT_H264, 53, 204); // the original of 52 is lost
    b.numbered(MEDIA, RTP_PT_H264, 52, 205); // its copies
    b.numbered(MEDIA, RTP_PT_H264, 52, 206);
    while (b.reports.empty())
        uv_run(&b.loop, UV_RUN_ONCE);
    ccfb f;
    REQUIRE(ccfb_decode(b.reports[0].data(), b.reports[0].size(), &f) == 0);
    CHECK(f.media_ssrc == MEDIA);
    CHECK(f.begin_seq == 200);
    REQUIRE(f.count == 7);
    for (int i = 0; i < 7; i++)
        CHECK(f.metric[i].received == (i != 3));
}
