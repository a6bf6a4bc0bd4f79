// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <vector>

#include "common/base/rng.h"
#include "common/protocol/rtp_receiver.h"

namespace
{
struct fixture {
    struct rtp_receiver r;
    int64_t ext = -99;

    fixture()
    {
        rtp_receiver_init(&r);
    }
    enum rtp_verdict packet(uint16_t seq, usec_t now = 0, usec_t rtt = 0, uint32_t timestamp = 0)
    {
        struct rtp_packet p = {};
        p.ssrc = 7;
        p.seq = seq;
        p.timestamp = timestamp;
        return rtp_receiver_packet(&r, &p, rtt, &ext, now);
    }
};
} // namespace

TEST_CASE("rtp_receiver: verdicts in order of arrival")
{
    const struct {
        uint16_t seq;
        enum rtp_verdict verdict;
        int64_t ext;
        uint64_t expected;
        uint64_t lost;
    } steps[] = {
        {65534, RTP_NEW, 65534, 1, 0},      {65535, RTP_NEW, 65535, 2, 0},
        {0, RTP_NEW, 65536, 3, 0},                                     // wrapped
        {0, RTP_DUPLICATE, 0, 3, 0},        {3, RTP_NEW, 65539, 6, 2}, // 1 and 2 are missing
        {1, RTP_LATE, 65537, 6, 1},         {1, RTP_DUPLICATE, 0, 6, 1},
        {65533, RTP_LATE, 65533, 7, 1}, // before the first one
        {3003, RTP_NEW, 68539, 3007, 3000}, {2, RTP_LATE, 65538, 3007, 2999},
        {6004, RTP_DISCARD, 0, 3007, 2999}, // 3001 ahead
    };
    fixture f;
    for (const auto &s : steps) {
        INFO("seq " << s.seq);
        CHECK(f.packet(s.seq) == s.verdict);
        if (s.verdict == RTP_NEW || s.verdict == RTP_LATE)
            CHECK(f.ext == s.ext);
        CHECK(rtp_receiver_expected(&f.r) == s.expected);
        CHECK(rtp_receiver_lost(&f.r) == s.lost);
    }
    CHECK(f.r.duplicates == 2);
    CHECK(f.r.reordered == 3);
    struct rtp_packet other = {};
    other.ssrc = 8;
    CHECK(rtp_receiver_packet(&f.r, &other, 0, &f.ext, 0) == RTP_DISCARD);
}

TEST_CASE("rtp_receiver: a restart requires two consecutive packets, and counts no loss")
{
    fixture f;
    for (uint16_t seq = 100; seq < 110; seq++)
        f.packet(seq);
    CHECK(f.packet(30000) == RTP_DISCARD);
    CHECK(f.packet(110) == RTP_NEW); // the old numbers go on: the stray one is forgotten
    CHECK(f.packet(30001) == RTP_DISCARD);
    CHECK(f.packet(30002) == RTP_NEW);
    CHECK(f.ext == 30002);
    CHECK(f.packet(30003) == RTP_NEW);
    CHECK(rtp_receiver_expected(&f.r) == 13); // 100 .. 110, 30002, 30003
    CHECK(rtp_receiver_lost(&f.r) == 0);
    CHECK(f.packet(109) == RTP_DISCARD);
    for (uint16_t seq = 30004; seq < 30010; seq++)
        f.packet(seq);
    // backwards, beyond the history: numbers continue upwards
    f.packet(5);
    CHECK(f.packet(6) == RTP_NEW);
    CHECK(f.ext == 65536 + 6);
    CHECK(rtp_receiver_lost(&f.r) == 0);
    CHECK(f.r.loss_events == 0);
}

TEST_CASE("rtp_receiver: in order, a restart and another source are accepted at once")
{
    fixture f;
    f.r.in_order = true;
    for (int i = 0; i <= RTP_RECEIVER_STEADY; i++)
        f.packet((uint16_t)(100 + i));
    CHECK(f.packet(30000) == RTP_NEW);
    CHECK(f.ext == 30000);
    for (int i = 1; i <= RTP_RECEIVER_STEADY; i++)
        f.packet((uint16_t)(30000 + i));
    struct rtp_packet other = {};
    other.ssrc = 8;
    other.seq = 2;
    CHECK(rtp_receiver_packet(&f.r, &other, 0, &f.ext, 0) == RTP_NEW);
    CHECK(f.ext == 65536 + 2);
    CHECK(rtp_receiver_expected(&f.r) == 2 * (RTP_RECEIVER_STEADY + 1) + 1);
    CHECK(rtp_receiver_lost(&f.r) == 0);
    // The first source again, just after: two in a row are required.
    CHECK(f.packet(40000) == RTP_DISCARD);
    CHECK(f.packet(40001) == RTP_NEW);
}

