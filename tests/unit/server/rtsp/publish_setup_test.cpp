// SPDX-License-Identifier: GPL-2.0-or-later
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" // functions named as their structs, which C allows
#include "server/rtsp/publish_setup.h"
#pragma GCC diagnostic pop

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "common/base/err.h"
#include "tests/support/tcp_pair.hpp"

namespace
{

const std::string head = "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nt=0 0\r\n";
const std::string video =
    "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:streamid=0\r\n";
const std::string audio =
    "m=audio 0 RTP/AVP 97\r\na=rtpmap:97 opus/48000/2\r\na=control:streamid=1\r\n";
const std::string aac = "m=audio 0 RTP/AVP 97\r\na=rtpmap:97 MPEG4-GENERIC/44100/1\r\na=fmtp:97 "
                        "mode=AAC-hbr;sizelength=13;indexlength=3;indexdeltalength=3; "
                        "config=1208\r\na=control:streamid=1\r\n";
const std::string other = "m=application 0 RTP/AVP 98\r\na=control:streamid=2\r\n";

// A connection of a client, and a catalog that takes one path, /cam.
struct world {
    struct taken {
        publication base; // first
        world *w;
    };
    test::tcp_pair tcp;
    catalog_ops ops = {};
    catalog served = {};
    rtsp_session state;
    publish_setup *setup;
    taken one;
    const publication_events *events = nullptr;
    void *ctx = nullptr;
    sdp announced = {};
    bool is_taken = false, has_begun = false, is_datagram = false;
    int ready = 0, cseq = 0;
    std::string ended = "no", over;
    std::vector<std::string> packets; // "video 3", with the bytes
    static inline world *self;

    explicit world(bool offers = true)
    {
        self = this;
        static const publication_ops taking = {
            [](publication *, bool datagram, usec_t) {
                self->has_begun = true;
                self->is_datagram = datagram;
            },
            [](publication *, media_track track, bool rtcp, const uint8_t *, size_t len, usec_t) {
                self->packets.push_back(std::string(track == TRACK_AUDIO ? "audio" : "video") +
                                        (rtcp ? " rtcp " : " ") + std::to_string(len));
            },
            [](publication *, const char *why, usec_t) {
                self->ended = why ? why : "well";
                self->is_taken = false;
            }};
        one = {{&taking}, this};
        ops.publish = [](catalog *, const char *path, const publication_config *config,
                         publication **out, media_refusal *refusal) -> int {
            *refusal = {self->is_taken ? 503 : 404, "refused by the catalog"};
            if (self->is_taken || std::string(path) != "/cam")
                return CATALOG_REFUSED;
            self->is_taken = true;
            self->announced = *config->sdp;
            self->events = config->events;
            self->ctx = config->ctx;
            *out = &self->one.base;
            return 0;
        };
        if (!offers)
            ops.publish = nullptr;
        served.ops = &ops;
        rtsp_session_init(&state, 0);
        publish_setup_config config = {&tcp.loop,
                                       &served,
                                       tcp.conn,
                                       "client",
                                       &state,
                                       [](void *, usec_t) { self->ready++; },
                                       [](void *, const char *why, usec_t) { self->over = why; },
                                       nullptr};
        setup = publish_setup_new(&config);
        REQUIRE(setup);
    }
    ~world()
    {
        publish_setup_free(setup, 0);
    }
    // Returns the status; 0: it waits. `said` has the headers and the body.
    int serve(const std::string &method, const std::string &path, const std::string &headers,
              const std::string &body = "", std::string *said = nullptr)
    {
        std::string text = method + " " + path + " RTSP/1.0\r\nCSeq: " + std::to_string(++cseq) +
                           "\r\n" + headers + "Content-Length: " + std::to_string(body.size()) +
                           "\r\n\r\n" + body;
        auto item = std::make_unique<rtsp_item>();
        auto a = std::make_unique<rtsp_response>();
        size_t used;
        REQUIRE(rtsp_decode((const uint8_t *)text.data(), text.size(), item.get(), &used) == 0);
        a->status = 200;
        if (!publish_setup_serve(setup, item.get(), path.c_str(), a.get(), 0))
            return 0;
        if (said)
            *said = std::string(a->headers) + a->body;
        return a->status;
    }
    int announce(const std::string &sdp, const std::string &path = "/cam",
                 std::string *said = nullptr)
    {
        return serve("ANNOUNCE", path, "Content-Type: application/sdp\r\n", sdp, said);
    }
    int set_up(const std::string &path, const std::string &transport, std::string *said = nullptr)
    {
        return serve("SETUP", path, "Transport: " + transport + "\r\n", "", said);
    }
    void record()
    {
        CHECK(serve("RECORD", "/cam", "") == 0); // waits for the camera
        CHECK(has_begun);
        events->on_begun(ctx, 0);
        CHECK(ready == 1);
        CHECK(serve("RECORD", "/cam", "") == 200);
        CHECK(state.state == RTSP_PLAYING);
    }
    void packet(int channel, size_t len, usec_t now = 0)
    {
        std::string data(len, 'x');
        publish_setup_interleaved(setup, channel, (const uint8_t *)data.data(), len, now);
    }
};

} // namespace

