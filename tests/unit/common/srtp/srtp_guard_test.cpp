// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/srtp/srtp_guard.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "common/base/err.h"

namespace
{

using bytes = std::vector<uint8_t>;

struct key {
    uint8_t of[SRTP_KEY_BYTES];
    explicit key(uint8_t first)
    {
        for (int i = 0; i < SRTP_KEY_BYTES; i++)
            of[i] = static_cast<uint8_t>(first + i);
    }
};

// Two ends that know each other's key.
struct pair {
    key a{1}, b{101};
    srtp_guard *near = srtp_guard_new(a.of, b.of), *far = srtp_guard_new(b.of, a.of);
    ~pair()
    {
        srtp_guard_free(near);
        srtp_guard_free(far);
    }
};

bytes rtp(uint16_t seq, const std::string &payload, uint32_t ssrc = 7)
{
    bytes p = {0x80, 96, static_cast<uint8_t>(seq >> 8), static_cast<uint8_t>(seq), 0, 0, 0, 1};
    for (int i = 3; i >= 0; i--)
        p.push_back(static_cast<uint8_t>(ssrc >> 8 * i));
    p.insert(p.end(), payload.begin(), payload.end());
    return p;
}

// An APP packet (RFC 3550, 6.7).
bytes rtcp(uint32_t number)
{
    return {0x80, 204, 0, 3, 0, 0, 0, 9, 'T', 'E', 'S', 'T', 0, 0, 0, static_cast<uint8_t>(number)};
}

bytes seal(srtp_guard *g, bytes p, bool is_rtcp = false)
{
    size_t len = p.size();
    p.resize(len + 20);
    REQUIRE((is_rtcp ? srtp_guard_seal_rtcp : srtp_guard_seal_rtp)(g, p.data(), &len, p.size()) ==
            0);
    p.resize(len);
    return p;
}

// The plain packet; empty: dropped.
bytes open(srtp_guard *g, const bytes &p, bool is_rtcp = false)
{
    size_t len = p.size();
    const uint8_t *plain =
        (is_rtcp ? srtp_guard_open_rtcp : srtp_guard_open_rtp)(g, p.data(), &len);
    return plain ? bytes(plain, plain + len) : bytes();
}

} // namespace

TEST_CASE("srtp_guard: what one end encrypts the other decrypts, in both directions")
{
    pair p;
    const bytes media = rtp(100, "a picture"), report = rtcp(1);
    bytes sealed = seal(p.near, media);
    CHECK(sealed.size() == media.size() + SRTP_TAG_BYTES);
    CHECK(bytes(sealed.begin(), sealed.begin() + 12) == bytes(media.begin(), media.begin() + 12));
    CHECK(std::string(sealed.begin(), sealed.end()).find("picture") == std::string::npos);
    CHECK(open(p.far, sealed) == media);

    sealed = seal(p.far, report, true);
    CHECK(sealed.size() == report.size() + SRTCP_TAIL_BYTES);
    CHECK(std::string(sealed.begin(), sealed.end()).find("TEST") == std::string::npos);
    CHECK(open(p.near, sealed, true) == report);
    CHECK(srtp_guard_dropped(p.near).forged == 0);
    CHECK(srtp_guard_dropped(p.far).replayed == 0);
}

TEST_CASE("srtp_guard: as RFC 3711 has it")
{
    // RFC 3711, B.3: the master key and salt of the appendix; the packet and its encryption are
    // those that libsrtp, FFmpeg and GStreamer test with.
    const uint8_t master[SRTP_KEY_BYTES] = {
        0xe1, 0xf9, 0x7a, 0x0d, 0x3e, 0x01, 0x8b, 0xe0, 0xd6, 0x4f, 0xa3, 0x2c, 0x06, 0xde, 0x41,
        0x39, 0x0e, 0xc6, 0x75, 0xad, 0x49, 0x8a, 0xfe, 0xeb, 0xb6, 0x96, 0x0b, 0x3a, 0xab, 0xe6};
    bytes plain = {0x80, 0x0f, 0x12, 0x34, 0xde, 0xca, 0xfb, 0xad, 0xca, 0xfe, 0xba, 0xbe};
    plain.insert(plain.end(), 16, 0xab);
    const bytes expected = {0x80, 0x0f, 0x12, 0x34, 0xde, 0xca, 0xfb, 0xad, 0xca, 0xfe,
                            0xba, 0xbe, 0x4e, 0x55, 0xdc, 0x4c, 0xe7, 0x99, 0x78, 0xd8,
                            0x8c, 0xa4, 0xd2, 0x15, 0x94, 0x9d, 0x24, 0x02, 0xb7, 0x8d,
                            0x6a, 0xcc, 0x99, 0xea, 0x17, 0x9b, 0x8d, 0xbb};
    srtp_guard *g = srtp_guard_new(master, master);
    CHECK(seal(g, plain) == expected);
    CHECK(open(g, expected) == plain);
    srtp_guard_free(g);
}