TEST_CASE("rtp_receiver: another source is accepted after two consecutive packets")
{
    fixture f;
    for (uint16_t seq = 100; seq < 110; seq++)
        f.packet(seq);
    struct rtp_packet other = {};
    auto packet = [&](uint32_t ssrc, uint16_t seq) {
        other.ssrc = ssrc;
        other.seq = seq;
        return rtp_receiver_packet(&f.r, &other, 0, &f.ext, 0);
    };
    CHECK(packet(8, 108) == RTP_DISCARD);
    CHECK(packet(9, 109) == RTP_DISCARD); // of a third
    CHECK(packet(8, 109) == RTP_DISCARD);
    CHECK(f.packet(110) == RTP_NEW); // the old one goes on
    CHECK(packet(8, 110) == RTP_DISCARD);
    CHECK(packet(8, 111) == RTP_NEW);
    CHECK(f.ext == 111);
    CHECK(f.packet(112) == RTP_DISCARD);
    CHECK(packet(8, 112) == RTP_NEW);
    CHECK(f.ext == 112);
    CHECK(rtp_receiver_lost(&f.r) == 0);
    rtp_receiver_sender_report(&f.r, uint64_t{5} << 32, 0);
    CHECK(packet(10, 111) == RTP_DISCARD); // it began where this one is
    CHECK(packet(10, 112) == RTP_NEW);
    CHECK(f.ext == 65536 + 112);
    CHECK(rtp_receiver_lost(&f.r) == 0);
    struct rtcp_report report;
    rtp_receiver_report(&f.r, &report, 0);
    CHECK(report.ssrc == 10);
    CHECK(report.lsr == 0); // that report was not of this source
}

TEST_CASE("rtp_receiver: report blocks")
{
    fixture f;
    struct rtcp_report report;
    rtp_receiver_report(&f.r, &report, 0);
    CHECK(report.highest_seq == 0);
    for (uint16_t seq : {0, 1, 2, 3, 4, 5, 8, 9}) // 6 and 7 of 10 are missing
        f.packet(seq);
    rtp_receiver_sender_report(&f.r, 0x1122334455667788, 1000000);
    rtp_receiver_report(&f.r, &report, 2500000);
    CHECK(report.ssrc == 7);
    CHECK(report.fraction_lost == 51); // 2/10 * 256
    CHECK(report.lost == 2);
    CHECK(report.highest_seq == 9);
    CHECK(report.lsr == 0x33445566);
    CHECK(report.dlsr == 98304); // 1.5 s
    f.packet(7);                 // late: more came than was expected of the interval
    f.packet(10);
    rtp_receiver_report(&f.r, &report, 2500000);
    CHECK(report.fraction_lost == 0);
    CHECK(report.lost == 1);
    rtp_receiver_report(&f.r, &report, 2500000); // nothing since
    CHECK(report.fraction_lost == 0);
}

TEST_CASE("rtp_receiver: jitter as in RFC 3550, A.8")
{
    fixture f;
    f.packet(0, 0, 0, 0);
    f.packet(1, 33333, 0, 3000); // on time: 33333 us are 3000 ticks
    CHECK(f.r.jitter_ticks == 0);
    f.packet(2, 66667 + 10000, 0, 6000); // 10 ms late: D = 900
    CHECK(f.r.jitter_ticks == Approx(900 / 16.0));
    f.packet(3, 100000 + 10000, 0, 9000); // as late as before: D = 0
    CHECK(f.r.jitter_ticks == Approx(900 / 16.0 * 15 / 16));
    // the timestamp wraps, the clock does not
    fixture g;
    g.packet(0, 1000000, 0, 0xfffffff0);
    g.packet(1, 1033333, 0, 3000 - 16);
    CHECK(g.r.jitter_ticks == 0);
}