TEST_CASE("publish_setup: descriptions that are taken, and those that are not")
{
    const struct {
        std::string sdp;
        int status;
        const char *said;
    } rows[] = {
        {head + video, 200, ""},
        {head + video + audio, 200, ""},
        {head + video + aac + other, 200, ""},
        {"", 415, "application/sdp"},
        {"x", 400, "malformed"},
        {head + audio, 415, "no video"},
        {head + video + other + other + other + other, 413, "more than 4"},
        {head + video + std::string(SDP_MAX_BYTES, 'x'), 413, "bytes"},
    };
    for (const auto &row : rows) {
        INFO(row.sdp.substr(0, 300));
        world w;
        std::string said;
        CHECK(w.announce(row.sdp, "/cam", &said) == row.status);
        CHECK(said.find(row.said) != std::string::npos);
        CHECK(w.is_taken == (row.status == 200));
        CHECK(w.state.records == (row.status == 200));
    }
    world w;
    CHECK(w.serve("ANNOUNCE", "/cam", "Content-Type: text/plain\r\n", head + video) == 415);
    CHECK(w.announce(head + video, "/other") == 404);
    CHECK_FALSE(w.state.records);
    CHECK(publish_setup_is_offered(w.setup));
    CHECK_FALSE(publish_setup_is_offered(world(false).setup));
}

TEST_CASE("publish_setup: a Weir stream is taken as a third party's, and AAC is read")
{
    world w;
    std::string own = "a=extmap:1 urn:x-weir:adu\r\na=x-weir-order:decoding\r\n"
                      "a=x-weir-size:0 640x360@30/1 layers=1\r\na=x-weir-level:0 size=0 tid=0 "
                      "rate=960000\r\n";
    REQUIRE(w.announce(head + video + own + aac) == 200);
    CHECK(sdp_is_third_party(&w.announced));
    CHECK(w.announced.ladder.level_count == 0);
    CHECK(w.announced.duration == -1);
    CHECK(w.announced.audio.present);
    CHECK(w.announced.audio.codec == SDP_AUDIO_AAC);
}

