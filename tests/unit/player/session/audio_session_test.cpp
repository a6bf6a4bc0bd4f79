// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/audio_session.h"

#include <catch2/catch.hpp>

#include <memory>
#include <vector>

#include "common/wire/rtcp.h"
#include "common/wire/rtp.h"

namespace
{

enum { VIDEO = 96, AUDIO = 97 };

sdp description(bool audio)
{
    sdp s = {};
    s.source = SDP_SOURCE_FILE;
    s.codec = SDP_H264;
    s.ext.adu = RTP_EXT_ADU_ID; // of a weir-send
    s.payload_type = VIDEO;
    s.ladder.source_fps = {25, 1};
    s.ladder.level_count = 1;
    s.audio.present = audio;
    s.audio.payload_type = AUDIO;
    s.audio.ext.adu = RTP_EXT_ADU_ID;
    return s;
}

std::vector<uint8_t> packet(int payload_type, uint16_t seq)
{
    rtp_packet p = {};
    p.payload_type = (uint8_t)payload_type;
    p.seq = seq;
    p.timestamp = seq * 960u;
    p.ssrc = 7;
    p.has_adu = true;
    p.adu.frame = seq * 960u;
    p.adu.first = p.adu.last = true;
    std::vector<uint8_t> data(RTP_MAX_HEADER);
    data.resize(rtp_encode(&p, data.data()));
    data.insert(data.end(), {0xf8, 0xff, 0xfe}); // 20 ms of Opus silence
    return data;
}

struct fixture {
    play_options options = {};
    struct audio_session *s;

    fixture()
    {
        options.volume = 100;
        audio_outlet outlet = {};
        outlet.is_virtual = true;
        s = audio_session_new(&options, &outlet);
        REQUIRE(s);
    }
    ~fixture()
    {
        audio_session_free(s);
    }
    bool take(int payload_type, uint16_t seq, bool rtcp = false)
    {
        std::vector<uint8_t> data = packet(payload_type, seq);
        return audio_session_packet(s, rtcp, data.data(), data.size(), seq * 20000);
    }
    // The report's figures of the audio; NaN: it has none.
    qoe_audio figures()
    {
        std::unique_ptr<qoe, void (*)(qoe *)> q(qoe_new("rtsp://h/", 0, 0), qoe_free);
        audio_session_read(s, q.get());
        qoe_json r;
        qoe_read(q.get(), &r, 0);
        CHECK(r.has_audio == (r.audio.packets > 0));
        return r.audio;
    }
};

} // namespace

TEST_CASE("audio_session: which packets are the audio's")
{
    enum state { BEFORE, DESCRIBED, OPEN, LEFT };
    struct {
        const char *name;
        state at;
        bool has_audio;
        int payload_type;
        bool rtcp;
        bool taken;
        uint64_t counted;
    } rows[] = {
        {"nothing is described", BEFORE, true, AUDIO, false, false, 0},
        {"the stream has no audio", DESCRIBED, false, AUDIO, false, false, 0},
        {"it overtook the response to SETUP", DESCRIBED, true, AUDIO, false, true, 0},
        {"the video's, at that time", DESCRIBED, true, VIDEO, false, false, 0},
        {"RTCP, at that time", DESCRIBED, true, AUDIO, true, false, 0},
        {"audio", OPEN, true, AUDIO, false, true, 1},
        {"video", OPEN, true, VIDEO, false, false, 0},
        {"of a connection that was left", LEFT, true, AUDIO, false, false, 0},
    };
    for (const auto &row : rows) {
        INFO(row.name);
        fixture f;
        sdp s = description(row.has_audio);
        if (row.at != BEFORE)
            audio_session_join(f.s, &s, 1);
        if (row.at >= OPEN)
            audio_session_open(f.s);
        if (row.at == LEFT)
            audio_session_leave(f.s);
        CHECK(f.take(row.payload_type, 1, row.rtcp) == row.taken);
        CHECK(audio_session_packets(f.s) == row.counted);
    }
}

TEST_CASE("audio_session: the report has the packets of all connections")
{
    fixture f;
    sdp s = description(true);
    for (int connection = 0; connection < 2; connection++) {
        audio_session_join(f.s, &s, 1);
        audio_session_open(f.s);
        for (uint16_t seq : {1, 2, 4, 5}) // 3 is lost
            CHECK(f.take(AUDIO, seq));
        CHECK(audio_session_packets(f.s) == 4);
        CHECK(f.figures().packets == 4 * (connection + 1));
        CHECK(f.figures().lost == connection + 1);
        audio_session_leave(f.s);
    }
    CHECK(f.figures().packets == 8);
    CHECK(f.figures().lost == 2);
    CHECK(f.figures().bytes == 8 * packet(AUDIO, 1).size());
}

TEST_CASE("audio_session: the receiver reports on audio that arrived")
{
    fixture f;
    sdp s = description(true);
    uint8_t out[RTCP_MAX_PACKET];
    CHECK(audio_session_second(f.s, out, USEC_PER_SEC) == 0);
    audio_session_join(f.s, &s, 1);
    audio_session_open(f.s);
    CHECK(audio_session_second(f.s, out, USEC_PER_SEC) == 0);
    CHECK(f.take(AUDIO, 1));
    size_t len = audio_session_second(f.s, out, USEC_PER_SEC);
    rtcp_item item;
    size_t at = 0;
    REQUIRE(rtcp_next(out, len, &at, &item) == 1);
    CHECK(item.kind == RTCP_IS_RR);
}

TEST_CASE("audio_session: without audio every call is harmless")
{
    fixture f;
    media_clock clock = {};
    play_frame frame = {};
    audio_session_near(f.s, 10);
    audio_session_frame(f.s, 1, 2, 3);
    audio_session_video_report(f.s, 1, 2);
    audio_session_clock(f.s, true, &clock);
    audio_session_picture(f.s, &frame, 0);
    audio_session_mute(f.s);
    CHECK_FALSE(audio_session_volume(f.s).present);
    audio_session_end(f.s);
    audio_session_leave(f.s);
    CHECK_FALSE(f.figures().packets > 0);
    audio_session_free(nullptr);
}

TEST_CASE("audio_session: the volume stays within 0 to 100 %, and a change unmutes")
{
    fixture f;
    audio_session_volume_by(f.s, 5);
    CHECK(audio_session_volume(f.s).percent == 100);
    for (int i = 0; i < 3; i++)
        audio_session_volume_by(f.s, -40);
    CHECK(audio_session_volume(f.s).percent == 0);
    audio_session_mute(f.s);
    CHECK(audio_session_volume(f.s).muted);
    audio_session_volume_by(f.s, 5);
    CHECK_FALSE(audio_session_volume(f.s).muted);
    CHECK(audio_session_volume(f.s).percent == 5);
}
