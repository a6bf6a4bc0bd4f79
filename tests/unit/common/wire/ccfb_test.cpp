// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cmath>
#include <memory>
#include <vector>

#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/wire/ccfb.h"
#include "common/wire/rtcp.h"

using bytes_list = std::vector<uint8_t>;

// As RFC 8888, 3.1 draws it: three packets, so 16 bits of padding.
static const bytes_list golden = {
    0x8b, 205,  0,    6,    // V=2, FMT 11; 6 words follow
    0,    0,    0,    1,    // reporter
    0,    0,    0,    2,    // media
    0xff, 0xff, 0,    3,    // begins at 65535, 3 packets
    0x84, 0x00, 0x00, 0x00, // arrived 1024/1024 s before, Not-ECT; not arrived
    0xff, 0xff, 0,    0,    // arrived, CE, time not known; padding
    0x12, 0x34, 0x80, 0x00, // report timestamp
};

static int decode(const bytes_list &b, struct ccfb *out)
{
    return ccfb_decode(b.data(), b.size(), out);
}

TEST_CASE("ccfb: encoding and decoding of a known report")
{
    struct ccfb f;
    REQUIRE(decode(golden, &f) == 0);
    CHECK(f.ssrc == 1);
    CHECK(f.media_ssrc == 2);
    CHECK(f.begin_seq == 65535);
    REQUIRE(f.count == 3);
    CHECK(f.timestamp == 0x12348000);
    CHECK((f.metric[0].received && f.metric[0].ecn == 0 && f.metric[0].offset == 1024));
    CHECK((!f.metric[1].received && f.metric[1].ecn == 0 && f.metric[1].offset == 0));
    CHECK((f.metric[2].received && f.metric[2].ecn == 3 && f.metric[2].offset == CCFB_NO_OFFSET));

    for (size_t cap = 0; cap <= golden.size() + 1; cap++) {
        bytes_list out(cap);
        size_t len = 0;
        int err = ccfb_append(&f, out.data(), cap, &len);
        CHECK(err == (cap < golden.size() ? ERR_FULL : 0));
        CHECK(len == (err ? 0 : golden.size()));
        out.resize(len);
        CHECK((err || out == golden));
    }
}

TEST_CASE("ccfb: malformed packets, and packets of other types")
{
    const struct {
        const char *what;
        bytes_list bytes;
        int result;
    } cases[] = {
        {"nothing", {}, ERR_MALFORMED},
        {"version 1", {0x4b, 205, 0, 0}, ERR_MALFORMED},
        {"a NACK", {0x81, 205, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2}, ERR_UNSUPPORTED},
        {"a PLI-like packet", {0x8b, 206, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2}, ERR_UNSUPPORTED},
        {"no block", {0x8b, 205, 0, 2, 0, 0, 0, 1, 0, 0, 0, 9}, ERR_MALFORMED},
        {"half a block", {0x8b, 205, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 9}, ERR_MALFORMED},
        {"an empty block", {0x8b, 205, 0, 4, 0, 0, 0, 1, 0, 0, 0, 2, 0, 7, 0, 0, 0, 0, 0, 9}, 0},
        {"a metric that is not there",
         {0x8b, 205, 0, 4, 0, 0, 0, 1, 0, 0, 0, 2, 0, 7, 0, 1, 0, 0, 0, 9},
         ERR_MALFORMED},
        {"65535 metrics that are not there",
         {0x8b, 205, 0, 4, 0, 0, 0, 1, 0, 0, 0, 2, 0, 7, 0xff, 0xff, 0, 0, 0, 9},
         ERR_MALFORMED},
        {"a second block",
         {0x8b, 205, 0, 7, 0, 0, 0, 1, 0,    0, 0, 2, 0, 7, 0, 0,
          0,    0,   0, 3, 0, 0, 0, 1, 0x80, 0, 0, 0, 0, 0, 0, 9},
         0},
        {"a second block cut off",
         {0x8b, 205, 0, 6, 0, 0, 0, 1, 0, 0, 0, 2, 0, 7, 0, 0, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 9},
         ERR_MALFORMED},
        {"padding",
         {0xab, 205, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2, 0, 7, 0, 0, 0, 0, 0, 9, 0, 0, 0, 4},
         0},
        {"padding of 3",
         {0xab, 205, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2, 0, 7, 0, 0, 0, 0, 0, 9, 0, 0, 0, 3},
         ERR_MALFORMED},
        {"padding over everything",
         {0xab, 205, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2, 0, 7, 0, 0, 0, 0, 0, 9, 0, 0, 0, 20},
         ERR_MALFORMED},
        {"padding beyond the packet",
         {0xab, 205, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2, 0, 7, 0, 0, 0, 0, 0, 9, 0, 0, 0, 24},
         ERR_MALFORMED},
        {"padding, and no body", {0xab, 205, 0, 0}, ERR_MALFORMED},
    };
    for (const auto &c : cases) {
        INFO(c.what);
        struct ccfb f;
        CHECK(decode(c.bytes, &f) == c.result);
        if (c.result == 0) {
            CHECK(f.media_ssrc == 2);
            CHECK(f.begin_seq == 7);
            CHECK(f.count == 0);
            CHECK(f.timestamp == 9);
        }
    }
}

