// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <vector>

#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/wire/rtp.h"

static const struct rtp_ext_ids ids = {RTP_EXT_CAPTURE_ID, RTP_EXT_ADU_ID, RTP_EXT_FEEDBACK_ID,
                                       RTP_EXT_MADE_ID};

// 2024-01-01 00:00:00.5 UTC: 1704067200 + 2208988800 = 3913056000 = 0xe93c7f00; .5 = 0x80000000.
static const usec_t wall = 1704067200500000;

static const uint8_t golden[] = {
    0x90, 0xe0, 0x12, 0x34, // V=2, X; marker, PT 96; seq
    0x00, 0x01, 0x5f, 0x90, // timestamp 90000
    0xde, 0xad, 0xbe, 0xef, // SSRC
    0xbe, 0xde, 0x00, 0x06, // one-byte extensions, 6 words
    0x17, 0xe9, 0x3c, 0x7f, 0x00,
    0x80, 0x00, 0x00, 0x00, // id 1, 8 bytes
    0x2b, 0x00, 0x00, 0x01, 0x00,
    0x21, 0x75, 0x00, 0x02, // id 2, 12 bytes: frame 256, size 2, tid 1,
    0x01, 0x02, 0x03, 0x04, // first, last, level 21, depends 2; written
    0x00, 0x00,             // padding
    0x41, 0x42, 0x43,       // payload
};

static struct rtp_packet golden_packet()
{
    struct rtp_packet p = {};
    p.marker = true;
    p.payload_type = RTP_PT_H264;
    p.seq = 0x1234;
    p.timestamp = 90000;
    p.ssrc = 0xdeadbeef;
    p.has_capture = true;
    p.capture_wall = wall;
    p.has_adu = true;
    p.adu = {256, 2, 1, false, true, true, 21, 2, 0x01020304, 0, false, 0, false};
    return p;
}

TEST_CASE("rtp: encoding and decoding of known bytes")
{
    struct rtp_packet p = golden_packet();
    uint8_t out[RTP_MAX_HEADER];
    REQUIRE(rtp_encode(&p, out) == sizeof(golden) - 3);
    CHECK(memcmp(out, golden, sizeof(golden) - 3) == 0);

    struct rtp_packet q;
    REQUIRE(rtp_decode(golden, sizeof(golden), ids, &q) == 0);
    CHECK(q.marker);
    CHECK(q.payload_type == 96);
    CHECK(q.seq == 0x1234);
    CHECK(q.timestamp == 90000);
    CHECK(q.ssrc == 0xdeadbeef);
    REQUIRE(q.has_adu);
    CHECK(q.adu.frame == 256);
    CHECK(q.adu.size_id == 2);
    CHECK(q.adu.temporal_id == 1);
    CHECK_FALSE(q.adu.key);
    CHECK(q.adu.first);
    CHECK(q.adu.last);
    CHECK(q.adu.level == 21);
    CHECK(q.adu.depends == 2);
    CHECK(q.adu.written_us == 0x01020304);
    CHECK(q.adu.reorder == 0);
    REQUIRE(q.has_capture);
    CHECK(q.capture_wall == wall);
    REQUIRE(q.payload_len == 3);
    CHECK(memcmp(q.payload, "ABC", 3) == 0);
}

TEST_CASE("rtp: the feedback request")
{
    const uint8_t wire[] = {
        0x90, 0x60, 0x12, 0x34, 0, 0, 0, 0, 0xde, 0xad, 0xbe, 0xef, //
        0xbe, 0xde, 0x00, 0x01,                                     // one word of extensions
        0x32, 0x01, 0x38, 0x04, // id 3, 3 bytes: 312 * 64 us = 19.968 ms, or 4 packets
    };
    struct rtp_packet p = {};
    p.payload_type = RTP_PT_H264;
    p.seq = 0x1234;
    p.ssrc = 0xdeadbeef;
    p.has_feedback = true;
    p.feedback = {312, 4, false, 0};
    uint8_t out[RTP_MAX_HEADER];
    REQUIRE(rtp_encode(&p, out) == sizeof(wire));
    CHECK(memcmp(out, wire, sizeof(wire)) == 0);
    struct rtp_packet q;
    REQUIRE(rtp_decode(wire, sizeof(wire), ids, &q) == 0);
    REQUIRE(q.has_feedback);
    CHECK(q.feedback.interval == 312);
    CHECK(q.feedback.packets == 4);
    REQUIRE(rtp_decode(wire, sizeof(wire), {1, 2, 0, 0}, &q) == 0);
    CHECK_FALSE(q.has_feedback);
    memset(out + 17, 0, 2); // no interval at all: nobody could keep it
    CHECK(rtp_decode(out, sizeof(wire), ids, &q) == ERR_MALFORMED);
}

