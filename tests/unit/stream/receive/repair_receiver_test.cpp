// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/receive/repair_receiver.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <memory>
#include <vector>

#include "common/base/rng.h"
#include "common/repair/fec_encoder.h"

namespace
{

const usec_t ms = USEC_PER_MSEC;
const rtp_ext_ids ids = {RTP_EXT_CAPTURE_ID, RTP_EXT_ADU_ID, RTP_EXT_FEEDBACK_ID, RTP_EXT_MADE_ID};
using bytes = std::vector<uint8_t>;
using list = std::vector<int>;

struct viewer {
    std::unique_ptr<repair_receiver, void (*)(repair_receiver *)> r;

    explicit viewer(bool requests = true, bool repeats = true, bool parity = true)
        : r(make(requests, repeats, parity), repair_receiver_free)
    {
        REQUIRE(r);
    }
    static repair_receiver *make(bool requests, bool repeats, bool parity)
    {
        repair_receiver_config c = {ids, requests, repeats, parity, 0};
        return repair_receiver_new(&c);
    }
    // `left` < 0: the packet does not say what follows.
    static rtp_packet header(int64_t seq, int left = -1)
    {
        rtp_packet p{};
        p.payload_type = RTP_PT_H264;
        p.seq = static_cast<uint16_t>(seq);
        p.ssrc = 7;
        p.has_adu = true;
        p.adu.has_left = left >= 0;
        p.adu.left = static_cast<uint8_t>(left >= 0 ? left : 0);
        p.has_feedback = true;
        p.feedback = {100, 4, true, static_cast<uint16_t>(3 * seq)};
        return p;
    }
    static bytes packet(int64_t seq, int left = -1)
    {
        rtp_packet p = header(seq, left);
        bytes out(RTP_MAX_HEADER);
        out.resize(rtp_encode(&p, out.data()));
        for (int i = 0; i < 50 + seq % 7; i++)
            out.push_back(static_cast<uint8_t>(seq + i));
        return out;
    }
    void arrive(int64_t seq, usec_t now, int left = -1)
    {
        rtp_packet p = header(seq, left);
        bytes b = packet(seq, left);
        repair_receiver_packet(r.get(), &p, b.data(), b.size(), seq,
                               repair_receiver_is_resent(r.get(), seq, -1, now), now);
    }
    void parity(const bytes &payload, usec_t now)
    {
        rtp_packet p{};
        p.payload = payload.data();
        p.payload_len = payload.size();
        repair_receiver_parity(r.get(), &p, payload.size() + 12, now);
    }
    list requests(usec_t now)
    {
        list out;
        rtcp_nack n[8];
        int count = repair_receiver_requests(r.get(), n, 8, now);
        for (int i = 0; i < count; i++) {
            out.push_back(n[i].pid);
            for (int bit = 0; bit < 16; bit++)
                if (n[i].blp >> bit & 1)
                    out.push_back(n[i].pid + bit + 1);
        }
        return out;
    }
    usec_t next() const
    {
        return repair_receiver_next_timeout(r.get());
    }
    repair_stats stats() const
    {
        return repair_receiver_read(r.get());
    }
};

// Parity as a sender makes it: over packets whose flow number is 0.
bytes parity_over(const list &seqs)
{
    std::unique_ptr<fec_encoder, void (*)(fec_encoder *)> e(fec_encoder_new(), fec_encoder_free);
    for (int seq : seqs) {
        bytes b = viewer::packet(seq);
        REQUIRE(rtp_set_flow_number(b.data(), b.size(), ids, 0));
        REQUIRE(fec_encoder_add(e.get(), static_cast<uint16_t>(seq), 1, b.data(), b.size(), nullptr,
                                0));
    }
    bytes out(FEC_MAX_HEADER + FEC_MAX_PARITY);
    out.resize(fec_encoder_parity(e.get(), 1, out.data(), out.size()));
    REQUIRE(!out.empty());
    return out;
}

} // namespace

TEST_CASE("repair receiver: while packets are read no tail is missing")
{
    viewer v;
    v.arrive(0, 0, 3);
    repair_receiver_heard(v.r.get(), 19 * ms); // of another frame, or parity
    CHECK(v.requests(38 * ms) == list{});
    CHECK(repair_receiver_next_timeout(v.r.get()) == 39 * ms);
    CHECK(v.requests(39 * ms) == list{1, 2});
    viewer none(false);
    repair_receiver_heard(none.r.get(), 0); // it requests nothing
    CHECK(repair_receiver_next_timeout(none.r.get()) == USEC_NEVER);
}

TEST_CASE("repair_receiver: holes and tails are requested, until they are of no use")
{
    viewer v;
    repair_receiver_set_rtt(v.r.get(), 50 * ms, 0);
    repair_receiver_set_keep(v.r.get(), 200 * ms);
    CHECK(v.next() == USEC_NEVER);
    v.arrive(10, 0, 3);
    v.arrive(12, 2 * ms, 1);
    CHECK(v.requests(2 * ms) == list{11});
    CHECK(v.next() < 50 * ms); // 13 should have come
    CHECK(v.requests(30 * ms) == list{13});
    usec_t again = v.next();
    CHECK(again > 50 * ms);
    CHECK(again < 150 * ms);
    CHECK(v.requests(again) == list{11});
    v.arrive(11, again + 50 * ms, 2);
    v.arrive(13, again + 50 * ms, 0);
    CHECK(v.next() == USEC_NEVER);
    repair_stats s = v.stats();
    CHECK(s.lost == 2);
    CHECK(s.resent == 2);
    CHECK(s.media_packets == 4);
    CHECK(s.repair_bytes == viewer::packet(11, 2).size() + viewer::packet(13, 0).size());
}

