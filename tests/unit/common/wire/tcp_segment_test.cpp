// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <vector>

#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/wire/tcp_segment.h"

namespace
{

using bytes = std::vector<uint8_t>;

// A SYN, 10.1.0.1:50000 to 10.2.0.1:443. The words of the IP header sum up to d947 without its
// checksum: ~d947 = 26b8. Those of the pseudo-header to 1433 (0a01 + 0001 + 0a02 + 0001 + 6 + 40),
// those of the segment to 7c6c; together 909f: ~909f = 6f60.
const bytes syn = {
    0x45, 0x00, 0x00, 0x3c, 0x00, 0x00, 0x40, 0x00, 0x40, 0x06, 0x26, 0xb8, // IPv4: 60 bytes, DF
    10,   1,    0,    1,    10,   2,    0,    1,                            //
    0xc3, 0x50, 0x01, 0xbb, 0xff, 0xff, 0xff, 0xf0, 0x00, 0x00, 0x00, 0x00, // ports, seq, ack
    0xa0, 0x02, 0xff, 0xff, 0x6f, 0x60, 0x00, 0x00,                         // 10 words, SYN, 65535
    0x02, 0x04, 0x05, 0x50,                                                 // MSS 1360
    0x04, 0x02,                                                             // SACK permitted
    0x08, 0x0a, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00,             // timestamps 1, 0
    0x01, 0x03, 0x03, 0x09,                                                 // window scale 9
};

// Three bytes, [fd00::1]:443 to [fd00::2]:50000. Pseudo-header: 2 * fd00 + 1 + 2 + 55 + 6, folded
// fa41; segment 7c0d; together, folded, 764f: ~764f = 89b0.
const bytes data6 = {
    0x60, 0x00, 0x00, 0x00, 0x00, 0x37, 0x06, 0x40, // 55 bytes of TCP
    0xfd, 0x00, 0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0, 0, 0, 1, //
    0xfd, 0x00, 0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0, 0, 0, 2, //
    0x01, 0xbb, 0xc3, 0x50, 0x00, 0x00, 0x00, 0x10, 0xff, 0xff, 0xff, 0xf1,             //
    0xd0, 0x18, 0x02, 0x00, 0x89, 0xb0, 0x00, 0x00,                         // 13 words, PSH ACK
    0x01, 0x01, 0x08, 0x0a, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, // timestamps
    0x01, 0x01, 0x05, 0x12, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x02, // SACK: 1 to 2,
    0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x09,                         // 5 to 9
    'a',  'b',  'c',
};
constexpr size_t ip6 = 40;

int parse6(const bytes &packet, tcp_segment *s)
{
    tcp_path path = {};
    path.v6 = true;
    memcpy(path.source.address, packet.data() + 8, 16);
    memcpy(path.destination.address, packet.data() + 24, 16);
    return tcp_segment_parse(&path, packet.data() + ip6, packet.size() - ip6, s);
}

bytes built(const tcp_segment &s)
{
    bytes out(2000);
    int n = tcp_segment_build(&s, out.data(), out.size());
    REQUIRE(n > 0);
    out.resize((size_t)n);
    return out;
}

// `syn` with these options instead of its own.
bytes with_options(const bytes &options)
{
    REQUIRE(options.size() % 4 == 0);
    bytes p(syn.begin(), syn.begin() + 40);
    p.insert(p.end(), options.begin(), options.end());
    p[3] = (uint8_t)p.size();
    p[32] = (uint8_t)((20 + options.size()) / 4 << 4);
    return p;
}

} // namespace

TEST_CASE("tcp_segment: a SYN in IPv4, both ways")
{
    tcp_segment s;
    REQUIRE(tcp_segment_parse_ipv4(syn.data(), syn.size(), &s) == 0);
    CHECK(s.sum == TCP_SUM_GOOD);
    CHECK(s.path.source.address[1] == 1);
    CHECK(s.path.destination.address[1] == 2);
    CHECK(s.path.source.port == 50000);
    CHECK(s.path.destination.port == 443);
    CHECK(s.seq == 0xfffffff0);
    CHECK(s.flags == TCP_SEGMENT_SYN);
    CHECK(s.window == 65535);
    CHECK(s.mss == 1360);
    CHECK(s.scale == 9);
    CHECK(s.sack_permitted);
    CHECK(s.has_times);
    CHECK(s.time == 1);
    CHECK(s.time_echo == 0);
    CHECK(s.len == 0);
    CHECK(built(s) == syn);
}