TEST_CASE("ccfb: every truncation is detected")
{
    for (size_t len = 0; len < golden.size(); len++) {
        struct ccfb f;
        CHECK(decode(bytes_list(golden.begin(), golden.begin() + (long)len), &f) == ERR_MALFORMED);
    }
}

TEST_CASE("ccfb: the largest report fits an RTCP packet, a larger one is refused")
{
    auto f = std::make_unique<struct ccfb>();
    f->count = CCFB_MAX_PACKETS;
    bytes_list out(RTCP_MAX_PACKET);
    size_t len = 0;
    REQUIRE(ccfb_append(f.get(), out.data(), out.size(), &len) == 0);
    CHECK(len == 20 + 2 * 512);
    CHECK(ccfb_bytes(CCFB_MAX_PACKETS) == len);
    CHECK(ccfb_decode(out.data(), len, f.get()) == 0);

    bytes_list more(20 + 2 * 514);
    std::copy(out.begin(), out.begin() + 16, more.begin());
    more[2] = 1; // 261 words follow
    more[3] = 5;
    more[15] = 1; // 513 metrics
    CHECK(decode(more, f.get()) == ERR_TOO_BIG);
}

TEST_CASE("ccfb: reports in a compound")
{
    const bytes_list rr = {0x80, 201, 0, 1, 0, 0, 0, 9};
    const bytes_list bad = {0x8b, 205, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2};
    bytes_list all;
    for (const auto *part : {&rr, &golden, &bad, &rr, &golden})
        all.insert(all.end(), part->begin(), part->end());
    const struct {
        int result;
        size_t at;
    } steps[] = {{1, 36}, {ERR_MALFORMED, 48}, {1, 84}, {0, 84}};
    struct ccfb f;
    size_t at = 0;
    for (const auto &s : steps) {
        CHECK(ccfb_next(all.data(), all.size(), &at, &f) == s.result);
        CHECK(at == s.at);
    }
    all.push_back(0x8b); // where the next packet would begin is not known: the end
    at = 48;
    CHECK(ccfb_next(all.data(), all.size(), &at, &f) == 1);
    CHECK(ccfb_next(all.data(), all.size(), &at, &f) == ERR_MALFORMED);
    CHECK(at == all.size());

    const bytes_list padded = {0xa0, 201, 0,    2,   0, 0, 0, 9, 0, 0,
                               0,    4,   0x80, 201, 0, 1, 0, 0, 0, 9};
    at = 0;
    CHECK(ccfb_next(padded.data(), padded.size(), &at, &f) == ERR_MALFORMED); // not the last one
    CHECK(at == 12);
}

