// SPDX-License-Identifier: GPL-2.0-or-later
#include "client/receive/audio_receiver.h"

#include <catch2/catch.hpp>

#include <vector>

#include "common/wire/rtcp.h"

namespace
{

enum { AUDIO = 97 };

struct fixture {
    struct sdp sdp = {};
    std::vector<int64_t> positions;
    struct audio_receiver in;

    fixture()
    {
        sdp.source = SDP_SOURCE_FILE;
        sdp.codec = SDP_H264;
        sdp.ext.adu = RTP_EXT_ADU_ID;
        sdp.ladder.level_count = 1;
        sdp.audio.present = true;
        sdp.audio.payload_type = AUDIO;
        sdp.audio.ext.adu = RTP_EXT_ADU_ID;
        audio_receiver_init(&in, &sdp, on_packet, this, 5);
    }
    static void on_packet(void *ctx, const struct received_audio *a)
    {
        ((fixture *)ctx)->positions.push_back(a->position);
    }
    bool take(const std::vector<uint8_t> &data, bool rtcp = false)
    {
        return audio_receiver_packet(&in, rtcp, data.data(), data.size(), 1000);
    }
};

std::vector<uint8_t> packet(uint16_t seq, bool placed = true, int payload_type = AUDIO)
{
    rtp_packet p = {};
    p.payload_type = (uint8_t)payload_type;
    p.seq = seq;
    p.timestamp = seq * 960u;
    p.ssrc = 7;
    p.has_adu = placed;
    p.adu.frame = seq * 960u;
    p.adu.first = p.adu.last = true;
    std::vector<uint8_t> data(RTP_MAX_HEADER);
    data.resize(rtp_encode(&p, data.data()));
    data.insert(data.end(), {0xf8, 0xff, 0xfe});
    return data;
}

} // namespace

TEST_CASE("audio_receiver: packets of another stream are not accepted")
{
    fixture f;
    CHECK_FALSE(f.take(packet(1, true, 96)));
    CHECK_FALSE(f.take({}));
    CHECK_FALSE(f.take({0x80}));
    CHECK(f.in.receiver.received == 0);
    CHECK(f.in.malformed == 0);
}

TEST_CASE("audio_receiver: malformed packets are counted and dropped")
{
    fixture f;
    CHECK(f.take({0x80, AUDIO, 0}));
    CHECK(f.in.malformed == 1);
    CHECK(f.take(packet(1, false))); // a weir-send says where each packet belongs
    CHECK(f.in.malformed == 2);
    CHECK(f.in.receiver.received == 0);
    CHECK(f.in.bytes == 0);
}

TEST_CASE("audio_receiver: a sender report before the first packet of its source counts")
{
    auto report = [](uint32_t ssrc, uint64_t second) { // time stamp 960 was at that second
        rtcp_item item = {};
        item.kind = RTCP_IS_SR;
        item.ssrc = ssrc;
        item.sender.ntp = second << 32;
        item.sender.rtp_timestamp = 960;
        std::vector<uint8_t> data(RTCP_MAX_PACKET);
        size_t len = 0;
        REQUIRE(rtcp_append(&item, data.data(), data.size(), &len) == 0);
        data.resize(len);
        return data;
    };
    const uint32_t VIDEO = 3;
    const struct {
        std::vector<std::pair<uint32_t, uint64_t>> early; // source and second of each
        int64_t position;                                 // of the first packet
    } table[] = {
        {{}, 48000 * 2}, // it arrives with the picture at 2 s
        {{{7, 101}}, 48000 * 3},
        {{{7, 99}, {7, 101}}, 48000 * 3},
        {{{7, 101}, {VIDEO, 100}}, 48000 * 3},
        {{{VIDEO, 100}, {7, 101}}, 48000 * 3},
        {{{VIDEO, 101}}, 48000 * 2},
    };
    for (const auto &row : table) {
        fixture f;
        f.sdp.ext = f.sdp.audio.ext = {};
        audio_receiver_init(&f.in, &f.sdp, fixture::on_packet, &f, 5);
        av_sync_picture(&f.in.sync, 90000, 2 * USEC_PER_SEC, 1000);
        av_sync_report(&f.in.sync, false, (uint64_t)100 << 32, 90000);
        for (auto [ssrc, second] : row.early)
            CHECK_FALSE(f.take(report(ssrc, second), true)); // it may be the video's
        CHECK(f.take(packet(1, false)));
        CHECK(f.positions == std::vector<int64_t>{row.position});
        CHECK(f.take(report(7, 102), true));
        CHECK(f.take(packet(2, false)));
        CHECK(f.positions.back() == 48000 * 4 + 960);
    }
}

