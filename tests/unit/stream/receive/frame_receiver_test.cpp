// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/receive/frame_receiver.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "common/repair/fec_encoder.h"

namespace
{

const usec_t ms = USEC_PER_MSEC;
const usec_t wall_ahead = 1700000000 * USEC_PER_SEC;

struct receiver {
    std::unique_ptr<qoe, void (*)(qoe *)> q{qoe_new("u", 0, 0), qoe_free};
    clock_sync clock{};
    frame_receiver *r;
    std::vector<viewing_event> events;
    std::vector<int64_t> packets; // extended sequence numbers
    std::vector<int64_t> frames;

    explicit receiver(bool has_frames = true, bool third_party = false)
    {
        clock_sync_shared(&clock);
        ladder none{};
        qoe_setup setup = {"udp", "", "test", "", &none, true};
        qoe_on_setup(q.get(), &setup, 0);
        frame_receiver_config c{};
        c.ext = {RTP_EXT_CAPTURE_ID, RTP_EXT_ADU_ID, RTP_EXT_FEEDBACK_ID, RTP_EXT_MADE_ID};
        c.payload_type = RTP_PT_SYNTHETIC;
        c.frames = has_frames;
        c.third_party = third_party;
        c.adus = true;
        c.fps = {25, 1};
        c.clock = &clock;
        c.sink = {q.get(), on_event, this};
        c.on_packet = on_packet;
        c.on_frame = on_frame;
        c.ctx = this;
        r = frame_receiver_new(&c);
    }
    receiver(const receiver &) = delete;
    receiver &operator=(const receiver &) = delete;
    ~receiver()
    {
        frame_receiver_free(r);
    }
    static void on_event(void *ctx, const viewing_event *e)
    {
        static_cast<receiver *>(ctx)->events.push_back(*e);
    }
    static void on_packet(void *ctx, const rtp_packet *p, int64_t ext_seq, usec_t, usec_t)
    {
        CHECK(p->has_adu);
        static_cast<receiver *>(ctx)->packets.push_back(ext_seq);
    }
    static void on_frame(void *ctx, received_frame *f, usec_t)
    {
        static_cast<receiver *>(ctx)->frames.push_back(f->number);
        received_frame_free(f);
    }
    // One NAL unit; `adu`: of a frame of its own.
    static rtp_packet packet(int64_t number, usec_t written)
    {
        rtp_packet p{};
        p.payload_type = RTP_PT_SYNTHETIC;
        p.seq = static_cast<uint16_t>(65530 + number); // wraps soon
        p.timestamp = static_cast<uint32_t>(number * 3600);
        p.marker = true;
        p.ssrc = 7;
        p.has_adu = true;
        p.adu.frame = static_cast<uint32_t>(number);
        p.adu.first = p.adu.last = true;
        p.adu.key = true;
        p.adu.written_us = static_cast<uint32_t>(wall_ahead + written);
        return p;
    }
    bool take(const rtp_packet &p, usec_t arrived)
    {
        uint8_t bytes[200] = {};
        size_t len = rtp_encode(&p, bytes);
        bytes[len] = 0x65; // an IDR slice, the first of its picture
        bytes[len + 1] = 0x88;
        return frame_receiver_packet(r, bytes, len + 50, 0, wall_ahead, arrived, arrived);
    }
};

} // namespace

TEST_CASE("frame_receiver: each packet once, and frames when they become whole")
{
    receiver w;
    for (int64_t n : {0, 1, 2, 2, 4, 3, 7, 8}) { // a duplicate, a change of places, a loss
        bool is_new = n != 2 || w.packets.size() == 2;
        CHECK(w.take(receiver::packet(n, n * 10 * ms), n * 10 * ms + 5 * ms) == is_new);
    }
    CHECK(w.frames == std::vector<int64_t>{0, 1, 2, 4, 3, 7, 8});
    CHECK(w.packets.size() == 7);
    CHECK(w.packets.back() == w.packets.front() + 8); // beyond 65535
    CHECK(frame_receiver_packets(w.r) == 7);
    CHECK(rtp_receiver_expected(frame_receiver_rtp(w.r)) == 9);
    CHECK(frame_receiver_media_span(w.r) == 8 * 40 * ms);
    CHECK(w.events.size() == 7);
    CHECK(frame_receiver_malformed(w.r) == 0);
    CHECK(frame_receiver_strange(w.r) == 0);
}

TEST_CASE("frame_receiver: packets of other streams are counted and dropped")
{
    receiver w;
    uint8_t junk[40];
    memset(junk, 0xff, sizeof(junk));
    CHECK(!frame_receiver_packet(w.r, junk, sizeof(junk), 0, wall_ahead, 0, 0));
    CHECK(frame_receiver_malformed(w.r) == 1);
    CHECK(w.take(receiver::packet(0, 0), 0));
    rtp_packet other = receiver::packet(1, 0), plain = other;
    other.payload_type = RTP_PT_SYNTHETIC + 1;
    CHECK(!w.take(other, 0));
    CHECK(frame_receiver_strange(w.r) == 1);
    plain.has_adu = false; // of this stream, but of no frame
    CHECK(w.take(plain, 0));
    CHECK(frame_receiver_malformed(w.r) == 2);
    CHECK(w.frames == std::vector<int64_t>{0});
}

