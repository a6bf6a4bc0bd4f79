// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/audio_session.h"

#include <catch2/catch.hpp>

#include <memory>
#include <vector>

#include "common/wire/rtp.h"

namespace
{

enum { VIDEO = 96, AUDIO = 97 };

sdp description()
{
    sdp s = {};
    s.source = SDP_SOURCE_FILE;
    s.codec = SDP_H264;
    s.ext.adu = RTP_EXT_ADU_ID; // of a weir-send
    s.payload_type = VIDEO;
    s.ladder.source_fps = {25, 1};
    s.ladder.level_count = 1;
    s.audio.present = true;
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
    uv_loop_t loop;
    play_options options = {};
    struct audio_session *s;
    sdp described = {};
    stream_receiver *media = nullptr;

    fixture()
    {
        REQUIRE(uv_loop_init(&loop) == 0);
        options.volume = 100;
        audio_outlet outlet = {};
        outlet.is_virtual = true;
        s = audio_session_new(&options, &outlet);
        REQUIRE(s);
    }
    ~fixture()
    {
        free_media();
        audio_session_free(s);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    fixture(const fixture &) = delete;
    fixture &operator=(const fixture &) = delete;
    void take(uint16_t seq)
    {
        std::vector<uint8_t> data = packet(AUDIO, seq);
        stream_receiver_packet(media, TRACK_VIDEO, false, data.data(), data.size(), seq * 20000,
                               seq * 20000);
    }
    // A connection whose stream is described.
    void join(const sdp &of)
    {
        static const stream_receiver_ops ops = make();
        described = of;
        stream_receiver_config config = {};
        config.video.loop = &loop;
        config.video.sdp = &described;
        config.video.back.send_rtcp = [](void *, media_track, const uint8_t *, size_t) {};
        config.ops = &ops;
        config.ctx = this;
        media = stream_receiver_new(&config);
        REQUIRE(media);
        audio_session_join(s, &described);
    }
    static stream_receiver_ops make()
    {
        stream_receiver_ops o = {};
        o.video.on_frame = [](void *, received_frame *f, usec_t) { received_frame_free(f); };
        o.on_audio = [](void *ctx, const received_audio *a, usec_t) {
            audio_session_packet(static_cast<fixture *>(ctx)->s, a);
        };
        return o;
    }
    void free_media()
    {
        audio_session_forget(s, media);
        stream_receiver_free(media);
        media = nullptr;
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

TEST_CASE("audio_session: plays what comes after SETUP and before the connection is left")
{
    fixture f;
    f.join(description());
    f.take(1); // it overtook the response to SETUP
    CHECK_FALSE(f.figures().packets > 0);
    audio_session_open(f.s, f.media);
    f.take(2);
    CHECK(f.figures().packets == 1);
    audio_session_leave(f.s);
    f.take(3);
    CHECK(f.figures().packets == 1);
}

TEST_CASE("audio_session: the report has the packets of all connections")
{
    fixture f;
    for (int connection = 0; connection < 3; connection++) {
        f.join(description());
        audio_session_open(f.s, f.media);
        for (uint16_t seq : {1, 2, 4, 5}) // 3 is lost
            f.take(seq);
        CHECK(f.figures().packets == 4 * (connection + 1));
        CHECK(f.figures().lost == connection + 1);
        if (connection != 1) // that one breaks off
            audio_session_leave(f.s);
        f.free_media();
    }
    CHECK(f.figures().packets == 12);
    CHECK(f.figures().lost == 3);
    CHECK(f.figures().bytes == 12 * packet(AUDIO, 1).size());
}

TEST_CASE("audio_session: receivers of another connection are not its own")
{
    fixture f;
    f.join(description());
    audio_session_open(f.s, f.media);
    f.take(1);
    audio_session_forget(f.s, nullptr);
    f.take(2);
    CHECK(f.figures().packets == 2);
}

TEST_CASE("audio_session: without audio every call is harmless")
{
    fixture f;
    media_clock clock = {};
    play_frame frame = {};
    audio_session_second(f.s);
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