TEST_CASE("audio_receiver: duplicates do not count, lost packets do")
{
    fixture f;
    size_t bytes = packet(1).size();
    for (uint16_t seq : {1, 2, 2, 5})
        CHECK(f.take(packet(seq)));
    CHECK(f.in.bytes == 3 * bytes);
    CHECK(f.positions == std::vector<int64_t>{960, 2 * 960, 5 * 960});
    CHECK(rtp_receiver_lost(&f.in.receiver) == 2);
}

TEST_CASE("audio_receiver: a missing packet is requested once a round trip, until it comes")
{
    const usec_t RTT = 40 * USEC_PER_MSEC;
    for (bool requests : {true, false}) {
        INFO("requests " << requests);
        fixture f;
        REQUIRE(audio_receiver_set_repair(&f.in, requests) == 0);
        audio_receiver_set_path(&f.in, RTT, USEC_PER_SEC);
        auto take = [&](uint16_t seq, usec_t now) {
            auto data = packet(seq);
            CHECK(audio_receiver_packet(&f.in, false, data.data(), data.size(), now));
        };
        auto requested = [&](usec_t now) { // the packet that is; -1: none
            uint8_t out[RTCP_MAX_PACKET];
            size_t len = audio_receiver_requests(&f.in, out, now), at = 0;
            rtcp_item item;
            int found = -1;
            while (rtcp_next(out, len, &at, &item) == 1)
                if (item.kind == RTCP_IS_NACK && item.media_ssrc == 7 && item.nack_count == 1 &&
                    !item.nacks[0].blp)
                    found = item.nacks[0].pid;
            return found;
        };
        const usec_t ms = USEC_PER_MSEC;
        take(1, 0);
        take(2, 20 * ms);
        CHECK(requested(20 * ms) == -1);
        take(4, 60 * ms);
        CHECK(requested(60 * ms) == (requests ? 3 : -1));
        CHECK(requested(61 * ms) == -1);
        CHECK(requested(150 * ms) == (requests ? 3 : -1));
        take(3, 200 * ms);
        CHECK(requested(400 * ms) == -1);
        CHECK(f.in.repaired == (requests ? 1 : 0));
        CHECK(rtp_receiver_lost(&f.in.receiver) == 0);
        audio_receiver_destroy(&f.in);
    }
}

TEST_CASE("audio_receiver: it reports after its first packet, and reads its source's reports")
{
    fixture f;
    uint8_t out[RTCP_MAX_PACKET];
    CHECK(audio_receiver_report(&f.in, out, USEC_PER_SEC) == 0);
    auto compound = [](uint32_t ssrc) {
        rtcp_item sr = {};
        sr.kind = RTCP_IS_SR;
        sr.ssrc = ssrc;
        sr.sender.ntp = 1;
        std::vector<uint8_t> data(RTCP_MAX_PACKET);
        size_t used = 0;
        REQUIRE(rtcp_append(&sr, data.data(), data.size(), &used) == 0);
        data.resize(used);
        return data;
    };
    CHECK_FALSE(f.take(compound(7), true)); // no audio came yet: it may be the video's
    CHECK(f.take(packet(1)));
    CHECK(f.take(compound(7), true));
    CHECK_FALSE(f.take(compound(8), true));
    size_t len = audio_receiver_report(&f.in, out, USEC_PER_SEC);
    rtcp_item item;
    size_t at = 0;
    REQUIRE(rtcp_next(out, len, &at, &item) == 1);
    CHECK(item.kind == RTCP_IS_RR);
}