TEST_CASE("tcp_segment: data with SACK in IPv6, both ways")
{
    tcp_segment s;
    REQUIRE(parse6(data6, &s) == 0);
    CHECK(s.sum == TCP_SUM_GOOD);
    CHECK(s.ack == 0xfffffff1);
    CHECK(s.flags == (TCP_SEGMENT_ACK | TCP_SEGMENT_PSH));
    CHECK(s.scale == TCP_SEGMENT_NO_SCALE);
    CHECK(s.time == 0x11223344);
    CHECK(s.time_echo == 0x55667788);
    REQUIRE(s.sack_count == 2);
    CHECK(s.sack[0].begin == 1);
    CHECK(s.sack[1].end == 9);
    REQUIRE(s.len == 3);
    CHECK(memcmp(s.data, "abc", 3) == 0);
    CHECK(built(s) == data6);
}

TEST_CASE("tcp_segment: results of the checksum")
{
    struct row {
        uint16_t field;
        tcp_sum sum;
    };
    // 1433 is the pseudo-header's sum, as it stands above.
    const std::vector<row> table = {
        {0x6f60, TCP_SUM_GOOD}, {0x1433, TCP_SUM_PARTIAL},        {0x6f61, TCP_SUM_BAD},
        {0x0000, TCP_SUM_BAD},  {(uint16_t)~0x1433, TCP_SUM_BAD},
    };
    for (const row &r : table) {
        bytes p = syn;
        p[36] = (uint8_t)(r.field >> 8);
        p[37] = (uint8_t)r.field;
        tcp_segment s;
        REQUIRE(tcp_segment_parse_ipv4(p.data(), p.size(), &s) == 0);
        CHECK(s.sum == r.sum);
    }
    for (size_t bit = 20 * 8; bit < syn.size() * 8; bit++) { // each single flip is seen
        bytes p = syn;
        p[bit / 8] ^= (uint8_t)(1 << bit % 8);
        tcp_segment s;
        if (tcp_segment_parse_ipv4(p.data(), p.size(), &s) == 0)
            CHECK(s.sum == TCP_SUM_BAD);
    }
}

TEST_CASE("tcp_segment: refused packets")
{
    struct row {
        const char *what;
        size_t at;
        uint8_t value;
        int result;
    };
    const std::vector<row> table = {
        {"as it was", 0, 0x45, 0},
        {"version 6", 0, 0x65, ERR_MALFORMED},
        {"header of 16 bytes", 0, 0x44, ERR_MALFORMED},
        {"header beyond the total length", 0, 0x4f, ERR_MALFORMED},
        {"total length beyond the packet", 3, 61, ERR_MALFORMED},
        {"total length within TCP's header", 3, 39, ERR_MALFORMED},
        {"more fragments", 6, 0x60, ERR_MALFORMED},
        {"a later fragment", 7, 1, ERR_MALFORMED},
        {"UDP", 9, 17, ERR_MALFORMED},
        {"data offset 4", 32, 0x40, ERR_MALFORMED},
        {"data offset beyond the packet", 32, 0xb0, ERR_MALFORMED},
    };
    for (const row &r : table) {
        INFO(r.what);
        bytes p = syn;
        p[r.at] = r.value;
        tcp_segment s;
        CHECK(tcp_segment_parse_ipv4(p.data(), p.size(), &s) == r.result);
    }
    for (size_t len = 0; len < syn.size(); len++) {
        bytes p(syn.begin(), syn.begin() + (long)len); // exact: reads beyond it are found
        tcp_segment s;
        CHECK(tcp_segment_parse_ipv4(p.data(), p.size(), &s) == ERR_MALFORMED);
    }
}