TEST_CASE("publish_setup: packets of each medium go to its track, after RECORD")
{
    world w;
    std::string said;
    REQUIRE(w.announce(head + video + audio + other) == 200);
    CHECK(w.serve("RECORD", "/cam", "") == 455); // the video is not set up
    CHECK(w.set_up("/cam/streamid=2", "RTP/AVP/TCP;interleaved=4-5") == 200);
    CHECK(w.set_up("/cam/streamid=1", "RTP/AVP/TCP;interleaved=2-3") == 200);
    CHECK(w.set_up("/cam/streamid=0", "RTP/AVP/TCP;interleaved=3-4") == 461); // in use
    CHECK(w.set_up("/cam/streamid=0", "RTP/AVP;unicast") == 461);
    CHECK(w.set_up("/cam/streamid=0", "RTP/AVP/TCP;interleaved=0-1;mode=record", &said) == 200);
    CHECK(said.find("interleaved=0-1;mode=record\r\n") != std::string::npos);
    CHECK(said.find(std::string("Session: ") + w.state.id) != std::string::npos);
    w.packet(0, 20); // before RECORD
    w.record();
    CHECK_FALSE(w.is_datagram);
    for (int channel : {0, 1, 2, 3, 4, 5, 6})
        w.packet(channel, 20 + (size_t)channel);
    CHECK(w.packets ==
          std::vector<std::string>{"video 20", "video rtcp 21", "audio 22", "audio rtcp 23"});
    CHECK(w.serve("TEARDOWN", "/cam", "") == 200);
    CHECK(w.ended == "well");
    CHECK(w.state.state == RTSP_INIT);
    w.packet(0, 20);
    CHECK(w.packets.size() == 4);
    CHECK(w.announce(head + video) == 200); // again
}

TEST_CASE("publish_setup: datagrams have ports of the server")
{
    world w;
    std::string said;
    REQUIRE(w.announce(head + video) == 200);
    CHECK(w.set_up("/cam/streamid=0", "RTP/AVP;multicast") == 461);
    CHECK(w.set_up("/cam/streamid=0", "RTP/SAVP;client_port=5000-5001") == 461);
    CHECK(w.set_up("/cam/streamid=0", "RTP/AVP;client_port=5000-5001", &said) == 200);
    CHECK(said.find("client_port=5000-5001;server_port=") != std::string::npos);
    w.record();
    CHECK(w.is_datagram);
}

TEST_CASE("publish_setup: a client that sends too much, does not record, or is not taken")
{
    world w;
    REQUIRE(w.announce(head + video) == 200);
    publish_setup_second(w.setup, PUBLISH_BEGIN_LIMIT);
    CHECK(w.over.empty());
    SECTION("it does not record")
    {
        publish_setup_second(w.setup, PUBLISH_BEGIN_LIMIT + 1);
        CHECK(w.over.find("no RECORD") != std::string::npos);
    }
    SECTION("too many packets")
    {
        REQUIRE(w.set_up("/cam/streamid=0", "RTP/AVP/TCP;interleaved=0-1") == 200);
        w.record();
        usec_t now = 10 * USEC_PER_SEC;
        for (int second = 0; second < 3; second++, now += USEC_PER_SEC)
            for (int i = 0; i < PUBLISH_MAX_PACKETS; i++)
                w.packet(0, 12, now);
        CHECK(w.over.empty());
        w.packet(0, 12, now - 1);
        CHECK(w.over.find("more than 30000") != std::string::npos);
        CHECK(w.packets.size() == 3 * PUBLISH_MAX_PACKETS);
    }
    SECTION("its media is not taken")
    {
        REQUIRE(w.set_up("/cam/streamid=0", "RTP/AVP/TCP;interleaved=0-1") == 200);
        CHECK(w.serve("RECORD", "/cam", "") == 0);
        w.events->on_over(w.ctx, "no picture", 0);
        CHECK(w.ready == 1);
        std::string said;
        CHECK(w.serve("RECORD", "/cam", "", "", &said) == 503);
        CHECK(said.find("no picture") != std::string::npos);
        CHECK(w.ended == "no picture");
        CHECK(w.state.state == RTSP_INIT);
    }
    SECTION("its media is taken no longer")
    {
        REQUIRE(w.set_up("/cam/streamid=0", "RTP/AVP/TCP;interleaved=0-1") == 200);
        w.record();
        w.events->on_over(w.ctx, "another codec", 0);
        CHECK(w.over == "another codec");
        publish_setup_end(w.setup, "x", 0);
        CHECK(w.ended == "x");
    }
}
