// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <memory>
#include <vector>

#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/wire/rtcp.h"

// SR with one report block, SDES, NACK, PLI, BYE; laid out as RFC 3550, 6.4.1, 6.5, 6.6 and RFC
// 4585, 6.2.1, 6.3.1 draw them.
static const std::vector<uint8_t> golden = {
    0x81, 200,  0,    12,                                       // SR, 1 report, 12 words follow
    0,    0,    0,    1,                                        // SSRC
    0xe9, 0x3c, 0x7b, 0x00, 0x80, 0,    0,   0,                 // NTP
    0,    1,    0x5f, 0x90,                                     // RTP timestamp
    0,    0,    0,    10,                                       // packets
    0,    0,    0x27, 0x10,                                     // octets
    0,    0,    0,    2,                                        // report of SSRC 2
    0x40, 0xff, 0xff, 0xfe,                                     // a quarter lost; -2 in all
    0,    1,    0x12, 0x34,                                     // highest
    0,    0,    0,    90,                                       // jitter
    0x7b, 0x00, 0x80, 0x00,                                     // LSR
    0,    1,    0x80, 0,                                        // DLSR 1.5 s
    0x81, 202,  0,    3,                                        // SDES, 1 chunk
    0,    0,    0,    1,    1,    3,    'a', '@', 'b', 0, 0, 0, // CNAME, ends in zeros
    0x81, 205,  0,    4,                                        // NACK
    0,    0,    0,    1,    0,    0,    0,   2,                 // sender, media
    0x12, 0x34, 0x80, 0x01, 0xff, 0xff, 0,   0,                 //
    0x81, 206,  0,    2,                                        // PLI
    0,    0,    0,    1,    0,    0,    0,   2,                 //
    0x81, 203,  0,    1,    0,    0,    0,   1,                 // BYE
};
static const size_t boundaries[] = {0, 52, 68, 88, 100, 108};

static std::vector<std::unique_ptr<struct rtcp_item>> decode_all(const std::vector<uint8_t> &data,
                                                                 int *result)
{
    std::vector<std::unique_ptr<struct rtcp_item>> items;
    size_t at = 0;
    for (;;) {
        auto item = std::make_unique<struct rtcp_item>();
        *result = rtcp_next(data.data(), data.size(), &at, item.get());
        if (*result != 1)
            return items;
        REQUIRE(at <= data.size());
        items.push_back(std::move(item));
    }
}

TEST_CASE("rtcp: encoding and decoding of a known compound")
{
    int result;
    auto items = decode_all(golden, &result);
    REQUIRE(result == 0);
    REQUIRE(items.size() == 5);

    const struct rtcp_item &sr = *items[0];
    CHECK(sr.kind == RTCP_IS_SR);
    CHECK(sr.ssrc == 1);
    CHECK(sr.sender.ntp == 0xe93c7b0080000000);
    CHECK(sr.sender.rtp_timestamp == 90000);
    CHECK(sr.sender.packets == 10);
    CHECK(sr.sender.octets == 10000);
    REQUIRE(sr.report_count == 1);
    CHECK(sr.reports[0].ssrc == 2);
    CHECK(sr.reports[0].fraction_lost == 64);
    CHECK(sr.reports[0].lost == -2);
    CHECK(sr.reports[0].highest_seq == 0x11234);
    CHECK(sr.reports[0].jitter == 90);
    CHECK(sr.reports[0].lsr == 0x7b008000);
    CHECK(sr.reports[0].dlsr == 98304);
    CHECK(items[1]->kind == RTCP_IS_SDES);
    CHECK(std::string(items[1]->cname) == "a@b");
    CHECK(items[2]->kind == RTCP_IS_NACK);
    CHECK(items[2]->media_ssrc == 2);
    REQUIRE(items[2]->nack_count == 2);
    CHECK(items[2]->nacks[0].pid == 0x1234);
    CHECK(items[2]->nacks[0].blp == 0x8001);
    CHECK(items[3]->kind == RTCP_IS_PLI);
    CHECK(items[4]->kind == RTCP_IS_BYE);
    CHECK(items[4]->ssrc == 1);

    uint8_t out[RTCP_MAX_PACKET];
    size_t len = 0;
    for (const auto &item : items)
        REQUIRE(rtcp_append(item.get(), out, sizeof(out), &len) == 0);
    CHECK(std::vector<uint8_t>(out, out + len) == golden);
}

TEST_CASE("rtcp: an item that does not fit leaves the compound unchanged")
{
    int result;
    auto items = decode_all(golden, &result);
    for (size_t cap = 0; cap < golden.size(); cap++) {
        std::vector<uint8_t> out(cap);
        size_t len = 0, fitted = 0;
        while (fitted < items.size() &&
               rtcp_append(items[fitted].get(), out.data(), cap, &len) == 0)
            fitted++;
        REQUIRE(len == boundaries[fitted]);
        REQUIRE(cap < boundaries[fitted + 1]);
    }
}

