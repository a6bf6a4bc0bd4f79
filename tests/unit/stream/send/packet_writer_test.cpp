// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/packet_writer.h"

#include "tests/support/open_transport.hpp"

namespace
{
struct writer {
    open_transport t;
    rng r = rng_seeded(1);
    packet_writer w{};
    uint8_t body[1000] = {1, 2, 3};

    explicit writer(bool keeps = false)
    {
        packet_writer_init(&w, RTP_PT_H264, &r);
        REQUIRE(packet_writer_attach(&w, &t.base, keeps) == 0);
    }
    ~writer()
    {
        packet_writer_destroy(&w);
    }
    writer(const writer &) = delete;
    writer &operator=(const writer &) = delete;

    outgoing_packet packet(media_track track = TRACK_VIDEO, bool kept = false)
    {
        outgoing_packet p{};
        p.track = track;
        p.rtp.has_adu = true;
        p.rtp.adu.frame = 7;
        p.payload.head[0] = 0x7c;
        p.payload.head_len = 2;
        p.payload.body = body;
        p.payload.body_len = 100;
        p.number = 7;
        p.pts = USEC_PER_SEC;
        p.is_kept = kept;
        p.captured = 1000;
        return p;
    }
    int send(media_track track = TRACK_VIDEO, bool kept = false)
    {
        outgoing_packet p = packet(track, kept);
        return packet_writer_send(&w, &p, 5);
    }
};
} // namespace

TEST_CASE("packet_writer: each track has its own numbers and times")
{
    writer v;
    packet_writer_add_audio(&v.w, &v.r);
    const rtp_sender video = v.w.rtp[TRACK_VIDEO], audio = v.w.rtp[TRACK_AUDIO];
    CHECK(video.ssrc != audio.ssrc);
    REQUIRE(v.send() == 0);
    REQUIRE(v.send(TRACK_AUDIO) == 0);
    REQUIRE(v.send() == 0);
    REQUIRE(v.t.all.size() == 3);
    CHECK(v.t.all[0].rtp.seq == video.next_seq);
    CHECK(v.t.all[1].rtp.seq == audio.next_seq);
    CHECK(v.t.all[2].rtp.seq == static_cast<uint16_t>(video.next_seq + 1));
    CHECK(v.t.all[0].rtp.timestamp == video.timestamp_offset + 90000);
    CHECK(v.t.all[1].rtp.timestamp == audio.timestamp_offset + 48000);
    CHECK(v.t.all[1].track == TRACK_AUDIO);
    CHECK(v.t.all[1].rtp.payload_type == RTP_PT_OPUS);
    CHECK(v.t.all[0].rtp.payload_len == 102); // the payload's own header before the body
    CHECK(v.t.all[0].rtp.payload[0] == 0x7c);
    CHECK(v.t.all[0].rtp.payload[4] == 3);
    CHECK(v.w.rtp[TRACK_VIDEO].packets == 2);
    CHECK(v.w.rtp[TRACK_VIDEO].octets == 204);
    CHECK(rtp_sender_frame_of(&v.w.rtp[TRACK_VIDEO], video.next_seq) == 7);
}

TEST_CASE("packet_writer: a packet that was not accepted does not count")
{
    writer v;
    uint16_t first = v.w.rtp[TRACK_VIDEO].next_seq;
    for (int err : {ERR_AGAIN, ERR_CLOSED}) {
        v.t.err = err;
        CHECK(v.send() == err);
    }
    CHECK(v.w.rtp[TRACK_VIDEO].packets == 0);
    v.t.err = 0;
    CHECK(v.send() == 0);
    CHECK(v.t.all[0].rtp.seq == first);
}

