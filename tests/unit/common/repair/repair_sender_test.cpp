// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "common/repair/repair_sender.h"
#include "tests/unit/common/repair/fec_packets.hpp"

namespace
{
const usec_t ms = USEC_PER_MSEC;
const usec_t interval = 33333;

struct sender {
    std::unique_ptr<repair_sender, decltype(&repair_sender_free)> r{nullptr, repair_sender_free};
    rng random = rng_seeded(1);
    std::map<uint16_t, fec_bytes> sent;
    usec_t useful = 220 * ms;

    explicit sender(repair_mode mode = REPAIR_MODE_AUTO, size_t kept_bytes = 100000,
                    bool viewer_has_fec = true, bool repairs_all = false)
    {
        repair_sender_config config{};
        config.repairs_all = repairs_all;
        config.mode = mode;
        config.kept_bytes = kept_bytes;
        config.viewer_has_fec = viewer_has_fec;
        r.reset(repair_sender_new(&config));
        REQUIRE(r);
    }
    void lose(double loss) // to 2000 packets, one in 1 / loss
    {
        for (int i = 0; i < 20000; i++)
            repair_sender_fate(r.get(), i % (int)(1 / loss) == 0);
    }
    // An RTT of 100 ms; `slack` between a packet's arrival and its deadline.
    void plan(usec_t slack)
    {
        repair_path path{};
        path.rtt = path.min_rtt = 100 * ms;
        path.delay = 50 * ms;
        repair_sender_plan(r.get(), &path, slack, interval, 2e6);
    }
    void packet(uint16_t seq, usec_t now, int64_t frame = 0, bool is_last = false,
                bool is_depended_on = true, size_t len = 1000)
    {
        sent[seq] = fec_packet(seq, len, &random);
        repair_media m{};
        m.seq = seq;
        m.frame = frame;
        m.is_last = is_last;
        m.is_depended_on = is_depended_on;
        m.deadline = now + useful;
        m.head = sent[seq].data();
        m.head_len = 30;
        m.body = sent[seq].data() + 30;
        m.body_len = len - 30;
        repair_sender_sent(r.get(), &m, now);
    }
    // The numbers of all that leaves now; -1: parity, which goes to `parity`.
    std::vector<int> leaving(usec_t now, std::vector<fec_bytes> *parity = nullptr)
    {
        std::vector<int> out;
        repair_packet p;
        while (repair_sender_next(r.get(), &p, now)) {
            out.push_back(p.is_parity ? -1 : p.seq);
            if (p.is_parity && parity)
                parity->emplace_back(p.bytes, p.bytes + p.len);
            if (!p.is_parity)
                CHECK(fec_bytes(p.bytes, p.bytes + p.len) == sent[p.seq]);
            repair_sender_done(r.get(), now);
        }
        return out;
    }
    repair_decision lost(uint16_t seq, usec_t now)
    {
        return repair_sender_lost(r.get(), seq, now);
    }
    const repair_stats &stats()
    {
        return *repair_sender_stats(r.get());
    }
};

using list = std::vector<int>;
} // namespace

TEST_CASE("repair sender: a requested packet is sent again")
{
    sender t;
    t.lose(0.002); // one copy is enough
    t.plan(170 * ms);
    for (uint16_t seq = 65530; seq != 10; seq++)
        t.packet(seq, 0);
    CHECK(t.leaving(0) == list{});
    CHECK(t.lost(65533, 110 * ms).action == REPAIR_RESEND);
    CHECK(t.lost(3, 110 * ms).action == REPAIR_RESEND);
    CHECK(t.lost(3, 115 * ms).reason == REPAIR_UNDER_WAY); // the echo of that request
    CHECK(t.lost(10, 115 * ms).reason == REPAIR_NOT_KEPT); // it did not leave yet
    CHECK(t.leaving(116 * ms) == list{65533, 3});
    CHECK(t.leaving(116 * ms) == list{});
    CHECK(t.lost(3, 471 * ms).action == REPAIR_INVALIDATE); // too late by then
    CHECK(t.stats().resent == 2);
    CHECK(t.stats().duplicated == 0);
    CHECK(t.stats().invalidations == 1);
    CHECK(t.stats().repair_bytes == 2000);
    CHECK(t.stats().media_packets == 16);
}

