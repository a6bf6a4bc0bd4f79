// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <vector>

#include "common/protocol/rtp_sender.h"

namespace
{

const usec_t wall = 1700000000 * USEC_PER_SEC;

// Sends `packets` packets of each frame in turn.
void send_frames(rtp_sender &s, int frames, int packets)
{
    for (int n = 0; n < frames; n++)
        for (int i = 0; i < packets; i++) {
            rtp_packet p{};
            rtp_sender_stamp(&s, usec_of_frames(n, 30, 1), &p);
            rtp_sender_sent(&s, &p, n, 1000);
        }
}

} // namespace

TEST_CASE("rtp_sender: sequence numbers ascend by one, timestamps by 3000 a frame at 30 frames/s")
{
    rng r = rng_seeded(1);
    rtp_sender s;
    rtp_sender_init(&s, 96, &r);
    rtp_packet a{}, b{};
    rtp_sender_stamp(&s, 0, &a);
    rtp_sender_sent(&s, &a, 0, 10);
    rtp_sender_stamp(&s, usec_of_frames(1, 30, 1), &b);
    CHECK(static_cast<uint16_t>(b.seq - a.seq) == 1);
    CHECK(b.timestamp - a.timestamp == Approx(3000).margin(1));
    CHECK(b.ssrc == a.ssrc);
    CHECK(b.payload_type == 96);
}

TEST_CASE("rtp_sender: a packet names its frame")
{
    rng r = rng_seeded(2);
    rtp_sender s;
    rtp_sender_init(&s, 96, &r);
    uint16_t first = s.next_seq;
    send_frames(s, 10, 3); // packets 0..2 frame 0, 3..5 frame 1, ...
    struct row {
        int packet;
        int64_t frame;
    };
    const std::vector<row> table = {
        {0, 0},   {2, 0}, {3, 1}, {5, 1}, {6, 2}, {28, 9}, {29, 9}, {30, -1}, // never sent
        {44, -1},                                                             //
        {-1, -1},                                                             // before the first
    };
    for (const row &t : table)
        CHECK(rtp_sender_frame_of(&s, static_cast<uint16_t>(first + t.packet)) == t.frame);
}

TEST_CASE("rtp_sender: numbers that are left out have no frame")
{
    rng r = rng_seeded(2);
    rtp_sender s;
    rtp_sender_init(&s, 96, &r);
    uint16_t first = s.next_seq;
    send_frames(s, 1, 2);
    rtp_sender_skip(&s, 3);
    send_frames(s, 1, 1);
    CHECK(s.packets == 3);
    CHECK(static_cast<uint16_t>(s.next_seq - first) == 6);
    CHECK(rtp_sender_frame_of(&s, static_cast<uint16_t>(first + 1)) == 0);
    for (int i = 2; i < 5; i++)
        CHECK(rtp_sender_frame_of(&s, static_cast<uint16_t>(first + i)) == -1);
    CHECK(rtp_sender_frame_of(&s, static_cast<uint16_t>(first + 5)) == 0);
}

TEST_CASE("rtp_sender: a packet from beyond the history has no frame")
{
    rng r = rng_seeded(3);
    rtp_sender s;
    rtp_sender_init(&s, 96, &r);
    uint16_t first = s.next_seq;
    send_frames(s, RTP_SENDER_HISTORY + 10, 1);
    CHECK(rtp_sender_frame_of(&s, first) == -1);
    CHECK(rtp_sender_frame_of(&s, static_cast<uint16_t>(first + 9)) == -1);
    CHECK(rtp_sender_frame_of(&s, static_cast<uint16_t>(first + 10)) == 10);
    CHECK(rtp_sender_frame_of(&s, s.next_seq) == -1);
}

TEST_CASE("rtp_sender: a frame that is sent again among later ones keeps its number")
{
    rng r = rng_seeded(3);
    rtp_sender s;
    rtp_sender_init(&s, 96, &r);
    uint16_t first = s.next_seq;
    for (int64_t number : {70000, 70001, 65530, 70002}) {
        rtp_packet p{};
        rtp_sender_stamp(&s, 0, &p);
        rtp_sender_sent(&s, &p, number, 100);
    }
    CHECK(rtp_sender_frame_of(&s, first) == 70000);
    CHECK(rtp_sender_frame_of(&s, static_cast<uint16_t>(first + 2)) == 65530);
    CHECK(rtp_sender_frame_of(&s, static_cast<uint16_t>(first + 3)) == 70002);
}