TEST_CASE("srtp_guard: a packet that came before is dropped, and counted")
{
    pair p;
    bytes media = seal(p.near, rtp(1, "once")), report = seal(p.near, rtcp(1), true);
    CHECK_FALSE(open(p.far, media).empty());
    CHECK(open(p.far, media).empty());
    CHECK_FALSE(open(p.far, report, true).empty());
    CHECK(open(p.far, report, true).empty());
    CHECK(srtp_guard_dropped(p.far).replayed == 2);
    CHECK(srtp_guard_dropped(p.far).forged == 0);

    // In any order within the window, and not beyond it.
    bytes late = seal(p.near, rtp(2, "late")), too_late = seal(p.near, rtp(3, "too late"));
    for (uint16_t seq = 4; seq < SRTP_WINDOW + 2; seq++)
        CHECK_FALSE(open(p.far, seal(p.near, rtp(seq, "x"))).empty());
    CHECK_FALSE(open(p.far, late).empty());
    for (uint16_t seq = SRTP_WINDOW + 2; seq < SRTP_WINDOW + 4; seq++)
        CHECK_FALSE(open(p.far, seal(p.near, rtp(seq, "x"))).empty());
    CHECK(open(p.far, too_late).empty());
    CHECK(srtp_guard_dropped(p.far).replayed == 3);
}

TEST_CASE("srtp_guard: whatever bit is changed, the packet is dropped, and counted")
{
    pair p, others;
    const bytes media = seal(p.near, rtp(1, "picture")), report = seal(p.near, rtcp(1), true);
    uint64_t forged = 0;
    for (bool is_rtcp : {false, true}) {
        const bytes &whole = is_rtcp ? report : media;
        for (size_t i = 0; i < whole.size(); i++) {
            bytes other = whole;
            other[i] ^= 0x10;
            CHECK(open(p.far, other, is_rtcp).empty());
            CHECK(srtp_guard_dropped(p.far).forged == ++forged);
        }
        for (size_t len = 0; len < whole.size(); len++, forged++)
            CHECK(open(p.far, bytes(whole.begin(), whole.begin() + static_cast<long>(len)), is_rtcp)
                      .empty());
        CHECK(srtp_guard_dropped(p.far).forged == forged);
    }
    CHECK(open(p.far, rtp(1, "plain")).empty());
    CHECK(open(p.far, bytes(SRTP_MAX_PACKET + 1, 0x80)).empty());
    CHECK(open(p.near, media).empty()); // its own packet, sent back
    key k(50);
    srtp_guard *third = srtp_guard_new(k.of, k.of);
    CHECK(open(p.far, seal(third, rtp(1, "picture"))).empty());
    srtp_guard_free(third);
    CHECK(open(p.far, media) == rtp(1, "picture")); // none of this has harmed the true one
}

TEST_CASE("srtp_guard: an opened packet stays while feedback about it is sent")
{
    pair p;
    const bytes media = rtp(1, "a picture"), sealed = seal(p.near, media);
    size_t len = sealed.size();
    const uint8_t *plain = srtp_guard_open_rtp(p.far, sealed.data(), &len);
    REQUIRE(plain);
    seal(p.far, rtcp(1), true);
    CHECK(bytes(plain, plain + len) == media);
}

TEST_CASE("srtp_guard: a packet sent again is the same ciphertext")
{
    pair p;
    bytes first = seal(p.near, rtp(1, "again"));
    seal(p.near, rtp(2, "next"));
    bytes again = seal(p.near, rtp(1, "again"));
    CHECK(again == first);
    CHECK_FALSE(open(p.far, again).empty()); // the first was lost

    for (uint16_t seq = 3; seq < SRTP_WINDOW + 3; seq++)
        seal(p.near, rtp(seq, "x"));
    bytes old = rtp(1, "again");
    size_t len = old.size();
    old.resize(len + 20);
    CHECK(srtp_guard_seal_rtp(p.near, old.data(), &len, old.size()) == ERR_MALFORMED);
}