TEST_CASE("repair sender: copies of the last chance leave apart, and in time")
{
    sender t;
    for (int i = 0; i < 20000; i++) // bursts of four at 5 %
        repair_sender_fate(t.r.get(), i % 80 < 4);
    t.plan(170 * ms);
    t.packet(0, 0);
    repair_decision d = t.lost(0, 110 * ms);
    REQUIRE(d.copies == 3);
    REQUIRE(d.apart >= 8); // two mean bursts
    REQUIRE(d.apart <= 9);
    CHECK(t.leaving(110 * ms) == list{0});
    CHECK(repair_sender_next_timeout(t.r.get()) == 170 * ms);
    uint16_t seq = 1;
    for (; seq < d.apart - 1; seq++) { // the first copy counts
        t.packet(seq, 112 * ms);
        CHECK(t.leaving(112 * ms) == list{});
    }
    t.packet(seq, 113 * ms);
    CHECK(t.leaving(113 * ms) == list{0});
    CHECK(t.leaving(169 * ms) == list{});
    CHECK(t.leaving(170 * ms) == list{0}); // the last instant that is of use
    CHECK(repair_sender_next_timeout(t.r.get()) == USEC_NEVER);
    CHECK(t.stats().resent == 1);
    CHECK(t.stats().duplicated == 2);
}

TEST_CASE("repair sender: a copy that waited too long is dropped, and its share given back")
{
    sender t;
    t.lose(0.002); // one copy is enough
    t.plan(170 * ms);
    t.packet(0, 0);
    double credit = repair_sender_policy(t.r.get())->credit;
    REQUIRE(t.lost(0, 110 * ms).action == REPAIR_RESEND);
    CHECK(repair_sender_policy(t.r.get())->credit == credit - 1000);
    CHECK(t.leaving(471 * ms) == list{}); // it would arrive more than 300 ms late
    CHECK(repair_sender_policy(t.r.get())->credit == credit);
    CHECK(t.stats().resent == 0);
}

TEST_CASE("repair sender: the last bytes are kept")
{
    sender t(REPAIR_MODE_AUTO, 10500); // ten packets, and half a one at the end
    t.lose(0.002);
    t.plan(170 * ms);
    for (uint16_t seq = 0; seq < 47; seq++)
        t.packet(seq, 0);
    int kept = 0;
    for (uint16_t seq = 0; seq < 47; seq++) {
        bool is_kept = t.lost(seq, 110 * ms).action == REPAIR_RESEND;
        CHECK((kept == 0 || is_kept)); // the newest ones
        kept += is_kept;
    }
    CHECK(kept == 10);
    CHECK(t.leaving(110 * ms).size() == 10); // each compared with what was sent
    // A copy whose packet was overwritten meanwhile does not leave.
    t.packet(100, 300 * ms);
    REQUIRE(t.lost(100, 410 * ms).action == REPAIR_RESEND);
    for (uint16_t seq = 101; seq < 120; seq++)
        t.packet(seq, 410 * ms);
    CHECK(t.leaving(411 * ms) == list{});
    // One that does not fit at all is not kept.
    t.packet(200, 500 * ms, 0, false, true, 10501);
    CHECK(t.lost(200, 610 * ms).reason == REPAIR_NOT_KEPT);
}

