// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/camera/camera_receiver.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "common/net/clock.h"

namespace
{

sdp description(const std::string &more)
{
    const std::string text =
        "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nt=0 0\r\nm=video 0 RTP/AVP 96\r\n" + more;
    sdp s;
    REQUIRE(sdp_decode(text.data(), text.size(), &s) == 0);
    return s;
}

struct heard {
    int described = 0, frames = 0, stamps = 0, byes = 0, reports = 0;
    std::string why;
};

heard *of(void *ctx)
{
    return static_cast<heard *>(ctx);
}

} // namespace

TEST_CASE("camera_receiver: what is taken")
{
    const std::string h264 = "a=rtpmap:96 H264/90000\r\n";
    CHECK(camera_receiver_takes(&(const sdp &)description(h264)));
    CHECK(camera_receiver_takes(&(const sdp &)description("a=rtpmap:96 H265/90000\r\n")));
    CHECK(camera_receiver_takes(&(const sdp &)description(h264 + "a=range:npt=0-10\r\n")));
    sdp film = description(h264); // of a Weir server
    film.ext.adu = 1;
    CHECK(camera_receiver_takes(&film));
    film.duration = 10;
    CHECK_FALSE(camera_receiver_takes(&film));
    film.duration = -1;
    film.codec = SDP_VP9;
    CHECK_FALSE(camera_receiver_takes(&film));
}

TEST_CASE("camera_receiver: packets become pictures, and the sender's BYE is passed on")
{
    uv_loop_t loop;
    REQUIRE(uv_loop_init(&loop) == 0);
    heard got;
    static const camera_link_ops ops = {
        [](void *ctx, const sdp *, const char *, usec_t) { of(ctx)->described++; },
        [](void *ctx, uint32_t, usec_t) { of(ctx)->stamps++; },
        [](void *ctx, received_frame *f, usec_t) {
            of(ctx)->frames++;
            received_frame_free(f);
        },
        [](void *, const received_audio *, usec_t) {},
        [](void *ctx, usec_t, uint32_t) { of(ctx)->reports++; },
        [](void *, int, const char *, usec_t) {}};
    const sdp s = description("a=rtpmap:96 H264/90000\r\na=rtcp-fb:96 nack pli\r\n");
    camera_receiver_config config = {&s,
                                     &ops,
                                     &got,
                                     [](void *ctx, const char *why, usec_t) { of(ctx)->why = why; },
                                     [](void *ctx, usec_t) { of(ctx)->byes++; },
                                     &got};
    usec_t now = clock_now();
    camera_receiver *r = camera_receiver_new(&config);
    REQUIRE(r);
    CHECK_FALSE(camera_receiver_begin(r, nullptr, now)); // no memory for the receivers
    stream_receiver_config of_media = camera_receiver_media(r);
    of_media.video.loop = &loop;
    of_media.video.back.send_rtcp = [](void *, media_track, const uint8_t *, size_t) {};
    stream_receiver *media = stream_receiver_new(&of_media);
    CHECK(got.described == 0);
    REQUIRE(camera_receiver_begin(r, media, now));
    CHECK(got.described == 1);
    const uint8_t packet[] = {0x80, 0xe0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 7, 0x65, 0x88, 1, 2, 3};
    const auto take = [&](media_track track, bool rtcp, const uint8_t *data, size_t len) {
        stream_receiver_packet(media, track, rtcp, data, len, now, now);
    };
    take(TRACK_AUDIO, false, packet, sizeof(packet)); // it has no audio
    CHECK(got.stamps == 0);
    take(TRACK_VIDEO, false, packet, sizeof(packet));
    CHECK(got.stamps == 1);
    CHECK(got.frames == 1);
    const uint8_t bye[] = {0x80, 200, 0, 6, 0, 0, 0, 7, 0, 0, 0,    1,   0, 0, 0, 0, 0, 0,
                           0,    5,   0, 0, 0, 1, 0, 0, 0, 9, 0x81, 203, 0, 1, 0, 0, 0, 7};
    take(TRACK_VIDEO, true, bye, sizeof(bye));
    CHECK(got.reports == 1);
    CHECK(got.byes == 1);
    CHECK(got.why.empty());
    stream_receiver_free(media);
    camera_receiver_free(r);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&loop) == 0);
}
