// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/packet_writer.h"

#include "tests/support/open_transport.hpp"
#include "tests/unit/common/repair/fec_packets.hpp"

namespace
{
const usec_t LATER = 200 * USEC_PER_MSEC; // than the assumed round trip

struct writer {
    open_transport t;
    rng r = rng_seeded(1);
    packet_writer w{};
    uint8_t body[1000] = {1, 2, 3};

    writer()
    {
        packet_writer_init(&w, RTP_PT_H264, &r);
        packet_writer_attach(&w, &t.base);
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
        p.is_depended_on = true;
        return p;
    }
    void repair(repair_mode mode, bool known = true, usec_t useful = USEC_PER_SEC)
    {
        packet_writer_repair of{};
        of.mode = mode;
        of.is_known = known;
        of.kept_bytes = 100000;
        of.useful = useful;
        REQUIRE(packet_writer_set_repair(&w, &of, &r) == 0);
        repair_planner_frame f{};
        f.useful = of.useful;
        f.interval = 33333;
        f.bps = 1e6;
        packet_writer_plan(&w, &f, 0);
    }
    repair_decision lost(uint16_t seq, usec_t now)
    {
        return packet_writer_lost(&w, seq, now);
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
    (void)packet_writer_add_audio(&v.w, &v.r);
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
    (void)packet_writer_add_audio(&v.w, &v.r);
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

TEST_CASE("packet_writer: a copy is the same packet; in reports it has a number of its own")
{
    for (bool reported : {false, true}) {
        INFO(reported);
        writer v;
        v.t.wishes = reported;
        v.t.wish = {20000, 0};
        v.repair(REPAIR_MODE_RESEND);
        uint16_t seq = v.w.rtp[TRACK_VIDEO].next_seq;
        REQUIRE(v.send(TRACK_VIDEO, true) == 0);
        REQUIRE(v.send() == 0); // is not kept
        CHECK_FALSE(packet_writer_has_repair(&v.w, 5));
        CHECK(packet_writer_send_repair(&v.w, 5) == ERR_NOT_FOUND);
        CHECK(v.lost(seq, 5).reason == REPAIR_UNDER_WAY);
        CHECK(v.lost(static_cast<uint16_t>(seq + 1), LATER).reason == REPAIR_NOT_KEPT);
        CHECK(v.lost(seq, LATER).action == REPAIR_RESEND);
        CHECK(v.lost(seq, LATER).reason == REPAIR_UNDER_WAY);
        CHECK(packet_writer_has_repair(&v.w, LATER));
        v.t.err = ERR_AGAIN;
        CHECK(packet_writer_send_repair(&v.w, LATER) == ERR_AGAIN);
        v.t.err = 0;
        REQUIRE(packet_writer_send_repair(&v.w, LATER) == 0);
        CHECK_FALSE(packet_writer_has_repair(&v.w, LATER));
        CHECK(v.t.unflushed == 0); // its bytes are not borrowed any more
        REQUIRE(v.t.all.size() == 3);
        const auto &first = v.t.all[0], &copy = v.t.all[2];
        CHECK(copy.rtp.seq == seq);
        CHECK(first.rtp.feedback.has_number == reported);
        CHECK(copy.rtp.feedback.has_number == reported);
        if (reported) {
            CHECK(first.rtp.feedback.number == seq);
            CHECK(copy.rtp.feedback.number == static_cast<uint16_t>(seq + 2));
        }
        std::vector<uint8_t> same = copy.bytes;
        (void)rtp_set_flow_number(
            same.data(), same.size(),
            {RTP_EXT_CAPTURE_ID, RTP_EXT_ADU_ID, RTP_EXT_FEEDBACK_ID, RTP_EXT_MADE_ID}, seq);
        CHECK(same == first.bytes);
        CHECK(v.w.rtp[TRACK_VIDEO].packets == 2);
        REQUIRE(v.send() == 0);
        if (reported)
            CHECK(v.t.all[3].rtp.feedback.number == static_cast<uint16_t>(seq + 3));
    }
}

TEST_CASE("packet_writer: where repair stays off")
{
    struct row {
        repair_mode mode;
        bool known, reported, reliable, on;
    };
    const std::vector<row> table = {
        {REPAIR_MODE_RESEND, false, false, false, true},
        {REPAIR_MODE_RESEND, false, true, false, false}, // reports would confuse both packets
        {REPAIR_MODE_RESEND, true, true, false, true},
        {REPAIR_MODE_AUTO, true, true, true, false},
        {REPAIR_MODE_OFF, true, true, false, false},
    };
    for (const row &one : table) {
        writer v;
        v.t.wishes = one.reported;
        v.t.wish = {20000, 0};
        v.t.base.reliable = one.reliable;
        v.repair(one.mode, one.known);
        INFO(repair_mode_name(one.mode) << one.known << one.reported << one.reliable);
        CHECK((v.w.repair != nullptr) == one.on);
        uint16_t seq = v.w.rtp[TRACK_VIDEO].next_seq;
        REQUIRE(v.send(TRACK_VIDEO, true) == 0);
        CHECK(v.lost(seq, LATER).reason == (one.on ? REPAIR_NOT_LATE : REPAIR_DISABLED));
    }
}

TEST_CASE("packet_writer: parity has a stream of its own, and fits next to the longest packet")
{
    writer v;
    v.t.wishes = true;
    v.t.wish = {20000, 0};
    v.t.info.latest_rtt_ms = 100;
    for (int i = 0; i < 2000; i++)
        v.t.fates.push_back(i % 10 == 0);
    v.repair(REPAIR_MODE_FEC, true, 100000);
    fec_pair viewer;
    uint16_t seq = v.w.rtp[TRACK_VIDEO].next_seq;
    for (uint16_t i = 0; i < 3; i++) {
        outgoing_packet p = v.packet(TRACK_VIDEO, true);
        p.rtp.adu.last = i == 2;
        p.payload.head_len = 0;
        std::vector<uint8_t> body(packet_writer_payload_room(&v.w, &p.rtp), i);
        p.payload.body = body.data();
        p.payload.body_len = body.size();
        REQUIRE(packet_writer_send(&v.w, &p, 5) == 0);
    }
    while (packet_writer_has_repair(&v.w, 5))
        REQUIRE(packet_writer_send_repair(&v.w, 5) == 0);
    REQUIRE(v.t.all.size() >= 5);
    const rtp_ext_ids ids = {RTP_EXT_CAPTURE_ID, RTP_EXT_ADU_ID, RTP_EXT_FEEDBACK_ID,
                             RTP_EXT_MADE_ID};
    std::vector<uint8_t> gone;
    for (size_t i = 0; i < v.t.all.size(); i++) {
        auto &sent = v.t.all[i];
        CHECK(sent.rtp.feedback.number == static_cast<uint16_t>(seq + i));
        if (i < 3) {
            REQUIRE(rtp_set_flow_number(sent.bytes.data(), sent.bytes.size(), ids, 0));
            if (i == 1)
                gone = sent.bytes;
            else
                viewer.arrive(seq + static_cast<int64_t>(i), sent.bytes);
            continue;
        }
        CHECK(sent.rtp.payload_type == RTP_PT_FEC);
        CHECK(sent.rtp.ssrc == v.t.all[3].rtp.ssrc);
        CHECK(sent.rtp.ssrc != v.t.all[0].rtp.ssrc);
        CHECK(sent.rtp.seq == static_cast<uint16_t>(v.t.all[3].rtp.seq + i - 3));
        CHECK(sent.bytes.size() > 1200 - FEC_MAX_SPAN / 8);
        CHECK(viewer.arrive_parity({sent.rtp.payload, sent.rtp.payload + sent.rtp.payload_len}) ==
              0);
    }
    REQUIRE(viewer.recovered.size() == 1);
    CHECK(viewer.recovered.begin()->second == gone);
}