TEST_CASE("frame_receiver: the latency of packets, and their queueing delay")
{
    struct {
        bool known, shared;
        usec_t latency, written;
    } table[] = {{true, true, 30 * ms, 100 * ms},
                 {true, false, 30 * ms, QOE_UNKNOWN},
                 {false, false, QOE_UNKNOWN, QOE_UNKNOWN}};
    for (const auto &row : table) {
        receiver w;
        w.clock.known = row.known;
        w.clock.shared = row.shared;
        CHECK(std::isnan(frame_receiver_queue(w.r)));
        w.take(receiver::packet(0, 100 * ms), 130 * ms);
        REQUIRE(w.events.size() == 1);
        CHECK(w.events[0].packet.figures.latency == row.latency);
        CHECK(w.events[0].packet.adu);
        CHECK(w.events[0].packet.written == row.written);
        CHECK(w.events[0].packet.read == (row.shared ? 130 * ms : QOE_UNKNOWN));
        CHECK(frame_receiver_queue(w.r) == 0);
        w.take(receiver::packet(1, 200 * ms), 250 * ms);
        w.take(receiver::packet(2, 300 * ms), 370 * ms);
        CHECK(frame_receiver_queue(w.r) == Approx(0.03)); // 50 and 70 ms, the least was 30
        CHECK(std::isnan(frame_receiver_queue(w.r)));
    }
}

TEST_CASE("frame_receiver: filler packets make no frames")
{
    receiver w(false);
    CHECK(w.take(receiver::packet(0, 0), 0));
    CHECK(frame_receiver_packets(w.r) == 1);
    CHECK(w.events.size() == 1);
    CHECK(w.packets.empty());
    CHECK(w.frames.empty());
}

TEST_CASE("frame_receiver: a third party's packets get frame numbers")
{
    receiver w(true, true);
    for (int64_t n = 0; n < 6; n++) {
        rtp_packet p = receiver::packet(n, 0);
        p.has_adu = false;
        w.take(p, n * 40 * ms);
    }
    CHECK(frame_receiver_malformed(w.r) == 0);
    CHECK(w.frames.size() >= 4); // the last ones may wait for what is behind them
    for (size_t i = 0; i < w.frames.size(); i++)
        CHECK(w.frames[i] == static_cast<int64_t>(i));
}

namespace
{

// A receiver with repair. Frame n has the packets 4 n .. 4 n + 3, which are sent 1 ms apart.
struct repaired : receiver {
    static const usec_t RTT = 40 * ms;
    std::unique_ptr<repair_receiver, void (*)(repair_receiver *)> repair;

    repaired() : repair(make(), repair_receiver_free)
    {
        repair_receiver_set_rtt(repair.get(), RTT, 0);
        frame_receiver_set_repair(r, repair.get());
    }
    static repair_receiver *make()
    {
        repair_receiver_config c = {
            {RTP_EXT_CAPTURE_ID, RTP_EXT_ADU_ID, RTP_EXT_FEEDBACK_ID, RTP_EXT_MADE_ID},
            true,
            true,
            true,
            0};
        return repair_receiver_new(&c);
    }
    static usec_t sent(int64_t seq)
    {
        return seq / 4 * 40 * ms + seq % 4 * ms;
    }
    static std::vector<uint8_t> bytes_of(int64_t seq)
    {
        rtp_packet p = packet(seq, sent(seq));
        p.seq = static_cast<uint16_t>(100 + seq);
        p.timestamp = static_cast<uint32_t>(seq / 4 * 3600);
        p.adu.frame = static_cast<uint32_t>(seq / 4);
        p.adu.first = seq % 4 == 0;
        p.adu.last = p.marker = seq % 4 == 3;
        p.adu.has_left = true;
        p.adu.left = static_cast<uint8_t>(3 - seq % 4);
        std::vector<uint8_t> out(RTP_MAX_HEADER + 40);
        size_t len = rtp_encode(&p, out.data());
        out[len] = 0x65;
        out.resize(len + 30);
        return out;
    }
    bool arrive(int64_t seq, usec_t at)
    {
        std::vector<uint8_t> b = bytes_of(seq);
        return frame_receiver_packet(r, b.data(), b.size(), RTT, wall_ahead, at, at);
    }
    int requests(usec_t now)
    {
        rtcp_nack n[8];
        return repair_receiver_requests(repair.get(), n, 8, now);
    }
    // Returns the result of a parity packet over the frame of `seq`.
    bool parity(int64_t seq, usec_t at)
    {
        std::unique_ptr<fec_encoder, void (*)(fec_encoder *)> e(fec_encoder_new(),
                                                                fec_encoder_free);
        for (int64_t s = seq / 4 * 4; s < seq / 4 * 4 + 4; s++) {
            std::vector<uint8_t> b = bytes_of(s);
            REQUIRE(fec_encoder_add(e.get(), static_cast<uint16_t>(100 + s), 1, b.data(), b.size(),
                                    nullptr, 0));
        }
        rtp_packet p{};
        p.payload_type = RTP_PT_FEC;
        p.ssrc = 8;
        p.seq = static_cast<uint16_t>(5000 + seq);
        std::vector<uint8_t> out(size_t{RTP_MAX_HEADER} + FEC_MAX_HEADER + FEC_MAX_PARITY);
        size_t len = rtp_encode(&p, out.data());
        len += fec_encoder_parity(e.get(), 1, out.data() + len, out.size() - len);
        return frame_receiver_packet(r, out.data(), len, RTT, wall_ahead, at, at);
    }
    const rtp_receiver &path() const
    {
        return *frame_receiver_rtp(r);
    }
};

} // namespace