TEST_CASE("rtp: the flow number after the feedback request")
{
    const uint8_t element[] = {0x34, 0x01, 0x38, 0x04, 0xab, 0xcd}; // id 3, 5 bytes
    struct rtp_packet p = {};
    p.has_feedback = true;
    p.feedback = {312, 4, true, 0xabcd};
    uint8_t out[RTP_MAX_HEADER];
    size_t len = rtp_encode(&p, out);
    CHECK(len == rtp_header_bytes(&p));
    CHECK(memcmp(out + 16, element, sizeof(element)) == 0);
    struct rtp_packet q;
    REQUIRE(rtp_decode(out, len, ids, &q) == 0);
    CHECK(q.feedback.packets == 4);
    CHECK(q.feedback.has_number);
    CHECK(q.feedback.number == 0xabcd);
    out[16] = 0x33; // 4 bytes: neither form
    CHECK(rtp_decode(out, len, ids, &q) == ERR_MALFORMED);
}

TEST_CASE("rtp: when a frame was made")
{
    struct {
        made_ext made;
        uint8_t bytes[2];
    } table[] = {
        {{0, false}, {0x00, 0x00}},
        {{300, false}, {0x01, 0x2c}},
        {{300, true}, {0x81, 0x2c}},
        {{RTP_MADE_MAX_MS, true}, {0xff, 0xff}},
    };
    for (auto &row : table) {
        struct rtp_packet p = {}, q;
        p.has_made = true;
        p.made = row.made;
        uint8_t out[RTP_MAX_HEADER];
        size_t len = rtp_encode(&p, out);
        CHECK(len == rtp_header_bytes(&p));
        CHECK(out[16] == 0x41); // id 4, 2 bytes
        CHECK(memcmp(out + 17, row.bytes, 2) == 0);
        REQUIRE(rtp_decode(out, len, ids, &q) == 0);
        CHECK(q.has_made);
        CHECK(q.made.ms == row.made.ms);
        CHECK(q.made.is_slow == row.made.is_slow);
        out[16] = 0x40; // 1 byte
        CHECK(rtp_decode(out, len, ids, &q) == ERR_MALFORMED);
    }
}

TEST_CASE("rtp: the flow number of an encoded packet is changed in place")
{
    for (int turn = 0; turn < 8; turn++) {
        struct rtp_packet p = {}, q;
        p.has_capture = turn & 1;
        p.has_adu = turn & 2;
        p.has_feedback = true;
        p.feedback = {312, 4, (turn & 4) != 0, 0xabcd};
        uint8_t out[RTP_MAX_HEADER], before[RTP_MAX_HEADER];
        size_t len = rtp_encode(&p, out);
        memcpy(before, out, len);
        CHECK(rtp_set_flow_number(out, len, ids, 0x1234) == p.feedback.has_number);
        CHECK((memcmp(out, before, len) == 0) == !p.feedback.has_number);
        REQUIRE(rtp_decode(out, len, ids, &q) == 0);
        CHECK(q.feedback.number == (p.feedback.has_number ? 0x1234 : 0));
        CHECK(rtp_set_flow_number(out, len, ids, 0xabcd) == p.feedback.has_number);
        CHECK(memcmp(out, before, len) == 0);
        CHECK_FALSE(rtp_set_flow_number(out, len, {1, 2, 0, 0}, 7)); // not announced
        CHECK_FALSE(rtp_set_flow_number(out, 11, ids, 7));
    }
}

TEST_CASE("rtp: timestamps of other clocks")
{
    struct row {
        usec_t pts;
        int rate;
        uint32_t ticks;
    };
    const row table[] = {
        {1000000, 48000, 48000},
        {33333, 48000, 1600},
        {20000, 48000, 960},
        {-6500, 48000, (uint32_t)-312},
        {33333, 90000, 3000},
        {500000, 44100, 22050},
        {-1000000, 11025, (uint32_t)-11025},
        {(usec_t)100 * 3600 * 1000000, 48000, (uint32_t)(17280000000ull & UINT32_MAX)},
    };
    for (const row &r : table)
        CHECK(rtp_ticks_at(r.pts, r.rate) == r.ticks);
}

