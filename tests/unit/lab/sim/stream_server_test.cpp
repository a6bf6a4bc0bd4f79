// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/stream_server.h"

#include <catch2/catch.hpp>

#include <vector>

#include "common/wire/rtp.h"

namespace
{
// A carrier that has room while it is told so.
struct server {
    struct carrier {
        stream_carrier base; // first
        server *s;
    } c{};
    synthetic media;
    stream_server s;
    bool open = true;
    int media_rate = 0;
    struct sent {
        usec_t at;
        uint32_t frame;
        int size_id;
        size_t payload;
    };
    std::vector<sent> all;

    explicit server(usec_t length = 300 * USEC_PER_SEC, const frame_sizes *sizes = nullptr)
    {
        static const stream_carrier_ops ops = {
            room,    send,    nullptr, rate,    nullptr, nullptr, nullptr, nullptr,
            nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
        };
        c.base.ops = &ops;
        c.s = this;
        synthetic_goddard(&media);
        rng r = rng_seeded(1);
        const stream_server_config config = {&media, sizes, length, USEC_PER_SEC, 1000};
        stream_server_init(&s, &config, &r);
        stream_server_set_carrier(&s, &c.base);
    }
    ~server()
    {
        stream_server_destroy(&s);
    }
    server(const server &) = delete;
    server &operator=(const server &) = delete;

    static bool room(stream_carrier *c, usec_t)
    {
        return ((carrier *)c)->s->open;
    }
    static void send(stream_carrier *c, const uint8_t *rtp, size_t len, usec_t now)
    {
        rtp_packet p;
        REQUIRE(rtp_decode(rtp, len, {RTP_EXT_CAPTURE_ID, RTP_EXT_ADU_ID, 0}, &p) == 0);
        ((carrier *)c)->s->all.push_back({now, p.adu.frame, p.adu.size_id, p.payload_len});
    }
    static void rate(stream_carrier *c, int bps, usec_t)
    {
        ((carrier *)c)->s->media_rate = bps;
    }
    void run(usec_t from, usec_t until)
    {
        for (usec_t now = from; now < until; now += 1000)
            stream_server_run(&s, now);
    }
};
const usec_t sec = USEC_PER_SEC;
} // namespace

TEST_CASE("stream_server: a level's frames, in packets of a kilobyte, at its rate and speed")
{
    server v;
    v.run(0, sec);
    CHECK(v.all.empty()); // nothing was asked for yet
    CHECK(stream_server_next(&v.s) == USEC_NEVER);
    stream_server_wish(&v.s, 4, 1, sec);
    CHECK(v.media_rate == 1600000); // 2.5 times
    v.run(sec, 2 * sec);
    REQUIRE(v.all.size() == 80); // 20 frames of 4
    CHECK(v.all[0].frame == 2);
    CHECK(v.all[4].frame == 5);
    CHECK(v.all[0].payload == 1002); // with the fragments' two bytes
    CHECK(v.all[3].payload == 1001); // 3999 bytes behind the NAL unit's header
    stream_server_wish(&v.s, 4, 1.5, 2 * sec);
    CHECK(v.media_rate == 2400000);
    v.all.clear();
    v.run(2 * sec, 4 * sec);
    CHECK(v.all.size() == Approx(240).margin(4));
}

TEST_CASE("stream_server: another level begins with its next frame")
{
    server v;
    stream_server_wish(&v.s, 4, 1, 0);
    v.run(0, sec);
    v.all.clear();
    stream_server_wish(&v.s, 2, 1, sec);
    v.run(sec, 2 * sec);
    int old_packets = 0;
    for (auto &p : v.all)
        old_packets += p.size_id == 4;
    CHECK(old_packets <= 4);
    CHECK(v.all.size() - (size_t)old_packets == 30); // 15 frames of 2
    CHECK(v.all.back().size_id == 2);
    stream_server_wish(&v.s, 99, 1, 2 * sec); // there is none
    CHECK(v.s.level == 2);
}

TEST_CASE("stream_server: frames wait for room as long as the scheduler lets them")
{
    server v;
    v.open = false;
    stream_server_wish(&v.s, 0, 1, 0);
    v.run(0, 3 * sec);
    CHECK(v.all.empty());
    v.open = true;
    v.run(3 * sec, 3 * sec + 1000);
    CHECK(v.all.size() == Approx(10).margin(1)); // those of the last second
}

TEST_CASE("stream_server: frames of sizes that differ")
{
    float shares[] = {1.5F, 0.5F};
    const frame_sizes sizes = {shares, 2};
    server v(300 * sec, &sizes);
    stream_server_wish(&v.s, 4, 1, 0);
    v.run(0, sec);
    REQUIRE(v.all.size() == 80); // 6 packets and 2 in turn
    CHECK(v.all[5].frame == v.all[0].frame);
    CHECK(v.all[7].frame == v.all[6].frame);
    CHECK(v.all[6].frame != v.all[5].frame);
}

TEST_CASE("stream_server: the media ends")
{
    server v(2 * sec);
    stream_server_wish(&v.s, 0, 1, 0);
    v.run(0, 2 * sec);
    CHECK_FALSE(stream_server_is_done(&v.s));
    v.run(2 * sec, 3 * sec);
    CHECK(stream_server_is_done(&v.s));
    CHECK(v.all.size() == 20);
    CHECK(stream_server_next(&v.s) == USEC_NEVER);
}
