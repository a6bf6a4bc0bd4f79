// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/camera/publisher.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "common/net/clock.h"

namespace
{

sdp description()
{
    static const char text[] =
        "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nt=0 0\r\nm=video 0 RTP/AVP "
        "96\r\na=rtpmap:96 H264/90000\r\na=control:streamid=0\r\n";
    sdp s;
    REQUIRE(sdp_decode(text, strlen(text), &s) == 0);
    return s;
}

// Both ends on one loop.
struct world {
    uv_loop_t loop;
    publisher *p;
    camera_link *link = nullptr;
    bool begun = false, has_owner = true;
    std::string over, end = "no", codec;
    int described = 0, stamps = 0, keys = 0, rtcp = 0;
    size_t frame_bytes = 0;

    world()
    {
        REQUIRE(uv_loop_init(&loop) == 0);
        sdp s = description();
        publisher_config config = {
            &loop,
            "/cam",
            &s,
            [](void *ctx, usec_t) { static_cast<world *>(ctx)->begun = true; },
            [](void *ctx, const char *why, usec_t) { static_cast<world *>(ctx)->over = why; },
            [](void *ctx, media_track, const uint8_t *, size_t) {
                static_cast<world *>(ctx)->rtcp++;
            },
            this};
        p = publisher_new(&config);
        REQUIRE(p);
        CHECK(std::string(publisher_name(p)) == "/cam");
    }
    ~world()
    {
        leave();
        if (link)
            link->kind->free(link, clock_now());
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    void leave(const char *why = nullptr)
    {
        if (has_owner)
            publisher_end(p, why);
        has_owner = false;
    }
    void open()
    {
        static const camera_link_ops ops = {
            [](void *ctx, const sdp *, const char *audio, usec_t) {
                auto *w = static_cast<world *>(ctx);
                w->described++;
                w->codec = audio ? audio : "";
            },
            [](void *ctx, uint32_t, usec_t) { static_cast<world *>(ctx)->stamps++; },
            [](void *ctx, received_frame *f, usec_t) {
                auto *w = static_cast<world *>(ctx);
                w->keys += f->key;
                w->frame_bytes = f->bytes;
                received_frame_free(f);
            },
            [](void *, const received_audio *, usec_t) {},
            [](void *, usec_t, uint32_t) {},
            [](void *ctx, int, const char *why, usec_t) {
                static_cast<world *>(ctx)->end = why ? why : "well";
            }};
        publisher_link_config config = {p, &loop, true, &ops, this};
        link = publisher_link_new(&config);
        REQUIRE(link);
    }
    void until(const std::function<bool()> &done)
    {
        while (!done())
            uv_run(&loop, UV_RUN_ONCE);
    }
    // A picture of one packet: an IDR slice.
    void give(uint16_t seq)
    {
        uint8_t packet[] = {0x80, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0x65, 0x88, 1, 2, 3};
        packet[2] = (uint8_t)(seq >> 8);
        packet[3] = (uint8_t)seq;
        packet[5] = (uint8_t)(seq * 14); // a time stamp of its own
        publisher_packet(p, TRACK_VIDEO, false, packet, sizeof(packet), clock_now());
    }
};

} // namespace

TEST_CASE("publisher: packets become frames of the link")
{
    world w;
    w.give(1); // without a link it is dropped
    w.open();
    w.until([&] { return w.begun; });
    CHECK(w.described == 1);
    CHECK(w.codec.empty());
    for (uint16_t seq = 2; seq < 5; seq++)
        w.give(seq);
    w.until([&] { return w.keys == 3; });
    CHECK(w.stamps == 3);
    CHECK(w.frame_bytes > 4);
    w.link->kind->second(w.link, clock_now()); // a receiver report
    w.until([&] { return w.rtcp > 0; });
    w.link->kind->request_key(w.link, clock_now()); // no a=rtcp-fb: none is sent
}

TEST_CASE("publisher: its end is the link's, and the other way round")
{
    world w;
    SECTION("well")
    {
        w.open();
        w.until([&] { return w.begun; });
        w.leave();
        w.until([&] { return w.end != "no"; });
        CHECK(w.end == "well");
    }
    SECTION("it breaks off")
    {
        w.open();
        w.leave("its connection has ended");
        w.until([&] { return w.end != "no"; });
        CHECK(w.end == "its connection has ended");
        CHECK_FALSE(w.begun); // no callback follows
    }
    SECTION("before the link")
    {
        publisher *ref = publisher_ref(w.p);
        w.leave("gone");
        w.open();
        w.until([&] { return w.end != "no"; });
        CHECK(w.end == "gone");
        publisher_unref(ref);
    }
    SECTION("the link gives up")
    {
        w.open();
        w.until([&] { return w.begun; });
        w.link->kind->give_up(w.link, "another codec", clock_now());
        CHECK(w.end == "another codec");
        w.until([&] { return !w.over.empty(); });
        CHECK(w.over == "another codec");
        w.give(9);
        w.leave();
    }
}

TEST_CASE("publisher: what waits is bounded")
{
    world w;
    w.open(); // its loop does not run
    std::vector<uint8_t> large(60000, 0);
    for (int i = 0; i < 2000; i++) // 120 MB: more are dropped than kept
        publisher_packet(w.p, TRACK_VIDEO, false, large.data(), large.size(), 0);
    w.leave("full"); // still passes
    w.until([&] { return w.end != "no"; });
    CHECK(w.end == "full");
}

TEST_CASE("publisher: another one continues its media")
{
    world w, other;
    w.open();
    w.until([&] { return w.begun; });
    CHECK(publisher_successor(w.p) == nullptr);
    CHECK(publisher_succeed(w.p, other.p));
    CHECK_FALSE(publisher_succeed(w.p, other.p)); // it has one
    w.until([&] { return w.end != "no"; });
    CHECK(w.end == "well");
    publisher *next = publisher_successor(w.p);
    CHECK(next == other.p);
    publisher_unref(next);
    w.leave("after another took over");
}

TEST_CASE("publisher: what another one cannot continue")
{
    world w, other;
    w.open();
    SECTION("its link has given up")
    {
        w.link->kind->give_up(w.link, "no picture", clock_now());
        CHECK_FALSE(publisher_succeed(w.p, other.p));
    }
    SECTION("it has ended")
    {
        publisher *ref = publisher_ref(w.p);
        w.leave();
        CHECK_FALSE(publisher_succeed(ref, other.p));
        publisher_unref(ref);
    }
    CHECK_FALSE(other.begun);
}