TEST_CASE("rtp: the largest header fits")
{
    struct rtp_packet p = golden_packet();
    p.has_feedback = true;
    p.feedback = {UINT16_MAX, UINT8_MAX, true, UINT16_MAX};
    p.has_made = p.adu.has_left = true;
    p.adu.reorder = 1;
    uint8_t out[RTP_MAX_HEADER];
    CHECK(rtp_encode(&p, out) <= RTP_MAX_HEADER);
}

TEST_CASE("rtp: extensions are read by the announced ids")
{
    struct rtp_packet q;
    REQUIRE(rtp_decode(golden, sizeof(golden), {0, 0, 0, 0}, &q) == 0);
    CHECK_FALSE(q.has_adu);
    CHECK_FALSE(q.has_capture);
    CHECK(q.payload_len == 3);
    REQUIRE(rtp_decode(golden, sizeof(golden), {5, 6, 7, 8}, &q) == 0);
    CHECK_FALSE(q.has_adu);
    // an id announced for an extension of another length
    CHECK(rtp_decode(golden, sizeof(golden), {2, 1, 0, 0}, &q) == ERR_MALFORMED);
}

TEST_CASE("rtp: CSRCs, padding, and foreign extensions")
{
    const struct {
        const char *what;
        std::vector<uint8_t> bytes;
        int result;
        size_t payload_len;
    } cases[] = {
        {"plain, no payload", {0x80, 96, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}, 0, 0},
        {"version 1", {0x40, 96, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}, ERR_MALFORMED, 0},
        {"2 CSRCs", {0x82, 96, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 7}, 0, 1},
        {"a CSRC cut", {0x81, 96, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1}, ERR_MALFORMED, 0},
        {"3 of padding", {0xa0, 96, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 3}, 0, 1},
        {"all padding", {0xa0, 96, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4}, 0, 0},
        {"padding 0", {0xa0, 96, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0}, ERR_MALFORMED, 0},
        {"padding 5 of 4", {0xa0, 96, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5}, ERR_MALFORMED, 0},
        {"padding of nothing", {0xa0, 96, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}, ERR_MALFORMED, 0},
        {"other profile",
         {0x90, 96, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 1, 0x2b, 9, 9, 9, 7},
         0,
         1},
        {"id 15 ends it",
         {0x90, 96, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0xbe, 0xde, 0, 1, 0xf0, 0x2b, 9, 9, 7},
         0,
         1},
        {"element beyond the end",
         {0x90, 96, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0xbe, 0xde, 0, 1, 0x33, 1, 2, 3, 7},
         ERR_MALFORMED,
         0},
        {"extension of no words",
         {0x90, 96, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0xbe, 0xde, 0, 0, 7},
         0,
         1},
        {"extension longer than the packet",
         {0x90, 96, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0xbe, 0xde, 0, 2, 0, 0, 0, 0},
         ERR_MALFORMED,
         0},
    };
    for (const auto &c : cases) {
        INFO(c.what);
        struct rtp_packet q;
        CHECK(rtp_decode(c.bytes.data(), c.bytes.size(), ids, &q) == c.result);
        if (c.result == 0)
            CHECK(q.payload_len == c.payload_len);
    }
}

TEST_CASE("rtp: a key frame depends on nothing")
{
    struct rtp_packet p = golden_packet(), q;
    uint8_t out[RTP_MAX_HEADER];
    p.adu.key = true;
    size_t len = rtp_encode(&p, out);
    CHECK(rtp_decode(out, len, ids, &q) == ERR_MALFORMED);
    p.adu.depends = 0;
    len = rtp_encode(&p, out);
    CHECK(rtp_decode(out, len, ids, &q) == 0);
    CHECK(q.adu.key);
}