TEST_CASE("repair sender: parity follows each frame, and recovers")
{
    sender t;
    t.lose(0.05);
    t.plan(80 * ms); // no round fits: parity over two frames
    REQUIRE(repair_sender_policy(t.r.get())->fec_window == 2);
    fec_pair viewer;
    std::vector<fec_bytes> parity;
    int64_t seq = 0, packets = 0;
    for (int frame = 0; frame < 60; frame++) {
        for (int i = 0; i < 7; i++, seq++) {
            t.packet((uint16_t)seq, frame * interval, frame, i == 6, frame % 2 == 0);
            if (seq == 0 || seq % 20 != 0)
                viewer.arrive(seq, t.sent[(uint16_t)seq]);
            list out = t.leaving(frame * interval, &parity);
            CHECK((i == 6 || out.empty()));
            packets += (int64_t)out.size();
        }
        for (const auto &p : parity)
            CHECK(viewer.arrive_parity(p) == 0);
        parity.clear();
        t.plan(80 * ms);
    }
    CHECK(packets == (int64_t)t.stats().fec_packets);
    CHECK(packets > 60);
    CHECK(viewer.recovered.size() == 20);
    for (const auto &r : viewer.recovered)
        CHECK(r.second == t.sent[(uint16_t)r.first]);
    // A packet that parity covers is not invalidated before the parity came.
    CHECK(t.lost((uint16_t)(seq - 1), 59 * interval + 101 * ms).action == REPAIR_AWAIT_FEC);
    CHECK(t.lost((uint16_t)(seq - 1), 70 * interval).action == REPAIR_NOTHING);
    CHECK(t.lost((uint16_t)(seq - 8), 76 * interval).action == REPAIR_INVALIDATE);
}

TEST_CASE("repair sender: a window of one frame leaves out what nothing depends on")
{
    sender t;
    t.lose(0.05);
    t.plan(10 * ms);
    REQUIRE(repair_sender_policy(t.r.get())->fec_window == 1);
    t.packet(0, 0, 0, true, true);
    CHECK(!t.leaving(0).empty());
    t.packet(1, 0, 1, true, false);
    CHECK(t.leaving(0).empty());
}

TEST_CASE("repair sender: no parity for viewers that cannot read it, nothing when off")
{
    for (int turn = 0; turn < 2; turn++) {
        sender t(turn ? REPAIR_MODE_OFF : REPAIR_MODE_AUTO, 100000, turn);
        t.lose(0.05);
        t.plan(80 * ms);
        CHECK(repair_sender_policy(t.r.get())->fec_window == 0);
        for (uint16_t seq = 0; seq < 20; seq++)
            t.packet(seq, 0, seq, true);
        CHECK(t.leaving(0).empty());
        repair_decision d = t.lost(5, 110 * ms);
        CHECK(d.action == (turn ? REPAIR_INVALIDATE : REPAIR_RESEND)); // there is one round still
    }
}

TEST_CASE(
    "repair sender: of a film each packet has one copy that waits, and none is refused for good")
{
    sender t(REPAIR_MODE_RESEND, 2000000, false, true);
    t.useful = 120 * USEC_PER_SEC;
    t.plan(170 * ms);
    for (uint16_t seq = 0; seq < 1000; seq++)
        t.packet(seq, 0);
    // The copies have no room to leave: more requests of the same packets add none.
    for (usec_t now = 110 * ms; now < 1000 * ms; now += 110 * ms)
        for (uint16_t seq = 0; seq < 100; seq++)
            CHECK((t.lost(seq, now).reason == REPAIR_UNDER_WAY) == (now > 110 * ms));
    CHECK(t.leaving(1000 * ms).size() == 100);
    // What finds no room is requested again, and has its copy then.
    int taken = 0;
    for (uint16_t seq = 100; seq < 500; seq++)
        taken += t.lost(seq, 1100 * ms).action == REPAIR_RESEND;
    CHECK(taken == REPAIR_SENDER_COPIES);
    CHECK(t.leaving(1100 * ms).size() == REPAIR_SENDER_COPIES);
    for (uint16_t seq = 100 + REPAIR_SENDER_COPIES; seq < 500; seq++)
        CHECK(t.lost(seq, 1101 * ms).action == REPAIR_RESEND);
}

TEST_CASE("repair sender: as many packets are kept as it was told")
{
    for (int kept : {0, 4096}) {
        repair_sender_config config{};
        config.mode = REPAIR_MODE_RESEND;
        config.kept_bytes = 1 << 20;
        config.kept_packets = kept;
        sender t;
        t.r.reset(repair_sender_new(&config));
        REQUIRE(t.r);
        t.plan(170 * ms);
        for (int seq = 0; seq < 4096; seq++)
            t.packet((uint16_t)seq, 0, 0, false, true, 200);
        CHECK((t.lost(0, 110 * ms).action == REPAIR_RESEND) == (kept == 4096));
        CHECK(t.lost(2048, 110 * ms).action == REPAIR_RESEND);
    }
}