TEST_CASE("repair_receiver: a packet that was requested too early was not sent again")
{
    const struct {
        usec_t delay, at;
        bool resent;
    } table[] = {
        {-1, 60 * ms, true},       // its age is not known
        {100 * ms, 60 * ms, true}, //
        {38 * ms, 60 * ms, true},  // from 3/4 of the round trip on
        {37 * ms, 60 * ms, false},  {0, 60 * ms, false},
        {100 * ms, 20 * ms, false}, // too soon after the request
    };
    viewer v;
    repair_receiver_set_rtt(v.r.get(), 50 * ms, 0);
    v.arrive(10, 0, 1);
    usec_t requested = v.next();
    CHECK(v.requests(requested) == list{11}); // a tail
    for (const auto &row : table) {
        INFO(row.delay << " " << row.at);
        CHECK(repair_receiver_is_resent(v.r.get(), 11, row.delay, requested + row.at) ==
              row.resent);
    }
    CHECK_FALSE(repair_receiver_is_resent(v.r.get(), 12, 100 * ms, requested + 80 * ms));
}

TEST_CASE("repair_receiver: without repeats a packet is requested, and the request repeated once")
{
    viewer v(true, false);
    repair_receiver_set_rtt(v.r.get(), 50 * ms, 0);
    repair_receiver_set_keep(v.r.get(), USEC_PER_SEC); // changes nothing
    v.arrive(10, 0);
    v.arrive(12, 2 * ms);
    int requests = 0;
    for (usec_t now = 2 * ms; now < 2 * USEC_PER_SEC; now += ms)
        requests += static_cast<int>(v.requests(now).size());
    CHECK(requests == 2);
    CHECK(v.next() == USEC_NEVER);
}

TEST_CASE("repair_receiver: if the sender accepts no NACK, none is sent and no timer is set")
{
    viewer v(false);
    v.arrive(10, 0, 5);
    v.arrive(12, 2 * ms, 3);
    CHECK(v.next() == USEC_NEVER);
    CHECK(v.requests(USEC_PER_SEC).empty());
    CHECK_FALSE(repair_receiver_is_resent(v.r.get(), 11, -1, USEC_PER_SEC));
}

TEST_CASE("repair_receiver: parity recovers a packet with 0 as its flow number, once")
{
    viewer v;
    const list frame = {100, 101, 102, 103};
    for (int seq : {100, 101, 103})
        v.arrive(seq, seq * ms);
    CHECK(v.requests(103 * ms) == list{102});
    fec_recovered f;
    CHECK_FALSE(repair_receiver_recovered(v.r.get(), &f, 104 * ms));
    v.parity(parity_over(frame), 104 * ms);
    REQUIRE(repair_receiver_recovered(v.r.get(), &f, 104 * ms));
    CHECK(f.seq == 102);
    bytes lost = viewer::packet(102);
    REQUIRE(rtp_set_flow_number(lost.data(), lost.size(), ids, 0));
    CHECK(bytes(f.bytes, f.bytes + f.len) == lost);
    CHECK_FALSE(repair_receiver_recovered(v.r.get(), &f, 104 * ms));
    CHECK(v.next() == USEC_NEVER); // it is not requested again
    repair_stats s = v.stats();
    CHECK(s.fec_packets == 1);
    CHECK(s.fec_recovered == 1);
    CHECK(s.resent == 0);
    CHECK(s.media_packets == 4);
}

TEST_CASE("repair_receiver: a packet after the parity recovers the other missing one")
{
    viewer v;
    const list frame = {100, 101, 102, 103};
    for (int seq : {100, 103})
        v.arrive(seq, seq * ms);
    v.parity(parity_over(frame), 104 * ms);
    fec_recovered f;
    CHECK_FALSE(repair_receiver_recovered(v.r.get(), &f, 104 * ms));
    v.arrive(101, 105 * ms);
    REQUIRE(repair_receiver_recovered(v.r.get(), &f, 105 * ms));
    CHECK(f.seq == 102);
}

TEST_CASE("repair_receiver: duplicates are counted as the cost of repair")
{
    viewer v;
    v.arrive(1, 0);
    repair_receiver_duplicate(v.r.get(), 70, ms);
    CHECK(v.stats().duplicated == 1);
    CHECK(v.stats().resent == 0);
    CHECK(v.stats().repair_bytes == 70);
}

TEST_CASE("repair_receiver: numbers before the first, restarts and any parity do no harm")
{
    viewer v;
    rng random = rng_seeded(5);
    v.arrive(-3, 0);
    v.arrive(2, ms);
    v.arrive(-1, 2 * ms);
    repair_receiver_restart(v.r.get());
    v.arrive(70000, 3 * ms);
    CHECK(v.requests(USEC_PER_SEC).empty());
    fec_recovered f;
    for (int i = 0; i < 2000; i++) {
        bytes junk(rng_below(&random, 60));
        for (uint8_t &b : junk)
            b = static_cast<uint8_t>(rng_u64(&random));
        v.parity(junk, i * ms);
        v.arrive(70001 + i * 3, i * ms, static_cast<int>(rng_below(&random, 256)));
        while (repair_receiver_recovered(v.r.get(), &f, i * ms))
            CHECK(f.len <= FEC_MAX_PACKET);
        CHECK(v.requests(i * ms).size() <= 256);
    }
}