TEST_CASE("rtcp: every truncation is detected; the items before it are valid")
{
    for (size_t len = 0; len <= golden.size(); len++) {
        std::vector<uint8_t> cut(golden.begin(), golden.begin() + (long)len);
        int result;
        size_t whole = decode_all(cut, &result).size();
        CHECK(boundaries[whole] <= len);
        CHECK(result == (boundaries[whole] == len ? 0 : ERR_MALFORMED));
    }
}

// RFC 3550, 6.6: the reason has a length, and is padded to 32 bits.
TEST_CASE("rtcp: the reason of a BYE")
{
    const struct {
        const char *reason;
        std::vector<uint8_t> bytes;
    } rows[] = {
        {"", {0x81, 203, 0, 1, 0, 0, 0, 9}},
        {"end", {0x81, 203, 0, 2, 0, 0, 0, 9, 3, 'e', 'n', 'd'}},
        {"ends", {0x81, 203, 0, 3, 0, 0, 0, 9, 4, 'e', 'n', 'd', 's', 0, 0, 0}},
    };
    for (const auto &row : rows) {
        rtcp_item item = {};
        item.kind = RTCP_IS_BYE;
        item.ssrc = 9;
        snprintf(item.reason, sizeof(item.reason), "%s", row.reason);
        uint8_t out[RTCP_MAX_PACKET];
        size_t len = 0, at = 0;
        REQUIRE(rtcp_append(&item, out, sizeof(out), &len) == 0);
        CHECK(std::vector<uint8_t>(out, out + len) == row.bytes);
        rtcp_item back = {};
        REQUIRE(rtcp_next(out, len, &at, &back) == 1);
        CHECK(std::string(back.reason) == row.reason);
    }
    // Of two sources; and longer than the packet: the end counts all the same.
    const std::vector<uint8_t> two = {0x82, 203, 0, 3, 0, 0, 0, 9, 0, 0, 0, 8, 2, 'n', 'o', 0},
                               cut = {0x81, 203, 0, 2, 0, 0, 0, 9, 9, 'e', 'n', 'd'};
    for (const auto *bytes : {&two, &cut}) {
        size_t at = 0;
        rtcp_item back = {};
        REQUIRE(rtcp_next(bytes->data(), bytes->size(), &at, &back) == 1);
        CHECK(back.kind == RTCP_IS_BYE);
        CHECK(back.ssrc == 9);
        CHECK(std::string(back.reason) == (bytes == &two ? "no" : ""));
    }
}

