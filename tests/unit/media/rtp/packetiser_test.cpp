// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "common/base/rng.h"
#include "media/rtp/packetiser.h"

static std::vector<std::string> packets(const std::string &data,
                                        const std::vector<struct nal> &nals, size_t max,
                                        std::string *flags, bool hevc = false)
{
    struct packetiser p;
    (hevc ? packetiser_init_hevc : packetiser_init)(&p, (const uint8_t *)data.data(), nals.data(),
                                                    (int)nals.size());
    std::vector<std::string> out;
    struct rtp_payload payload;
    while (packetiser_next(&p, max, &payload)) {
        std::string bytes((const char *)payload.head, payload.head_len);
        bytes.append((const char *)payload.body, payload.body_len);
        out.push_back(bytes);
        *flags += payload.first && payload.last ? 'B'
                  : payload.first               ? 'F'
                  : payload.last                ? 'L'
                                                : '.';
    }
    CHECK_FALSE(packetiser_next(&p, max, &payload)); // the frame stays done
    return out;
}

TEST_CASE("packetiser: single units and fragments of an IDR")
{
    // SPS (0x67), nothing, PPS (0x68), IDR slice (0x65) of 33 bytes; at most 16 bytes a packet
    std::string data = "....\x67SPS....\x68PP....\x65";
    const std::string slice = "0123456789abcdefghijklmnopqrstuv";
    data += slice;
    const std::vector<struct nal> nals = {{4, 4}, {8, 0}, {12, 3}, {19, 33}};
    std::string flags;
    auto out = packets(data, nals, 16, &flags);
    REQUIRE(out.size() == 5);
    CHECK(out[0] == "\x67SPS");
    CHECK(out[1] == "\x68PP");
    CHECK(out[2] == "\x7c\x85" + slice.substr(0, 14)); // F|NRI of 0x65, type 28; S, type 5
    CHECK(out[3] == "\x7c\x05" + slice.substr(14, 14));
    CHECK(out[4] == "\x7c\x45" + slice.substr(28, 4)); // E
    CHECK(flags == "F...L");
}

TEST_CASE("packetiser: HEVC's single units and fragments")
{
    // VPS (type 32: 0x40), IDR_W_RADL (19: 0x26) of 2 + 30 bytes, temporal id 1 (TID 2)
    std::string data = "....\x40\x01V....\x26\x02";
    const std::string slice = "0123456789abcdefghijklmnopqrst";
    data += slice;
    const std::vector<struct nal> nals = {{4, 3}, {11, 32}};
    std::string flags;
    auto out = packets(data, nals, 16, &flags, true);
    REQUIRE(out.size() == 4);
    CHECK(out[0] == "\x40\x01V");
    CHECK(out[1] == "\x62\x02\x93" + slice.substr(0, 13)); // type 49: 0x62; S, type 19
    CHECK(out[2] == "\x62\x02\x13" + slice.substr(13, 13));
    CHECK(out[3] == "\x62\x02\x53" + slice.substr(26, 4)); // E
    CHECK(flags == "F..L");
    CHECK(packets(data, nals, 32, &flags, true).size() == 2);
    CHECK(packets(data, nals, 31, &flags, true).size() == 3);
}

TEST_CASE("packetiser: the edge between one packet and two")
{
    const struct {
        uint32_t len;
        size_t packets;
        const char *flags;
    } cases[] = {
        {1, 1, "B"}, {16, 1, "B"}, {17, 2, "FL"}, {29, 2, "FL"}, {30, 3, "F.L"},
    }; // 17: 1 + 14, 2; 29: 1 + 14 + 14
    for (const auto &c : cases) {
        std::string data(c.len, 'x'), flags;
        CHECK(packets(data, {{0, c.len}}, 16, &flags).size() == c.packets);
        CHECK(flags == c.flags);
    }
    std::string data(4, 'x'), flags; // empty units at the ends are not first or last
    CHECK(packets(data, {{0, 0}, {0, 4}, {4, 0}}, 16, &flags).size() == 1);
    CHECK(flags == "B");
}

TEST_CASE("packetiser: any limit, also a changing one, gives the same bytes")
{
    struct rng rng = rng_seeded(9);
    for (int round = 0; round < 300; round++) {
        std::string data, sent;
        std::vector<struct nal> nals;
        for (int i = 0; i < 5; i++) {
            uint32_t len = (uint32_t)rng_below(&rng, 400) + (i == 0);
            nals.push_back({(uint32_t)data.size(), len});
            for (uint32_t k = 0; k < len; k++)
                data += (char)(k == 0 ? 0x60 | (1 + rng_below(&rng, 23)) : rng_u64(&rng));
        }
        struct packetiser p;
        packetiser_init(&p, (const uint8_t *)data.data(), nals.data(), 5);
        struct rtp_payload out;
        int firsts = 0, lasts = 0;
        for (size_t max = 16; packetiser_next(&p, max, &out); max = 16 + rng_below(&rng, 200)) {
            REQUIRE(out.head_len + out.body_len <= max);
            REQUIRE(out.body_len > 0);
            if (out.head_len && out.head[1] & 0x80)
                sent += (char)((out.head[0] & 0xe0) | (out.head[1] & 0x1f));
            sent.append((const char *)out.body, out.body_len);
            firsts += out.first;
            lasts += out.last;
        }
        REQUIRE(sent == data);
        REQUIRE(firsts == 1);
        REQUIRE(lasts == 1);
    }
}

TEST_CASE("packetiser: it counts the payloads that are left as it gives them")
{
    std::string data(500, 'x');
    const std::vector<struct nal> nals = {{0, 10}, {10, 0}, {10, 300}, {310, 16}, {326, 17}};
    struct packetiser p;
    struct rtp_payload payload;
    packetiser_init(&p, (const uint8_t *)data.data(), nals.data(), (int)nals.size());
    int left = packetiser_left(&p, 16);
    CHECK(left == 1 + 22 + 1 + 2); // 299 bytes after the unit's header, 14 in each
    while (packetiser_next(&p, 16, &payload))
        CHECK(packetiser_left(&p, 16) == --left);
    CHECK(left == 0);
}