TEST_CASE("ccfb: offsets")
{
    const struct {
        usec_t before;
        unsigned offset;
    } cases[] = {
        {0, 0},
        {488, 0},
        {489, 1},
        {977, 1},
        {1464, 1},
        {1465, 2},
        {1000000, 1024},
        {7997070, 8189},
        {7997559, 8190}, // 8189.5, over the
                         // range
        {9000000, 8190},
        {USEC_NEVER, 8190},
        {-1, 8191},
        {INT64_MIN, 8191},
    };
    for (const auto &c : cases)
        CHECK(ccfb_offset(c.before) == c.offset);
    double sum = 0;
    for (usec_t t = 0; t < 1000000; t++) {
        usec_t error = ccfb_before(ccfb_offset(t)) - t;
        sum += (double)error;
        if (std::abs(error) > 489)
            FAIL(t);
    }
    CHECK(std::abs(sum / 1e6) < 1); // no bias
}

TEST_CASE("ccfb: timestamps are converted and restored")
{
    CHECK(ccfb_timestamp(0) == 0);
    CHECK(ccfb_timestamp(1500000) == 0x18000);
    CHECK(ccfb_timestamp(65536 * USEC_PER_SEC + 500000) == 0x8000); // wrapped
    CHECK(ccfb_instant(0x8000, 65536 * USEC_PER_SEC) == 65536 * USEC_PER_SEC + 500000);
    CHECK(ccfb_instant(0xffff8000, 65536 * USEC_PER_SEC) == 65536 * USEC_PER_SEC - 500000);
    CHECK(ccfb_instant(0xffff8000, 0) == -500000);
    struct rng r = rng_seeded(8888);
    for (int i = 0; i < 100000; i++) {
        usec_t t = (usec_t)rng_below(&r, 1000000 * (uint64_t)USEC_PER_SEC);
        usec_t near =
            t + (usec_t)rng_below(&r, 60000 * (uint64_t)USEC_PER_SEC) - 30000 * USEC_PER_SEC;
        usec_t back = ccfb_instant(ccfb_timestamp(t), near < 0 ? 0 : near);
        if (std::abs(back - t) > 8)
            FAIL(t << " came back as " << back);
    }
}

TEST_CASE("ccfb: random reports are encoded and decoded")
{
    struct rng r = rng_seeded(1);
    auto f = std::make_unique<struct ccfb>(), back = std::make_unique<struct ccfb>();
    for (int i = 0; i < 300; i++) {
        f->ssrc = (uint32_t)rng_u64(&r);
        f->media_ssrc = (uint32_t)rng_u64(&r);
        f->begin_seq = (uint16_t)rng_u64(&r);
        f->count = (uint16_t)rng_below(&r, CCFB_MAX_PACKETS + 1);
        f->timestamp = (uint32_t)rng_u64(&r);
        for (int k = 0; k < f->count; k++) {
            bool received = rng_below(&r, 2);
            f->metric[k] = {received, (uint8_t)(received ? rng_below(&r, 4) : 0),
                            (uint16_t)(received ? rng_below(&r, 8192) : 0)};
        }
        uint8_t out[RTCP_MAX_PACKET];
        size_t len = 0, at = 0;
        REQUIRE(ccfb_append(f.get(), out, sizeof(out), &len) == 0);
        REQUIRE(len == ccfb_bytes(f->count));
        REQUIRE(ccfb_next(out, len, &at, back.get()) == 1);
        REQUIRE(back->count == f->count);
        bool same = back->ssrc == f->ssrc && back->media_ssrc == f->media_ssrc &&
                    back->begin_seq == f->begin_seq && back->timestamp == f->timestamp;
        for (int k = 0; k < f->count; k++)
            same = same && back->metric[k].received == f->metric[k].received &&
                   back->metric[k].ecn == f->metric[k].ecn &&
                   back->metric[k].offset == f->metric[k].offset;
        REQUIRE(same);
    }
}