TEST_CASE("rtcp: single packets")
{
    const struct {
        const char *what;
        std::vector<uint8_t> bytes;
        int result;
        enum rtcp_kind kind;
    } cases[] = {
        {"empty RR", {0x80, 201, 0, 1, 0, 0, 0, 1}, 1, RTCP_IS_RR},
        {"RR with an extension", {0x80, 201, 0, 2, 0, 0, 0, 1, 1, 2, 3, 4}, 1, RTCP_IS_RR},
        {"RR without its report", {0x81, 201, 0, 1, 0, 0, 0, 1}, ERR_MALFORMED, RTCP_IS_RR},
        {"RR without SSRC", {0x80, 201, 0, 0}, ERR_MALFORMED, RTCP_IS_RR},
        {"version 1", {0x40, 201, 0, 1, 0, 0, 0, 1}, ERR_MALFORMED, RTCP_IS_RR},
        {"padded RR", {0xa0, 201, 0, 2, 0, 0, 0, 1, 0, 0, 0, 4}, 1, RTCP_IS_RR},
        {"padding too long", {0xa0, 201, 0, 2, 0, 0, 0, 1, 0, 0, 0, 12}, ERR_MALFORMED, RTCP_IS_RR},
        {"padding of 3", {0xa0, 201, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3}, ERR_MALFORMED, RTCP_IS_RR},
        {"padding not in the last",
         {0xa0, 201, 0, 2, 0, 0, 0, 1, 0, 0, 0, 4, 0x80, 201, 0, 1, 0, 0, 0, 1},
         ERR_MALFORMED,
         RTCP_IS_RR},
        {"APP", {0x80, 204, 0, 2, 0, 0, 0, 1, 'n', 'a', 'm', 'e'}, 1, RTCP_IS_OTHER},
        {"unknown type, no body", {0x80, 207, 0, 0}, 1, RTCP_IS_OTHER},
        {"BYE of nobody", {0x80, 203, 0, 0}, 1, RTCP_IS_OTHER},
        {"BYE with a reason", {0x81, 203, 0, 2, 0, 0, 0, 1, 3, 'e', 'n', 'd'}, 1, RTCP_IS_BYE},
        {"NACK of nothing", {0x81, 205, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2}, ERR_MALFORMED, RTCP_IS_NACK},
        {"RFC 8888 feedback", {0x8b, 205, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2}, 1, RTCP_IS_OTHER},
        {"PLI without media", {0x81, 206, 0, 1, 0, 0, 0, 1}, ERR_MALFORMED, RTCP_IS_PLI},
        {"SDES without end",
         {0x81, 202, 0, 2, 0, 0, 0, 1, 1, 2, 'a', 'b'},
         ERR_MALFORMED,
         RTCP_IS_SDES},
        {"SDES item too long",
         {0x81, 202, 0, 2, 0, 0, 0, 1, 1, 9, 'a', 0},
         ERR_MALFORMED,
         RTCP_IS_SDES},
        {"TMMBR of nothing",
         {0x83, 205, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0},
         ERR_MALFORMED,
         RTCP_IS_TMMBR},
        {"TMMBN of nothing: no limit", {0x84, 205, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0}, 1, RTCP_IS_TMMBN},
        {"TMMBR of 2^80 bit/s",
         {0x83, 205, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0xff, 0xff, 0xfe, 0},
         ERR_MALFORMED,
         RTCP_IS_TMMBR},
        {"application feedback without data",
         {0x8f, 206, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0},
         1,
         RTCP_IS_OTHER},
        {"application feedback of another name",
         {0x8f, 206, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0, 'R', 'E', 'M', 'C'},
         1,
         RTCP_IS_OTHER},
        {"REMB without a rate",
         {0x8f, 206, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0, 'R', 'E', 'M', 'B'},
         ERR_MALFORMED,
         RTCP_IS_REMB},
        {"REMB of 2 SSRCs, with one",
         {0x8f, 206, 0, 5, 0, 0, 0, 1, 0, 0, 0, 0, 'R', 'E', 'M', 'B', 2, 0, 0, 1, 0, 0, 0, 9},
         ERR_MALFORMED,
         RTCP_IS_REMB},
        {"REMB of 2^64 bit/s",
         {0x8f, 206, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 'R', 'E', 'M', 'B', 0, 0xba, 0, 0},
         ERR_MALFORMED,
         RTCP_IS_REMB},
        {"SDES of nobody", {0x80, 202, 0, 0}, 1, RTCP_IS_SDES},
    };
    for (const auto &c : cases) {
        INFO(c.what);
        struct rtcp_item item;
        size_t at = 0;
        CHECK(rtcp_next(c.bytes.data(), c.bytes.size(), &at, &item) == c.result);
        if (c.result == 1)
            CHECK(item.kind == c.kind);
    }
}

TEST_CASE("rtcp: TMMBR and TMMBN, as RFC 5104, 4.2.1.1, draws them")
{
    // 1 Mbit/s is 125000 * 2^3, 17 bits of mantissa; 40 bytes of overhead.
    const std::vector<uint8_t> bytes = {0x83, 205, 0, 4, 0, 0, 0,    1,    0,    0,
                                        0,    0,   0, 0, 0, 9, 0x0f, 0xd0, 0x90, 0x28};
    struct rtcp_item item;
    size_t at = 0;
    REQUIRE(rtcp_next(bytes.data(), bytes.size(), &at, &item) == 1);
    CHECK(item.kind == RTCP_IS_TMMBR);
    CHECK(item.ssrc == 1);
    CHECK(item.media_ssrc == 9);
    CHECK(item.max_rate.bps == 1000000);
    CHECK(item.max_rate.overhead == 40);
    uint8_t out[RTCP_MAX_PACKET];
    size_t len = 0;
    REQUIRE(rtcp_append(&item, out, sizeof(out), &len) == 0);
    CHECK(std::vector<uint8_t>(out, out + len) == bytes);

    const struct {
        uint64_t in, out;
    } rates[] = {
        {0, 0}, {131071, 131071}, {131073, 131072}, {1999999, 1999984}, {1ull << 62, 1ull << 62}};
    for (const auto &rate : rates) {
        item.max_rate.bps = rate.in;
        len = at = 0;
        REQUIRE(rtcp_append(&item, out, sizeof(out), &len) == 0);
        struct rtcp_item back;
        REQUIRE(rtcp_next(out, len, &at, &back) == 1);
        CHECK(back.max_rate.bps == rate.out);
    }
}