TEST_CASE("rtp: a decoding order that differs takes two more bytes")
{
    struct rtp_packet p = golden_packet(), q;
    uint8_t out[RTP_MAX_HEADER];
    p.has_capture = false;
    p.adu.depends = -1; // a B frame rests on a later one
    p.adu.reorder = 2;
    const uint8_t ext[] = {0xbe, 0xde, 0x00, 0x04,                         // 16 bytes
                           0x2d, 0x00, 0x00, 0x01, 0x00, 0x21, 0x75,       // 14 of them
                           0xff, 0xff, 0x01, 0x02, 0x03, 0x04, 0x00, 0x02, // -1, written, 2
                           0x00};
    size_t len = rtp_encode(&p, out);
    REQUIRE(len == 12 + sizeof(ext));
    CHECK(memcmp(out + 12, ext, sizeof(ext)) == 0);
    REQUIRE(rtp_decode(out, len, ids, &q) == 0);
    CHECK(q.adu.depends == -1);
    CHECK(q.adu.reorder == 2);
    p.adu.reorder = -3;
    len = rtp_encode(&p, out);
    REQUIRE(rtp_decode(out, len, ids, &q) == 0);
    CHECK(q.adu.reorder == -3);
    out[22] |= 0x80; // the key flag
    CHECK(rtp_decode(out, len, ids, &q) == ERR_MALFORMED);
}

TEST_CASE("rtp: what follows in the frame takes one more byte, before that of the decoding order")
{
    struct row {
        bool has_left;
        uint8_t left;
        int16_t reorder;
        std::vector<uint8_t> tail; // id and length; what follows the time of writing
    };
    const row rows[] = {
        {false, 0, 0, {0x2b}},
        {true, 0, 0, {0x2c, 0x00}},
        {true, 255, 0, {0x2c, 0xff}},
        {false, 0, 2, {0x2d, 0x00, 0x02}},
        {true, 7, -1, {0x2e, 0x07, 0xff, 0xff}},
    };
    for (const row &r : rows) {
        struct rtp_packet p = golden_packet(), q;
        uint8_t out[RTP_MAX_HEADER];
        p.has_capture = false;
        p.adu.has_left = r.has_left;
        p.adu.left = r.left;
        p.adu.reorder = r.reorder;
        size_t len = rtp_encode(&p, out);
        CHECK(len == rtp_header_bytes(&p));
        CHECK(out[16] == r.tail[0]);
        CHECK(memcmp(out + 29, r.tail.data() + 1, r.tail.size() - 1) == 0);
        REQUIRE(rtp_decode(out, len, ids, &q) == 0);
        CHECK(q.adu.has_left == r.has_left);
        CHECK(q.adu.left == r.left);
        CHECK(q.adu.reorder == r.reorder);
    }
}

TEST_CASE("rtp: every truncated header is refused, and mutations do no harm")
{
    for (size_t len = 0; len < sizeof(golden) - 3; len++) {
        std::vector<uint8_t> cut(golden, golden + len); // its own allocation: overreads show
        struct rtp_packet q;
        CHECK(rtp_decode(cut.data(), cut.size(), ids, &q) == ERR_MALFORMED);
    }
    struct rng rng = rng_seeded(3);
    for (int i = 0; i < 20000; i++) {
        std::vector<uint8_t> bytes(golden, golden + sizeof(golden) - rng_below(&rng, 8));
        for (uint64_t k = rng_below(&rng, 4); k-- > 0;)
            bytes[rng_below(&rng, bytes.size())] = (uint8_t)rng_u64(&rng);
        struct rtp_packet q;
        if (rtp_decode(bytes.data(), bytes.size(), ids, &q) == 0) {
            REQUIRE(q.payload >= bytes.data() + 12);
            REQUIRE(q.payload + q.payload_len <= bytes.data() + bytes.size());
        }
    }
}

