// SPDX-License-Identifier: GPL-2.0-or-later
// The loop never runs: packets come with the times that the test gives them.
#include "client/receive/stream_receiver.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "common/wire/rtcp.h"

namespace
{

enum { VIDEO = 96, AUDIO = 97 };
const usec_t T0 = 1000 * USEC_PER_SEC;

sdp weir()
{
    sdp s = {};
    s.source = SDP_SOURCE_FILE;
    s.codec = SDP_H264;
    s.payload_type = VIDEO;
    s.ext.adu = RTP_EXT_ADU_ID;
    s.nack = s.pli = true;
    s.ladder.level_count = 1;
    s.ladder.source_fps = {10, 1};
    s.audio.present = true;
    s.audio.payload_type = AUDIO;
    s.audio.ext.adu = RTP_EXT_ADU_ID;
    return s;
}

sdp third_party()
{
    const std::string text = "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nt=0 0\r\n"
                             "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n"
                             "m=audio 0 RTP/AVP 97\r\na=rtpmap:97 opus/48000/2\r\n";
    sdp s;
    REQUIRE(sdp_decode(text.data(), text.size(), &s) == 0);
    REQUIRE(s.audio.present);
    return s;
}

struct rig {
    uv_loop_t loop;
    sdp described;
    stream_receiver *r = nullptr;
    std::vector<std::string> log;
    std::vector<int64_t> audio; // positions
    int sent[TRACKS] = {};
    usec_t now = T0;