TEST_CASE("rtcp: REMB, as draft-alvestrand-rmcat-remb-03, 2.2, draws it")
{
    // 1.5 Mbit/s is 187500 * 2^3, 18 bits of mantissa; two SSRCs.
    const std::vector<uint8_t> bytes = {0x8f, 206, 0, 6,    0,    0,    0, 1, 0, 0, 0, 0, 'R', 'E',
                                        'M',  'B', 2, 0x0e, 0xdc, 0x6c, 0, 0, 0, 9, 0, 0, 0,   7};
    struct rtcp_item item;
    size_t at = 0;
    REQUIRE(rtcp_next(bytes.data(), bytes.size(), &at, &item) == 1);
    CHECK(item.kind == RTCP_IS_REMB);
    CHECK(item.ssrc == 1);
    CHECK(item.max_rate.bps == 1500000);
    REQUIRE(item.ssrc_count == 2);
    CHECK(item.ssrcs[0] == 9);
    CHECK(item.ssrcs[1] == 7);
    uint8_t out[RTCP_MAX_PACKET];
    size_t len = 0;
    REQUIRE(rtcp_append(&item, out, sizeof(out), &len) == 0);
    CHECK(std::vector<uint8_t>(out, out + len) == bytes);
}

TEST_CASE("rtcp: of a REMB of 255 SSRCs, the first 31 are kept")
{
    std::vector<uint8_t> bytes = {0x8f, 206, 1,   3,   0,   0,   0,   1, 0, 0,
                                  0,    0,   'R', 'E', 'M', 'B', 255, 0, 0, 5};
    for (int i = 0; i < 255; i++)
        bytes.insert(bytes.end(), {0, 0, 1, static_cast<uint8_t>(i)});
    struct rtcp_item item;
    size_t at = 0;
    REQUIRE(rtcp_next(bytes.data(), bytes.size(), &at, &item) == 1);
    CHECK(at == bytes.size());
    CHECK(item.ssrc_count == RTCP_MAX_SSRCS);
    CHECK(item.ssrcs[RTCP_MAX_SSRCS - 1] == 0x100 + RTCP_MAX_SSRCS - 1);
    CHECK(item.max_rate.bps == 5);
}

TEST_CASE("rtcp: CNAMEs of every length are padded to a word")
{
    for (size_t len = 0; len <= RTCP_MAX_CNAME; len++) {
        struct rtcp_item item = {}, back;
        item.kind = RTCP_IS_SDES;
        item.ssrc = 7;
        memset(item.cname, 'x', len);
        uint8_t out[RTCP_MAX_PACKET];
        size_t used = 0, at = 0;
        REQUIRE(rtcp_append(&item, out, sizeof(out), &used) == 0);
        REQUIRE(used % 4 == 0);
        REQUIRE(rtcp_next(out, used, &at, &back) == 1);
        REQUIRE(at == used);
        REQUIRE(strlen(back.cname) == len);
    }
}

TEST_CASE("rtcp: the max number of reports and NACKs")
{
    struct rtcp_item item = {}, back;
    item.kind = RTCP_IS_RR;
    item.report_count = RTCP_MAX_REPORTS;
    item.reports[30].lost = 0x7fffffff; // clamped to 24 bits
    uint8_t out[RTCP_MAX_PACKET];
    size_t used = 0, at = 0;
    REQUIRE(rtcp_append(&item, out, sizeof(out), &used) == 0);
    REQUIRE(rtcp_next(out, used, &at, &back) == 1);
    CHECK(back.report_count == RTCP_MAX_REPORTS);
    CHECK(back.reports[30].lost == 0x7fffff);

    std::vector<uint8_t> many = {0x81, 205, 0, 2 + RTCP_MAX_NACKS + 10, 0, 0, 0, 1, 0, 0, 0, 2};
    many.resize(many.size() + 4 * (RTCP_MAX_NACKS + 10));
    at = 0;
    REQUIRE(rtcp_next(many.data(), many.size(), &at, &back) == 1);
    CHECK(back.nack_count == RTCP_MAX_NACKS);
    CHECK(at == many.size());
}

TEST_CASE("rtcp: the second byte distinguishes it from RTP")
{
    for (int second = 0; second < 256; second++) {
        const uint8_t data[] = {0x80, (uint8_t)second, 0, 0};
        CHECK(rtcp_is(data, sizeof(data)) == (second >= 192 && second <= 223));
    }
    const uint8_t version1[] = {0x40, 200, 0, 0};
    CHECK_FALSE(rtcp_is(version1, sizeof(version1)));
    CHECK_FALSE(rtcp_is(version1, 0));
}

TEST_CASE("rtcp: random mutations do no harm")
{
    struct rng rng = rng_seeded(5);
    for (int i = 0; i < 20000; i++) {
        std::vector<uint8_t> bytes(golden.begin(), golden.end() - (long)rng_below(&rng, 40));
        for (uint64_t k = 1 + rng_below(&rng, 4); k-- > 0;)
            bytes[rng_below(&rng, bytes.size())] = (uint8_t)rng_u64(&rng);
        int result;
        decode_all(bytes, &result);
        REQUIRE((result == 0 || result == ERR_MALFORMED));
    }
}