TEST_CASE("rtp: random packets are encoded and decoded")
{
    struct rng rng = rng_seeded(4);
    for (int i = 0; i < 5000; i++) {
        struct rtp_packet p = {}, q;
        p.marker = rng_below(&rng, 2);
        p.payload_type = (uint8_t)rng_below(&rng, 128);
        p.seq = (uint16_t)rng_u64(&rng);
        p.timestamp = (uint32_t)rng_u64(&rng);
        p.ssrc = (uint32_t)rng_u64(&rng);
        p.has_capture = rng_below(&rng, 2);
        p.capture_wall = p.has_capture ? (usec_t)rng_below(&rng, 4000000000000000) : 0;
        p.has_adu = rng_below(&rng, 2);
        if (p.has_adu) {
            bool key = rng_below(&rng, 2);
            p.adu = {(uint32_t)rng_u64(&rng),
                     (uint8_t)rng_below(&rng, 8),
                     (uint8_t)rng_below(&rng, 16),
                     key,
                     (bool)rng_below(&rng, 2),
                     (bool)rng_below(&rng, 2),
                     (uint8_t)rng_below(&rng, 32),
                     key ? (int16_t)0 : (int16_t)rng_u64(&rng),
                     (uint32_t)rng_u64(&rng),
                     key ? (int16_t)0 : (int16_t)rng_below(&rng, 3),
                     (bool)rng_below(&rng, 2),
                     (uint8_t)rng_u64(&rng),
                     false};
            p.adu.on_lower = !key && p.adu.size_id && rng_below(&rng, 2);
        }
        uint8_t out[RTP_MAX_HEADER];
        size_t len = rtp_encode(&p, out);
        CHECK(rtp_header_bytes(&p) == len);
        REQUIRE(len <= RTP_MAX_HEADER);
        REQUIRE(rtp_decode(out, len, ids, &q) == 0);
        REQUIRE(q.payload_len == 0);
        uint8_t again[RTP_MAX_HEADER];
        REQUIRE(rtp_encode(&q, again) == len);
        REQUIRE(memcmp(out, again, len) == 0);
        REQUIRE(q.capture_wall == p.capture_wall);
        REQUIRE(q.adu.on_lower == p.adu.on_lower);
    }
}

TEST_CASE("rtp: a layer of a picture is no key frame, and not the smallest size")
{
    struct rtp_packet p = golden_packet(), q;
    p.adu.on_lower = true;
    uint8_t out[RTP_MAX_HEADER];
    size_t len = rtp_encode(&p, out);
    REQUIRE(rtp_decode(out, len, ids, &q) == 0);
    CHECK(q.adu.on_lower);
    CHECK(q.adu.size_id == 2);
    CHECK(q.adu.temporal_id == 1);
    p.adu.size_id = 0;
    CHECK(rtp_decode(out, rtp_encode(&p, out), ids, &q) == ERR_MALFORMED);
    p.adu.size_id = 1;
    p.adu.key = true;
    p.adu.depends = 0;
    CHECK(rtp_decode(out, rtp_encode(&p, out), ids, &q) == ERR_MALFORMED);
}

TEST_CASE("rtp: NTP time")
{
    const struct {
        usec_t wall;
        uint64_t ntp;
    } cases[] = {
        {0, 0x83aa7e8000000000},                // 1970: 2208988800 s
        {500000, 0x83aa7e8080000000},           // .5
        {-1000000, 0x83aa7e7f00000000},         // 1969
        {wall, 0xe93c7f0080000000},             //
        {2085978496000000, 0x0000000000000000}, // 2036-02-07 06:28:16: era 1 begins
        {2085978496250000, 0x0000000040000000}, //
    };
    for (const auto &c : cases) {
        CHECK(ntp_of_wall(c.wall) == c.ntp);
        CHECK(wall_of_ntp(c.ntp) == c.wall);
    }
    for (usec_t us = 0; us < 1000000; us += 7)
        REQUIRE(wall_of_ntp(ntp_of_wall(wall + us)) == wall + us);
}

TEST_CASE("rtp: ticks of frame times are whole numbers")
{
    for (int n = 0; n < 1000; n++) {
        CHECK(rtp_ticks(usec_of_frames(n, 30, 1)) == (uint32_t)n * 3000);
        CHECK(rtp_ticks(usec_of_frames(n, 30000, 1001)) == (uint32_t)n * 3003);
    }
    CHECK(rtp_ticks(1000000) == 90000);
    CHECK(rtp_ticks(-1000000) == (uint32_t)-90000);
    CHECK(rtp_ticks((usec_t)47722 * 1000000) == (uint32_t)((int64_t)47722 * 90000)); // past 2^32
}

TEST_CASE("rtp: the time of extended timestamps")
{
    CHECK(rtp_usec(90000, 90000) == 1000000);
    CHECK(rtp_usec(-45000, 90000) == -500000);
    CHECK(rtp_usec(3, 90000) == 33);
    CHECK(rtp_usec((int64_t)1 << 44, 90000) == 195468733826844); // 2^44 * 100 / 9
    CHECK(rtp_usec(INT64_MAX, 90000) == RTP_MAX_USEC);
    CHECK(rtp_usec(INT64_MIN, 48000) == -RTP_MAX_USEC);
}
