// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "common/base/err.h"
#include "tests/unit/common/repair/fec_packets.hpp"

namespace
{
// One frame of `count` packets with `parity` parity packets. The packets of `lost` do not arrive:
// bit i is packet i, behind the media packets come the parity packets. What arrives does so
// backwards if `backwards`.
void try_pattern(int count, int parity, unsigned lost, bool backwards, uint16_t first)
{
    rng random = rng_seeded(lost + (uint64_t)count * 7919);
    fec_pair t;
    std::vector<fec_bytes> packets;
    for (int i = 0; i < count; i++) {
        uint16_t seq = (uint16_t)(first + i);
        packets.push_back(fec_packet(seq, 12 + rng_below(&random, 60), &random));
        REQUIRE(t.protect(seq, 0, packets.back()));
    }
    std::vector<fec_bytes> parities;
    for (int i = 0; i < parity; i++)
        parities.push_back(t.parity(1));
    // The packet before the frame arrives: the decoder knows where it is.
    t.arrive((int64_t)first - 1, fec_packet((uint16_t)(first - 1), 30, &random));
    for (int n = 0; n < count + parity; n++) {
        int i = backwards ? count + parity - 1 - n : n;
        if (lost >> i & 1)
            continue;
        if (i < count)
            t.arrive(first + i, packets[(size_t)i]);
        else if (t.arrive_parity(parities[(size_t)(i - count)]) != 0)
            FAIL("parity was refused");
    }
    const int gone = __builtin_popcount(lost);
    const unsigned media = lost & ((1u << count) - 1);
    for (int i = 0; i < count; i++) {
        bool was_lost = media >> i & 1;
        auto got = t.recovered.find(first + i);
        if (gone <= parity && was_lost &&
            (got == t.recovered.end() || got->second != packets[(size_t)i]))
            FAIL(count << "+" << parity << " lost " << lost << ": packet " << i);
        if (got != t.recovered.end() && got->second != packets[(size_t)i])
            FAIL(count << "+" << parity << " lost " << lost << ": packet " << i << " is wrong");
        // Packets that arrive backwards may be recovered before they do.
        if (!backwards && !was_lost && got != t.recovered.end())
            FAIL(count << "+" << parity << " lost " << lost << ": packet " << i << " came twice");
    }
    if (fec_decoder_read(t.decoder.get()).wrong != 0)
        FAIL(count << "+" << parity << " lost " << lost << ": parity was called wrong");
}
} // namespace

TEST_CASE("FEC decoder: every pattern of losses up to the number of parity packets")
{
    for (int count = 1; count <= 9; count++)
        for (int parity = 1; parity <= 4; parity++)
            for (unsigned lost = 0; lost < 1u << (count + parity); lost++)
                if (__builtin_popcount(lost) <= parity)
                    try_pattern(count, parity, lost, false, 65533);
}

TEST_CASE("FEC decoder: more losses recover nothing wrong; parity may come first")
{
    for (unsigned lost = 0; lost < 1u << 9; lost++) {
        try_pattern(6, 3, lost, false, 100);
        try_pattern(6, 3, lost, true, 100);
    }
}

TEST_CASE("FEC decoder: a large window of long packets")
{
    rng random = rng_seeded(4);
    for (int turn = 0; turn < 20; turn++) {
        fec_pair t;
        std::vector<fec_bytes> packets;
        for (int i = 0; i < FEC_MAX_SPAN; i++) {
            packets.push_back(
                fec_packet((uint16_t)i, FEC_MAX_PACKET - rng_below(&random, 300), &random));
            t.protect((uint16_t)i, 0, packets.back());
        }
        const int parity = 1 + (int)rng_below(&random, FEC_DECODER_PARITY);
        std::vector<bool> lost(FEC_MAX_SPAN);
        for (int i = 0; i < parity; i++)
            lost[rng_below(&random, FEC_MAX_SPAN - 1) + 1] = true;
        for (int i = 0; i < FEC_MAX_SPAN; i++)
            if (!lost[(size_t)i])
                t.arrive(i, packets[(size_t)i]);
        for (int i = 0; i < parity; i++)
            REQUIRE(t.arrive_parity(t.parity(1)) == 0);
        for (int i = 0; i < FEC_MAX_SPAN; i++)
            if (lost[(size_t)i] && t.recovered[i] != packets[(size_t)i])
                FAIL("turn " << turn << ", packet " << i);
    }
}

TEST_CASE("FEC decoder: parity over overlapping windows repairs a burst together")
{
    // Frames of five packets, one parity packet each over three frames. A burst of three in frame 2
    // is repaired when frame 4 ends: three equations.
    rng random = rng_seeded(5);
    fec_pair t;
    std::map<int64_t, fec_bytes> sent;
    for (int frame = 0; frame < 5; frame++) {
        for (int i = 0; i < 5; i++) {
            int seq = frame * 5 + i;
            sent[seq] = fec_packet((uint16_t)seq, 20 + rng_below(&random, 1000), &random);
            t.protect((uint16_t)seq, frame, sent[seq]);
            if (seq < 11 || seq > 13)
                t.arrive(seq, sent[seq]);
        }
        REQUIRE(t.arrive_parity(t.parity(3)) == 0);
        CHECK(t.recovered.size() == (frame < 4 ? 0 : 3));
    }
    for (int seq = 11; seq <= 13; seq++)
        CHECK(t.recovered[seq] == sent[seq]);
}