TEST_CASE("tcp_segment: options")
{
    struct row {
        const char *what;
        bytes options;
        int result;
        uint16_t mss;
        int scale;
    };
    const std::vector<row> table = {
        {"none", {}, 0, 0, -1},
        {"nothing is read behind the end", {0, 2, 4, 5}, 0, 0, -1},
        {"unknown ones are skipped", {253, 8, 'M', 'T', 1, 2, 3, 4, 2, 4, 5, 0x50}, 0, 1360, -1},
        {"unknown and empty", {253, 2, 1, 1}, 0, 0, -1},
        {"scale of 15 counts as 14", {3, 3, 15, 0}, 0, 0, 14},
        {"scale of 255", {3, 3, 255, 0}, 0, 0, 14},
        {"length 1", {253, 1, 1, 1}, ERR_MALFORMED, 0, -1},
        {"length 0", {253, 0, 1, 1}, ERR_MALFORMED, 0, -1},
        {"no length", {1, 1, 1, 253}, ERR_MALFORMED, 0, -1},
        {"longer than the header", {1, 1, 253, 3}, ERR_MALFORMED, 0, -1},
        {"MSS of three bytes", {2, 5, 1, 1, 1, 0, 0, 0}, ERR_MALFORMED, 0, -1},
        {"scale without a value", {3, 2, 0, 0}, ERR_MALFORMED, 0, -1},
        {"SACK permitted with a value", {4, 3, 0, 0}, ERR_MALFORMED, 0, -1},
        {"timestamps of four bytes", {8, 6, 1, 1, 1, 1, 0, 0}, ERR_MALFORMED, 0, -1},
        {"half a SACK block", {5, 6, 1, 1, 1, 1, 0, 0}, ERR_MALFORMED, 0, -1},
        {"SACK without a block", {5, 2, 0, 0}, ERR_MALFORMED, 0, -1},
    };
    for (const row &r : table) {
        INFO(r.what);
        bytes p = with_options(r.options);
        tcp_segment s;
        REQUIRE(tcp_segment_parse_ipv4(p.data(), p.size(), &s) == r.result);
        if (r.result == 0) {
            CHECK(s.mss == r.mss);
            CHECK(s.scale == r.scale);
        }
    }
}

TEST_CASE("tcp_segment: as many SACK blocks as fit")
{
    for (bool times : {false, true}) {
        tcp_segment s = {};
        s.scale = TCP_SEGMENT_NO_SCALE;
        s.has_times = times;
        s.sack_count = 4;
        for (uint32_t i = 0; i < 4; i++)
            s.sack[i] = {i, i + 1};
        bytes p = built(s);
        tcp_segment back;
        REQUIRE(tcp_segment_parse_ipv4(p.data(), p.size(), &back) == 0);
        CHECK(back.sum == TCP_SUM_GOOD);
        CHECK(back.sack_count == (times ? 3 : 4));
        CHECK(back.sack[2].begin == 2);
    }
}

TEST_CASE("tcp_segment: a built segment of any size is parsed; without room nothing is written")
{
    rng r = rng_seeded(1);
    bytes data(1400);
    for (uint8_t &b : data)
        b = (uint8_t)rng_u64(&r);
    for (size_t len = 0; len < data.size(); len += 1 + len / 8) {
        tcp_segment s = {};
        s.path.v6 = len & 1;
        s.path.source = {{1, 2, 3, 4}, 5};
        s.path.destination = {{6, 7, 8, 9}, 10};
        s.scale = TCP_SEGMENT_NO_SCALE;
        s.has_times = len & 2;
        s.data = data.data();
        s.len = len;
        bytes p = built(s);
        tcp_segment back;
        REQUIRE((s.path.v6 ? parse6(p, &back)
                           : tcp_segment_parse_ipv4(p.data(), p.size(), &back)) == 0);
        CHECK(back.sum == TCP_SUM_GOOD);
        CHECK(tcp_path_same(&back.path, &s.path));
        REQUIRE(back.len == len);
        CHECK((len == 0 || memcmp(back.data, data.data(), len) == 0));
        bytes less(p.size() - 1);
        CHECK(tcp_segment_build(&s, less.data(), less.size()) == ERR_TOO_BIG);
    }
    tcp_path there = {};
    there.source.port = 1;
    there.destination.port = 2;
    tcp_path back = tcp_path_reversed(&there);
    CHECK(back.source.port == 2);
    CHECK_FALSE(tcp_path_same(&there, &back));
}

TEST_CASE("tcp_segment: the codepoint of the IP header and the flags of ECN")
{
    for (bool v6 : {false, true})
        for (uint8_t ecn : {0, 2, 3}) {
            tcp_segment s = {};
            s.path.v6 = v6;
            s.scale = TCP_SEGMENT_NO_SCALE;
            s.flags = TCP_SEGMENT_ACK | TCP_SEGMENT_ECE | TCP_SEGMENT_CWR;
            s.ecn = ecn;
            uint8_t out[200];
            int len = tcp_segment_build(&s, out, sizeof(out));
            REQUIRE(len > 0);
            CHECK((v6 ? (out[0] << 8 | out[1]) >> 4 & 0xff : out[1]) == ecn);
            tcp_segment back;
            if (v6)
                REQUIRE(tcp_segment_parse(&s.path, out + 40, (size_t)len - 40, &back) == 0);
            else
                REQUIRE(tcp_segment_parse_ipv4(out, (size_t)len, &back) == 0);
            CHECK(back.flags == s.flags);
            CHECK(back.sum == TCP_SUM_GOOD);
            if (!v6)
                CHECK(back.ecn == ecn);
        }
}