TEST_CASE("rtp_receiver: loss events begin more than a round trip apart")
{
    const usec_t ms = 1000;
    struct step {
        uint16_t seq;
        usec_t now;
        uint64_t events;
    };
    const std::vector<step> steps = {
        {0, 0, 0},         {2, 10 * ms, 0},   {3, 20 * ms, 0},
        {4, 30 * ms, 1},                                       // 1 is lost: three later ones came
        {6, 40 * ms, 1},   {7, 50 * ms, 1},   {8, 60 * ms, 1}, // 5, 30 ms after 1: same event
        {10, 190 * ms, 1}, {9, 191 * ms, 1},  {11, 192 * ms, 1},
        {12, 193 * ms, 1},                                       // reordered
        {20, 200 * ms, 1}, {21, 201 * ms, 1}, {22, 202 * ms, 2}, // a burst
    };
    fixture f;
    for (const auto &s : steps) {
        INFO("seq " << s.seq);
        f.packet(s.seq, s.now, 100 * ms);
        CHECK(f.r.loss_events == s.events);
    }
    CHECK(rtp_receiver_lost(&f.r) == 9); // 1, 5, 13 .. 19
}

TEST_CASE("rtp_receiver: compared with a plain count, with loss, reordering and duplicates")
{
    struct rng rng = rng_seeded(8);
    fixture f;
    std::vector<uint16_t> arrivals;
    const int sent = 200000;
    int lost = 0, doubled = 0;
    for (int i = 0; i < sent; i++) {
        bool edge = i == 0 || i == sent - 1;
        if (!edge && rng_below(&rng, 20) == 0) {
            lost++;
            continue;
        }
        arrivals.push_back((uint16_t)(60000 + i));
        if (rng_below(&rng, 50) == 0) {
            arrivals.push_back((uint16_t)(60000 + i));
            doubled++;
        }
    }
    for (size_t i = 3; i + 4 < arrivals.size(); i += 7)
        std::swap(arrivals[i], arrivals[i + rng_below(&rng, 3)]);
    for (size_t i = 0; i < arrivals.size(); i++)
        f.packet(arrivals[i], (usec_t)i * 100, 1000);
    CHECK(rtp_receiver_expected(&f.r) == (uint64_t)sent);
    CHECK(rtp_receiver_lost(&f.r) == (uint64_t)lost);
    CHECK(f.r.duplicates == (uint64_t)doubled);
}

TEST_CASE("rtp_receiver: a repaired packet is there, and stays lost")
{
    fixture f;
    f.packet(65534);
    f.packet(1); // 65535 and 0 are missing
    const struct {
        int64_t seq;
        bool is_new;
        uint64_t expected, lost, repaired;
    } steps[] = {
        {65536, true, 4, 2, 1},
        {65536, false, 4, 2, 1}, // there already
        {65537, false, 4, 2, 1}, // arrived
        {65533, false, 4, 2, 1}, // before the stream began
        {65540, true, 7, 5, 2},  // of a tail: what is before it is missing, too
        {65540 + RTP_MAX_DROPOUT + 1, false, 7, 5, 2},
    };
    for (const auto &s : steps) {
        INFO(s.seq);
        CHECK(rtp_receiver_repaired(&f.r, s.seq, 0, 0) == s.is_new);
        CHECK(rtp_receiver_expected(&f.r) == s.expected);
        CHECK(rtp_receiver_lost(&f.r) == s.lost);
        CHECK(f.r.repaired == s.repaired);
    }
    CHECK(f.packet(0) == RTP_DUPLICATE); // the original after its copy
    CHECK(f.packet(4) == RTP_DUPLICATE);
    CHECK(f.packet(65535) == RTP_LATE);
    CHECK(f.r.reordered == 1);
    CHECK(rtp_receiver_lost(&f.r) == 4);
}

TEST_CASE("rtp_receiver: repairs hide no loss event, and make none of their own")
{
    for (bool repaired_early : {true, false}) {
        fixture f;
        const usec_t rtt = 100000;
        f.packet(10, 0, rtt);
        f.packet(12, 1000, rtt);
        if (repaired_early)
            CHECK(rtp_receiver_repaired(&f.r, 11, rtt, 2000)); // before three later packets
        f.packet(13, 3000, rtt);
        f.packet(14, 4000, rtt);
        f.packet(15, 5000, rtt);
        CHECK(f.r.loss_events == 1);
        if (!repaired_early)
            CHECK(rtp_receiver_repaired(&f.r, 11, rtt, 300000));
        f.packet(16, 300000, rtt);
        CHECK(f.r.loss_events == 1);
    }
}