TEST_CASE("FEC decoder: an arrival can complete an equation")
{
    rng random = rng_seeded(6);
    fec_pair t;
    std::vector<fec_bytes> p;
    for (uint16_t i = 0; i < 4; i++) {
        p.push_back(fec_packet(i, 40, &random));
        t.protect(i, 0, p.back());
    }
    t.arrive(0, p[0]);
    t.arrive(3, p[3]);
    REQUIRE(t.arrive_parity(t.parity(1)) == 0);
    CHECK(t.recovered.empty());
    t.arrive(1, p[1]); // it was sent again
    REQUIRE(t.recovered.size() == 1);
    CHECK(t.recovered[2] == p[2]);
    t.arrive(2, p[2]); // it was only late
    CHECK(t.recovered.size() == 1);
}

TEST_CASE("FEC decoder: number 0 is a packet as any other")
{
    rng random = rng_seeded(10);
    fec_pair t;
    std::vector<fec_bytes> p;
    for (uint16_t i = 0; i < 3; i++) {
        p.push_back(fec_packet(i, 40, &random));
        t.protect(i, 0, p.back());
    }
    t.arrive(2, p[2]);
    REQUIRE(t.arrive_parity(t.parity(1)) == 0);
    CHECK(t.recovered.empty()); // two are missing
    REQUIRE(t.arrive_parity(t.parity(1)) == 0);
    CHECK(t.recovered[0] == p[0]);
    CHECK(t.recovered[1] == p[1]);
    CHECK(fec_decoder_read(t.decoder.get()).parity == 2);
    CHECK(fec_decoder_read(t.decoder.get()).recovered == 2);
    CHECK(fec_decoder_read(t.decoder.get()).wrong == 0);
}

TEST_CASE("FEC decoder: wrong parity is dropped and counted")
{
    rng random = rng_seeded(7);
    for (int turn = 0; turn < 200; turn++) {
        fec_pair t;
        std::vector<fec_bytes> p;
        for (uint16_t i = 0; i < 4; i++) {
            p.push_back(fec_packet(i, 40 + rng_below(&random, 40), &random));
            t.protect(i, 0, p.back());
        }
        for (int i = 0; i < 3; i++)
            t.arrive(i, p[(size_t)i]);
        // The first byte of the recovered length, which is 0, or a byte of the sequence number.
        fec_bytes parity = t.parity(1);
        size_t at = 5 + (turn % 2 ? 0 : 4 + rng_below(&random, 2));
        parity[at] ^= (uint8_t)(1 + rng_below(&random, 255));
        REQUIRE(t.arrive_parity(parity) == 0);
        CHECK(t.recovered.empty());
        CHECK(fec_decoder_read(t.decoder.get()).wrong == 1);
        REQUIRE(t.arrive_parity(t.parity(1)) == 0); // the next one is right
        CHECK(t.recovered[3] == p[3]);
    }
}

TEST_CASE("FEC decoder: the window")
{
    rng random = rng_seeded(8);
    fec_pair t;
    fec_bytes p = fec_packet(1000, 40, &random);
    t.protect(1000, 0, p);
    fec_bytes parity = t.parity(1);
    CHECK(t.arrive_parity(parity) == ERR_RANGE); // before any packet
    struct {
        int64_t newest;
        int result;
        bool recovered;
    } table[] = {
        {872, ERR_RANGE, false}, {873, 0, true},  {999, 0, true},
        {1001, 0, true},         {1127, 0, true}, {1128, ERR_RANGE, false},
    };
    for (const auto &row : table) {
        INFO("newest " << row.newest);
        fec_pair u;
        u.arrive(row.newest, fec_packet((uint16_t)row.newest, 20, &random));
        CHECK(u.arrive_parity(parity) == row.result);
        CHECK(u.recovered.count(1000) == row.recovered);
    }
    CHECK(t.arrive_parity({1, 2, 3}) == ERR_MALFORMED);
    CHECK(fec_decoder_read(t.decoder.get()).wrong == 2);
    CHECK(fec_decoder_read(t.decoder.get()).parity == 0);
}

TEST_CASE("FEC decoder: a long stream with losses")
{
    // Two parity packets after each frame of six, over two frames; 5 % of all packets are lost.
    rng random = rng_seeded(9);
    fec_pair t;
    std::map<int64_t, fec_bytes> lost;
    int all = 0;
    for (int frame = 0; frame < 4000; frame++) {
        for (int i = 0; i < 6; i++) {
            int64_t seq = 60000 + frame * 6 + i;
            fec_bytes p = fec_packet((uint16_t)seq, 12 + rng_below(&random, 40), &random);
            t.protect((uint16_t)seq, frame, p);
            if (frame > 0 && rng_unit(&random) < 0.05)
                lost[seq] = p;
            else
                t.arrive(seq, p);
        }
        for (int i = 0; i < 2; i++) {
            fec_bytes parity = t.parity(2);
            if (rng_unit(&random) >= 0.05)
                REQUIRE(t.arrive_parity(parity) == 0);
        }
    }
    int missing = 0;
    for (const auto &p : lost) {
        all++;
        auto got = t.recovered.find(p.first);
        if (got == t.recovered.end())
            missing++;
        else
            REQUIRE(got->second == p.second);
    }
    CHECK(all > 1000);
    CHECK(missing * 1000 < all * 10); // without repair 5 % of all packets; now below 0.05 %
    CHECK(t.recovered.size() == lost.size() - (size_t)missing);
    CHECK(fec_decoder_read(t.decoder.get()).wrong == 0);
}