TEST_CASE("packet_writer: packets carry the transport's feedback request")
{
    struct row {
        usec_t interval;
        unsigned packets;
        bool often;
        uint16_t units; // of 64 us
        uint8_t bound;
    };
    const std::vector<row> table = {
        {20000, 0, false, 312, 0}, // 20 ms
        {0, 3, false, 1, 3},       // at least a unit
        {10 * USEC_PER_SEC, 0, false, UINT16_MAX, 0},
        {20000, 1000, false, 312, UINT8_MAX},
    };
    for (const row &one : table) {
        writer v;
        v.t.wishes = true;
        v.t.wish = {one.interval, one.packets};
        v.w.reports_often = one.often;
        REQUIRE(v.send() == 0);
        const rtp_packet &p = v.t.all[0].rtp;
        INFO(one.interval << " us");
        CHECK(p.has_feedback);
        CHECK(p.feedback.interval == one.units);
        CHECK(p.feedback.packets == one.bound);
        CHECK_FALSE(p.feedback.has_number);
    }
    writer v;
    REQUIRE(v.send() == 0);
    CHECK_FALSE(v.t.all[0].rtp.has_feedback);
}

TEST_CASE("packet_writer: with audio, the packets of both tracks are counted in one flow")
{
    writer v;
    packet_writer_add_audio(&v.w, &v.r);
    v.t.wishes = true;
    v.t.wish = {20000, 0};
    uint16_t first = v.w.rtp[TRACK_VIDEO].next_seq;
    for (media_track track : {TRACK_VIDEO, TRACK_AUDIO, TRACK_AUDIO, TRACK_VIDEO})
        REQUIRE(v.send(track) == 0);
    for (uint16_t i = 0; i < 4; i++) {
        CHECK(v.t.all[i].rtp.feedback.has_number);
        CHECK(v.t.all[i].rtp.feedback.number == static_cast<uint16_t>(first + i));
    }
}

TEST_CASE("packet_writer: the payload fills the packet")
{
    writer v;
    for (bool wishes : {false, true})
        for (bool at_first : {false, true}) {
            v.t.wishes = wishes;
            v.t.wish = {20000, 0};
            outgoing_packet p = v.packet();
            p.rtp.has_capture = at_first;
            p.rtp.capture_wall = USEC_PER_SEC;
            std::vector<uint8_t> body(packet_writer_payload_room(&v.w, &p.rtp));
            p.payload.head_len = 0;
            p.payload.body = body.data();
            p.payload.body_len = body.size();
            REQUIRE(packet_writer_send(&v.w, &p, 0) == 0);
            CHECK(v.t.all.back().bytes.size() == 1200);
        }
}

TEST_CASE("packet_writer: a lost packet is retransmitted unchanged, once")
{
    writer v(true);
    uint16_t seq = v.w.rtp[TRACK_VIDEO].next_seq;
    REQUIRE(v.send(TRACK_VIDEO, true) == 0);
    REQUIRE(v.send() == 0); // no later frame depends on it
    CHECK_FALSE(packet_writer_has_lost(&v.w, 0));
    CHECK_FALSE(packet_writer_resend(&v.w, static_cast<uint16_t>(seq + 1), 0));
    CHECK_FALSE(packet_writer_resend(&v.w, seq, 1001)); // too old by now
    CHECK(packet_writer_resend(&v.w, seq, 1000));
    CHECK(packet_writer_has_lost(&v.w, 1000));
    CHECK_FALSE(packet_writer_resend(&v.w, seq, 1000)); // it waits already
    v.t.err = ERR_AGAIN;
    CHECK(packet_writer_send_lost(&v.w, 1000, 9) == ERR_AGAIN);
    v.t.err = 0;
    CHECK(packet_writer_send_lost(&v.w, 1000, 9) == 0);
    REQUIRE(v.t.all.size() == 3);
    CHECK(v.t.all[2].bytes == v.t.all[0].bytes);
    CHECK(v.w.rtp[TRACK_VIDEO].packets == 2);
    CHECK_FALSE(packet_writer_has_lost(&v.w, 1000));
    CHECK_FALSE(packet_writer_resend(&v.w, seq, 1000));
    CHECK(packet_writer_send_lost(&v.w, 1000, 9) == ERR_NOT_FOUND);
    writer other; // of a transport that knows RTP's numbers alone
    seq = other.w.rtp[TRACK_VIDEO].next_seq;
    REQUIRE(other.send(TRACK_VIDEO, true) == 0);
    CHECK_FALSE(packet_writer_resend(&other.w, seq, 0));
}
