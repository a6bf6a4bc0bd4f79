// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "tests/unit/common/repair/fec_packets.hpp"

namespace
{
// Multiplication in GF(2^8) with polynomial 0x11d, a bit at a time.
uint8_t times(uint8_t a, uint8_t b)
{
    uint8_t sum = 0;
    for (; b; b >>= 1) {
        if (b & 1)
            sum ^= a;
        a = (uint8_t)(a << 1 ^ (a & 0x80 ? 0x1d : 0));
    }
    return sum;
}

uint8_t inverse(uint8_t a)
{
    for (int b = 1; b < 256; b++)
        if (times(a, (uint8_t)b) == 1)
            return (uint8_t)b;
    return 0;
}

fec_header head_of(const fec_bytes &payload)
{
    fec_header h;
    REQUIRE(fec_header_decode(payload.data(), payload.size(), &h) == 0);
    return h;
}
} // namespace

TEST_CASE("FEC encoder: parity is the sum that the format defines")
{
    rng random = rng_seeded(1);
    fec_pair t;
    std::map<uint16_t, fec_bytes> sent;
    for (uint16_t seq : {65534, 65535, 1, 2}) { // 0 is of a layer that is not protected
        sent[seq] = fec_packet(seq, 20 + seq % 7, &random);
        REQUIRE(t.protect(seq, 0, sent[seq]));
    }
    for (int number = 0; number < 3; number++) {
        fec_bytes payload = t.parity(1);
        fec_header h = head_of(payload);
        CHECK(h.base == 65534);
        CHECK(h.span == 5);
        CHECK(h.mask[0] == 0xd8);
        CHECK(h.number == number);
        size_t at = fec_header_bytes(&h), longest = 0;
        for (const auto &p : sent)
            longest = std::max(longest, p.second.size());
        REQUIRE(payload.size() == at + 2 + longest);
        for (size_t i = 0; i < 2 + longest; i++) {
            uint8_t sum = 0;
            for (const auto &p : sent) {
                fec_bytes padded = {0, (uint8_t)p.second.size()};
                padded.insert(padded.end(), p.second.begin(), p.second.end());
                padded.resize(2 + longest);
                sum ^= times(inverse((uint8_t)((128 + number) ^ (p.first % 128))), padded[i]);
            }
            if (payload[at + i] != sum)
                FAIL("byte " << i << " of parity " << number);
        }
    }
}

TEST_CASE("FEC encoder: the window is the last frames, and the last 128 numbers")
{
    struct {
        int frames, packets_each, window; // packets of frame f: f * packets_each ...
        int covered, base;
    } table[] = {
        {1, 5, 1, 5, 0},     {3, 5, 1, 5, 10},      {3, 5, 2, 10, 5},      {3, 5, 9, 15, 0},
        {40, 7, 4, 28, 252}, {40, 7, 30, 128, 152}, {2, 200, 1, 128, 272},
    };
    rng random = rng_seeded(2);
    for (const auto &row : table) {
        INFO(row.frames << " frames of " << row.packets_each << ", window " << row.window);
        fec_pair t;
        for (int i = 0; i < row.frames * row.packets_each; i++)
            t.protect((uint16_t)i, i / row.packets_each, fec_packet((uint16_t)i, 14, &random));
        CHECK(fec_encoder_covered(t.encoder.get(), row.window) == row.covered);
        fec_header h = head_of(t.parity(row.window));
        CHECK(h.base == row.base);
        CHECK(h.span == row.covered);
    }
}

TEST_CASE("FEC encoder: what cannot be protected, and no room")
{
    rng random = rng_seeded(3);
    fec_pair t;
    CHECK(t.parity(3).empty());
    CHECK(fec_encoder_covered(t.encoder.get(), 3) == 0);
    CHECK_FALSE(t.protect(7, 0, fec_packet(7, FEC_MAX_PACKET + 1, &random)));
    CHECK(t.parity(3).empty());
    REQUIRE(t.protect(8, 0, fec_packet(8, FEC_MAX_PACKET, &random)));
    uint8_t out[FEC_MAX_HEADER + FEC_MAX_PARITY];
    const size_t needed = 5 + FEC_MAX_PARITY;
    CHECK(fec_encoder_parity(t.encoder.get(), 1, out, needed - 1) == 0);
    CHECK(fec_encoder_parity(t.encoder.get(), 1, out, needed) == needed);
}