TEST_CASE("srtp_guard: rollovers, losses, jumps and several streams")
{
    pair p;
    for (uint32_t i = 0; i < 3 * 65536; i += 997) { // most packets are lost
        bytes media = rtp(static_cast<uint16_t>(i), "x", 7);
        CHECK(open(p.far, seal(p.near, media)) == media);
    }
    // A jump ahead by less than half of the numbers, as after a long silence.
    bytes jumped = rtp(static_cast<uint16_t>(3 * 65536 + 30000), "x", 7);
    CHECK(open(p.far, seal(p.near, jumped)) == jumped);
    for (uint32_t ssrc = 100; ssrc < 110; ssrc++) { // audio, parity
        bytes media = rtp(5, "other", ssrc);
        CHECK(open(p.far, seal(p.near, media)) == media);
    }
    // The first packets are lost, and the numbers begin near 2^15: no rollover is missed.
    for (uint32_t i = 0x7fff; i < 0x7fff + 20000; i++)
        seal(p.near, rtp(static_cast<uint16_t>(i), "x", 200));
    bytes heard = rtp(static_cast<uint16_t>(0x7fff + 20000), "heard", 200);
    CHECK(open(p.far, seal(p.near, heard)) == heard);
}

TEST_CASE("srtp_guard: a peer has 16 sources at most; forged packets take no place")
{
    pair p;
    for (uint32_t ssrc = 100; ssrc < 200; ssrc++) {
        bytes forged = seal(p.near, rtp(1, "x", ssrc));
        forged.back() ^= 1;
        CHECK(open(p.far, forged).empty());
    }
    for (uint32_t ssrc = 1; ssrc <= 16; ssrc++)
        CHECK(open(p.far, seal(p.near, rtp(1, "first", ssrc))) == rtp(1, "first", ssrc));
    CHECK(open(p.far, seal(p.near, rtp(1, "x", 17))).empty());
    CHECK(srtp_guard_dropped(p.far).forged == 101);
    for (uint32_t ssrc = 1; ssrc <= 16; ssrc++)
        CHECK(open(p.far, seal(p.near, rtp(2, "second", ssrc))) == rtp(2, "second", ssrc));
    CHECK(open(p.far, seal(p.near, rtcp(1), true), true) == rtcp(1)); // of source 9
}

TEST_CASE("srtp_guard: sizes")
{
    pair p;
    bytes media = rtp(1, std::string(1178, 'x'));
    REQUIRE(media.size() == 1190);
    size_t len = media.size();
    CHECK(srtp_guard_seal_rtp(p.near, media.data(), &len, 1199) == ERR_FULL);
    CHECK(len == 1190);
    media.resize(1200);
    CHECK(srtp_guard_seal_rtp(p.near, media.data(), &len, 1200) == 0);
    CHECK(len == 1200);
    len = 11;
    CHECK(srtp_guard_seal_rtp(p.near, media.data(), &len, 1200) == ERR_MALFORMED);
    len = 7;
    CHECK(srtp_guard_seal_rtcp(p.near, media.data(), &len, 1200) == ERR_MALFORMED);
    CHECK(srtp_guard_tag(p.near) == SRTP_TAG_BYTES);
}

TEST_CASE("srtp_guard: without a guard packets are plain")
{
    bytes media = rtp(1, "plain"), copy = media;
    size_t len = copy.size();
    CHECK(srtp_guard_seal_rtp(nullptr, copy.data(), &len, len) == 0);
    CHECK(srtp_guard_seal_rtcp(nullptr, copy.data(), &len, len) == 0);
    CHECK(len == media.size());
    CHECK(copy == media);
    CHECK(srtp_guard_open_rtp(nullptr, copy.data(), &len) == copy.data());
    CHECK(srtp_guard_open_rtcp(nullptr, copy.data(), &len) == copy.data());
    CHECK(srtp_guard_tag(nullptr) == 0);
    CHECK(srtp_guard_dropped(nullptr).forged == 0);
    srtp_guard_free(nullptr);
}