    explicit rig(const sdp &s, bool has_ops = true) : described(s)
    {
        REQUIRE(uv_loop_init(&loop) == 0);
        static const stream_receiver_ops all = make(true), least = make(false);
        stream_receiver_config config = {};
        config.video.loop = &loop;
        config.video.sdp = &described;
        config.video.random = 5;
        config.video.back.send_rtcp = [](void *ctx, media_track track, const uint8_t *, size_t) {
            static_cast<rig *>(ctx)->sent[track]++;
        };
        config.video.back.ctx = this;
        config.ops = has_ops ? &all : &least;
        config.ctx = this;
        r = stream_receiver_new(&config);
        REQUIRE(r);
    }
    ~rig()
    {
        stream_receiver_free(r);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    rig(const rig &) = delete;
    rig &operator=(const rig &) = delete;

    static void note(void *ctx, const std::string &what)
    {
        static_cast<rig *>(ctx)->log.push_back(what);
    }
    static stream_receiver_ops make(bool all)
    {
        stream_receiver_ops o = {};
        o.video.on_frame = [](void *ctx, received_frame *f, usec_t) {
            note(ctx, "frame " + std::to_string(f->number));
            received_frame_free(f);
        };
        if (!all)
            return o;
        o.video.on_packet = [](void *ctx, const rtp_packet *, int64_t, usec_t, usec_t) {
            note(ctx, "packet");
        };
        o.video.on_nacked = [](void *ctx, usec_t) { note(ctx, "nacked"); };
        o.video.on_bye = [](void *ctx, usec_t) { note(ctx, "bye"); };
        o.video.on_report = [](void *ctx, uint64_t, uint32_t stamp) {
            note(ctx, "report " + std::to_string(stamp));
        };
        o.on_media = [](void *ctx, media_track track, bool rtcp, const uint8_t *, size_t, usec_t) {
            note(ctx,
                 std::string(track == TRACK_AUDIO ? "audio" : "video") + (rtcp ? " rtcp" : ""));
        };
        o.on_audio = [](void *ctx, const received_audio *a, usec_t at) {
            auto *self = static_cast<rig *>(ctx);
            CHECK(at == self->now);
            self->audio.push_back(a->position);
        };
        return o;
    }

    void take(const std::vector<uint8_t> &data, media_track track = TRACK_VIDEO, bool rtcp = false)
    {
        stream_receiver_packet(r, track, rtcp, data.data(), data.size(), now, now);
    }
    std::vector<std::string> taken()
    {
        return std::exchange(log, {});
    }
};

// A whole frame of the video, or 20 ms of audio.
std::vector<uint8_t> packet(int payload_type, uint16_t seq, uint32_t number, bool placed = true)
{
    rtp_packet p = {};
    p.payload_type = (uint8_t)payload_type;
    p.marker = payload_type == VIDEO;
    p.seq = seq;
    p.timestamp = number * (payload_type == VIDEO ? 9000u : 1u);
    p.ssrc = payload_type == VIDEO ? 7 : 8;
    p.has_adu = placed;
    p.adu.frame = number;
    p.adu.first = p.adu.last = true;
    p.adu.depends = 0;
    std::vector<uint8_t> data(RTP_MAX_HEADER);
    data.resize(rtp_encode(&p, data.data()));
    data.insert(data.end(), {0x65, 0x88, 1, 2, 3});
    return data;
}

std::vector<uint8_t> report(uint32_t ssrc, uint64_t ntp, uint32_t stamp, bool bye = false)
{
    std::vector<uint8_t> out(RTCP_MAX_PACKET);
    size_t len = 0;
    rtcp_item item = {};
    item.kind = RTCP_IS_SR;
    item.ssrc = ssrc;
    item.sender.ntp = ntp;
    item.sender.rtp_timestamp = stamp;
    REQUIRE(rtcp_append(&item, out.data(), out.size(), &len) == 0);
    item = {};
    item.kind = RTCP_IS_BYE;
    item.ssrc = ssrc;
    if (bye)
        REQUIRE(rtcp_append(&item, out.data(), out.size(), &len) == 0);
    out.resize(len);
    return out;
}

using lines = std::vector<std::string>;

} // namespace

TEST_CASE("stream_receiver: weir-send's audio comes in the video's flow")
{
    rig w(weir());
    w.take(packet(AUDIO, 1, 960)); // before its SETUP is answered
    CHECK(w.taken() == lines{"audio"});
    CHECK(w.audio.empty());
    CHECK(stream_receiver_add_audio(w.r) == 0);
    CHECK(stream_receiver_add_audio(w.r) == 0);
    w.take(packet(VIDEO, 1, 0));
    CHECK(w.taken() == lines{"video", "packet", "frame 0"});
    w.take(packet(AUDIO, 2, 1920));
    CHECK(w.taken() == lines{"audio"});
    CHECK(w.audio == std::vector<int64_t>{1920});
    // The positions go round every day; the video says in which round they are.
    const int64_t round = (int64_t)1 << 32;
    stream_receiver_relate(w.r, 0, round / 48 * 1000, w.now);
    w.take(packet(AUDIO, 3, 2880));
    CHECK(w.audio.back() == round + 2880);
    // Of each flow one report goes back.
    video_receiver_stats stats;
    stream_receiver_second(w.r, &stats, w.now);
    CHECK(w.sent[TRACK_VIDEO] == 1);
    CHECK(w.sent[TRACK_AUDIO] == 1);
}

TEST_CASE("stream_receiver: a third party's audio has a flow of its own and a clock of its own")
{
    rig w(third_party());
    w.take(packet(AUDIO, 1, 960, false), TRACK_AUDIO);
    CHECK(w.taken() == lines{"audio"});
    stream_receiver_add_audio(w.r);
    // What has the audio's payload type in the video's flow is the video's, which does not take it.
    w.take(packet(AUDIO, 2, 1920, false), TRACK_VIDEO);
    CHECK(w.taken() == lines{"video"});
    w.take(packet(VIDEO, 1, 0, false), TRACK_AUDIO);
    CHECK(w.taken().empty());
    // The clocks are related by the reports of both flows, and one picture.
    const uint64_t second = (uint64_t)1 << 32;
    w.take(packet(VIDEO, 1, 0, false));
    w.take(packet(AUDIO, 3, 48000, false), TRACK_AUDIO);
    w.take(report(7, 100 * second, 0), TRACK_VIDEO, true);
    w.take(report(8, 100 * second, 48000), TRACK_AUDIO, true);
    CHECK(w.taken().back() == "audio rtcp");
    stream_receiver_relate(w.r, 0, 5 * USEC_PER_SEC, w.now);
    w.take(packet(AUDIO, 4, 48960, false), TRACK_AUDIO);
    REQUIRE_FALSE(w.audio.empty());
    CHECK(w.audio.back() == 5 * 48000 + 960);
}

TEST_CASE("stream_receiver: lost packets of both are requested where the transport may lose them")
{
    rig w(weir());
    stream_receiver_add_audio(w.r);
    video_repair repair = {};
    repair.datagram = true;
    repair.wanted = REPAIR_MODE_AUTO;
    CHECK(stream_receiver_set_repair(w.r, &repair, true) == 0);
    video_receiver_set_keep(stream_receiver_video(w.r), USEC_PER_SEC);
    stream_receiver_set_path(w.r, 50 * USEC_PER_MSEC, USEC_PER_SEC, w.now);
    for (int i = 0; i < 60; i++, w.now += 20 * USEC_PER_MSEC) {
        if (i != 10)
            w.take(packet(VIDEO, (uint16_t)i, (uint32_t)i));
        if (i != 20)
            w.take(packet(AUDIO, (uint16_t)i, (uint32_t)i * 960));
    }
    CHECK(w.sent[TRACK_VIDEO] > 0);
    CHECK(w.sent[TRACK_AUDIO] > 0);
    CHECK(std::count(w.log.begin(), w.log.end(), "nacked") > 0);
    // Over TCP nothing is lost that could be sent again.
    repair.datagram = false;
    CHECK(stream_receiver_set_repair(w.r, &repair, false) == 0);
    w.sent[TRACK_VIDEO] = w.sent[TRACK_AUDIO] = 0;
    for (int i = 60; i < 120; i += 2, w.now += 20 * USEC_PER_MSEC) {
        w.take(packet(VIDEO, (uint16_t)i, (uint32_t)i));
        w.take(packet(AUDIO, (uint16_t)i, (uint32_t)i * 960));
    }
    CHECK(w.sent[TRACK_VIDEO] == 0);
    CHECK(w.sent[TRACK_AUDIO] == 0);
}

TEST_CASE("stream_receiver: what is not needed is not called, and the end is")
{
    rig least(weir(), false);
    stream_receiver_add_audio(least.r);
    least.take(packet(VIDEO, 1, 0));
    least.take(packet(AUDIO, 1, 960));
    least.take(report(7, 1, 0, true), TRACK_VIDEO, true);
    CHECK(least.taken() == lines{"frame 0"});
    rig all(weir());
    all.take(packet(VIDEO, 1, 0));
    (void)all.taken();
    all.take(report(7, 1, 90, true), TRACK_VIDEO, true);
    CHECK(all.taken() == lines{"video rtcp", "report 90", "bye"});
    all.take({0x80}); // malformed
    CHECK(all.taken() == lines{"video"});
}