TEST_CASE("frame_receiver: a packet that is sent again completes its frame, and stays lost")
{
    repaired w;
    for (int64_t seq = 0; seq < 16; seq++) {
        if (seq != 5)
            CHECK(w.arrive(seq, repaired::sent(seq)));
        int requests = w.requests(repaired::sent(seq));
        if (seq < 8) // later it is requested again
            CHECK(requests == (seq == 6));
    }
    CHECK(w.frames == std::vector<int64_t>{0, 2, 3});
    CHECK(w.arrive(5, 130 * ms));
    CHECK(w.frames == std::vector<int64_t>{0, 2, 3, 1});
    CHECK(w.packets.back() == w.packets.front() + 5);
    CHECK(rtp_receiver_lost(&w.path()) == 1);
    CHECK(w.path().reordered == 0);
    CHECK(w.path().repaired == 1);
    CHECK(w.path().loss_events == 1);
    CHECK_FALSE(w.arrive(5, 131 * ms)); // its second copy
    CHECK(w.path().duplicates == 1);
    CHECK(w.frames.size() == 4);
    CHECK(frame_receiver_packets(w.r) == 16);
    CHECK(frame_receiver_queue(w.r) == 0); // of the path, which delayed no packet
    CHECK(w.events.back().packet.figures.latency == 130 * ms - repaired::sent(5));
    repair_stats s = repair_receiver_read(w.repair.get());
    CHECK(s.resent == 1);
    CHECK(s.duplicated == 1);
}

TEST_CASE("frame_receiver: parity completes a frame, and its packets count as lost")
{
    for (int64_t lost : {0, 1, 3}) {
        INFO(lost);
        repaired w;
        for (int64_t seq = 0; seq < 8; seq++)
            if (seq != 4 + lost)
                w.arrive(seq, repaired::sent(seq));
        CHECK(w.frames == std::vector<int64_t>{0});
        CHECK_FALSE(w.parity(4, 45 * ms));
        CHECK(w.frames == std::vector<int64_t>{0, 1});
        CHECK(w.packets.size() == 8);
        CHECK(frame_receiver_packets(w.r) == 7);
        CHECK(w.events.size() == 7);
        CHECK(rtp_receiver_expected(&w.path()) == 8);
        CHECK(rtp_receiver_lost(&w.path()) == 1);
        CHECK(w.path().repaired == 1);
        CHECK(frame_receiver_media_span(w.r) == 40 * ms);
        CHECK_FALSE(w.arrive(4 + lost, 90 * ms)); // the copy that was requested before
        CHECK(frame_receiver_strange(w.r) == 0);
        CHECK(repair_receiver_read(w.repair.get()).fec_recovered == 1);
        CHECK(repair_receiver_next_timeout(w.repair.get()) == USEC_NEVER);
    }
}

TEST_CASE("frame_receiver: parity of another stream, and parity without repair, is left alone")
{
    repaired w;
    CHECK_FALSE(w.parity(0, 0)); // before any packet
    CHECK(frame_receiver_strange(w.r) == 1);
    for (int64_t seq : {0, 1, 3})
        w.arrive(seq, repaired::sent(seq));
    frame_receiver_set_repair(w.r, nullptr);
    CHECK_FALSE(w.parity(0, 5 * ms));
    CHECK(frame_receiver_strange(w.r) == 2);
    CHECK(w.frames.empty());
}

TEST_CASE("frame_receiver: nothing is requested of a sender that restarted")
{
    repaired w;
    for (int64_t seq : {0, 1, 2, 3})
        w.arrive(seq, repaired::sent(seq));
    for (int64_t seq : {20000, 20001, 20002})
        w.arrive(seq, repaired::sent(4));
    CHECK(w.packets.size() == 6); // the first one of them was not believed
    CHECK(w.requests(repaired::sent(4)) == 0);
    w.arrive(20004, repaired::sent(4));
    CHECK(w.requests(repaired::sent(4)) == 1);
}