TEST_CASE("rtp_sender: SR, SDES and BYE")
{
    rng r = rng_seeded(4);
    rtp_sender s;
    rtp_sender_init(&s, 96, &r);
    send_frames(s, 2, 2);
    uint8_t out[RTCP_MAX_PACKET];
    const rtp_instant of{true, usec_of_frames(1, 30, 1), wall + usec_of_frames(1, 30, 1)};
    size_t len =
        rtp_sender_report(&s, &of, "someone", wall + USEC_PER_SEC, "why", out, sizeof(out));
    size_t at = 0;
    rtcp_item item;
    REQUIRE(rtcp_next(out, len, &at, &item) == 1);
    CHECK(item.kind == RTCP_IS_SR);
    CHECK(item.sender.packets == 4);
    CHECK(item.sender.octets == 4000);
    CHECK(item.sender.ntp == ntp_of_wall(wall + USEC_PER_SEC));
    CHECK(item.sender.rtp_timestamp - s.timestamp_offset == Approx(90000).margin(2));
    REQUIRE(rtcp_next(out, len, &at, &item) == 1);
    CHECK(item.kind == RTCP_IS_SDES);
    CHECK(std::string(item.cname) == "someone");
    REQUIRE(rtcp_next(out, len, &at, &item) == 1);
    CHECK(item.kind == RTCP_IS_BYE);
    CHECK(std::string(item.reason) == "why");
    CHECK(rtcp_next(out, len, &at, &item) == 0);
}

TEST_CASE("rtp_sender: the reports of two tracks name one clock, however far ahead one of them is")
{
    rng r = rng_seeded(6);
    rtp_sender video, audio;
    rtp_sender_init(&video, 96, &r);
    rtp_sender_init(&audio, RTP_PT_OPUS, &r);
    rtp_packet p{};
    rtp_sender_stamp(&video, 5 * USEC_PER_SEC, &p);
    rtp_sender_sent(&video, &p, 150, 1000);
    rtp_sender_stamp(&audio, 7 * USEC_PER_SEC, &p);
    rtp_sender_sent(&audio, &p, -1, 100);
    uint8_t out[RTCP_MAX_PACKET];
    struct row {
        rtp_instant of;
        usec_t video, audio; // media times that the reports name
    };
    const std::vector<row> table = {
        {{true, 5 * USEC_PER_SEC, wall}, 6500000, 6500000},
        {{true, 5 * USEC_PER_SEC, wall + 2 * USEC_PER_SEC}, 4500000, 4500000}, // sent early
        {{}, 5000000, 7000000},                                                // not known yet
    };
    for (const row &t : table) {
        usec_t now = wall + 1500 * USEC_PER_MSEC;
        rtcp_item item;
        size_t at = 0;
        REQUIRE(rtcp_next(out, rtp_sender_report(&video, &t.of, "", now, nullptr, out, sizeof(out)),
                          &at, &item) == 1);
        CHECK(item.sender.rtp_timestamp - video.timestamp_offset ==
              rtp_ticks_at(t.video, RTP_CLOCK_RATE));
        at = 0;
        REQUIRE(rtcp_next(out, rtp_sender_report(&audio, &t.of, "", now, nullptr, out, sizeof(out)),
                          &at, &item) == 1);
        CHECK(item.sender.rtp_timestamp - audio.timestamp_offset ==
              rtp_ticks_at(t.audio, RTP_OPUS_CLOCK_RATE));
    }
}

TEST_CASE("rtp_sender: round-trip time = now - LSR - DLSR")
{
    rng r = rng_seeded(5);
    rtp_sender s;
    rtp_sender_init(&s, 96, &r);
    rtcp_report report{};
    report.ssrc = s.ssrc;
    report.lsr = static_cast<uint32_t>(ntp_of_wall(wall) >> 16);
    report.dlsr = 65536 / 2; // held for 500 ms
    CHECK(rtp_sender_rtt(&s, &report, wall + 620 * USEC_PER_MSEC) == Approx(120000).margin(40));
    CHECK(rtp_sender_rtt(&s, &report, wall + 400 * USEC_PER_MSEC) == 0); // negative
    report.lsr = 0;                                                      // no SR seen yet
    CHECK(rtp_sender_rtt(&s, &report, wall) == 0);
    report.ssrc++;
    CHECK(rtp_sender_rtt(&s, &report, wall) == 0);
}
