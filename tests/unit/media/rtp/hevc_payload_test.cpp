// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/rtp/hevc_payload.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "common/base/rng.h"
#include "media/rtp/packetiser.h"

namespace
{

using payload = std::vector<uint8_t>;

// The frame's bytes, with '|' for start codes; "?" if a payload is malformed, "!" if one does not
// continue those before, "..." after an incomplete unit.
std::string frame_of(const std::vector<payload> &payloads)
{
    uint8_t bytes[4096];
    unpacker u = {};
    u.out = bytes;
    for (const payload &p : payloads) {
        if (!hevc_payload_format.is_valid(p.data(), p.size()))
            return "?";
        if (!hevc_payload_format.unpack(&u, p.data(), p.size()))
            return "!";
    }
    std::string text(reinterpret_cast<char *>(bytes), u.bytes);
    for (size_t at; (at = text.find(std::string("\0\0\0\1", 4))) != std::string::npos;)
        text.replace(at, 4, "|");
    return text + (u.in_fragments ? "..." : "");
}

} // namespace

TEST_CASE("hevc_payload: payloads of RFC 7798 make a frame")
{
    struct {
        std::vector<payload> in;
        std::string frame;
    } const table[] = {
        // Single NAL units (4.4.1): VPS, and a slice of type 1.
        {{{0x40, 1, 'v'}, {0x02, 1, 's'}}, "|\x40\x01v|\x02\x01s"},
        {{{0x48, 1}}, "|\x48\x01"}, // end of sequence: the header alone
        // An aggregation packet (4.4.2): two units after their sizes.
        {{{0x60, 1, 0, 3, 0x42, 1, 's', 0, 4, 0x44, 1, 'p', 'q'}}, "|\x42\x01s|\x44\x01pq"},
        {{{0x60, 1, 0, 3, 0x42, 1, 's'}}, "|\x42\x01s"},            // of one unit
        {{{0x60, 1, 0, 3, 0x42, 1, 's', 0, 0}}, "|\x42\x01s"},      // padded
        {{{0x60, 1}}, "?"},                                         // of none
        {{{0x60, 1, 0, 3, 0x42, 1, 's', 0, 4, 0x44, 1, 'p'}}, "?"}, // beyond the payload
        {{{0x60, 1, 0, 3, 0x42, 1, 's', 1}}, "?"},                  // half a size
        {{{0x60, 1, 0, 1, 0x42, 0, 3, 0x44, 1, 'p'}}, "?"},         // less than a header
        {{{0x60, 1, 0, 3, 0x42, 1, 's', 0, 3, 0x60, 1, 'p'}}, "?"}, // a packet in a packet
        // Fragmentation units (4.4.3): type 19 with layer id 32 and TID 3, in three parts.
        {{{0x63, 3, 0x93, 'a'}, {0x63, 3, 0x13, 'b', 'c'}, {0x63, 3, 0x53, 'd'}},
         "|\x27\x03"
         "abcd"},
        {{{0x62, 1, 0x93, 'a'}},
         "|\x26\x01"
         "a..."},
        {{{0x62, 1, 0x13, 'a'}}, "!"}, // without a start
        // without an end bit: what follows ends the unit
        {{{0x62, 1, 0x93, 'a'}, {0x62, 1, 0x93, 'b'}},
         "|\x26\x01"
         "a|\x26\x01"
         "b..."},
        {{{0x62, 1, 0x93, 'a'}, {0x02, 1, 'b'}},
         "|\x26\x01"
         "a|\x02\x01"
         "b"},
        {{{0x62, 1, 0x93, 'a'}, {0x60, 1, 0, 2, 2, 1, 0, 2, 2, 1}},
         "|\x26\x01"
         "a|\x02\x01|\x02\x01"},
        {{{0x62, 1, 0x93, 'a'}, {0x62, 1, 0x54, 'b'}}, "!"}, // of another type
        {{{0x62, 1, 0xd3, 'a'}},
         "|\x26\x01"
         "a"},                         // start and end
        {{{0x62, 1, 0x93}}, "?"},      // empty
        {{{0x62, 1, 0xb1, 'a'}}, "?"}, // a fragment of a fragment
        // Headers that no payload has.
        {{{0x40}}, "?"},
        {{{0xc0, 1, 'v'}}, "?"}, // the forbidden bit
        {{{0x40, 0, 'v'}}, "?"}, // TID 0
        // What a receiver ignores: nothing, PACI (type 50), type 63.
        {{{}, {0x64, 1, 'v'}, {0x7e, 1, 'v'}, {0x02, 1, 's'}}, "|\x02\x01s"},
    };
    for (auto &row : table) {
        INFO("row " << (&row - table));
        CHECK(frame_of(row.in) == row.frame);
    }
}

TEST_CASE("hevc_payload: what the packetiser sends comes out as it was, at any limit")
{
    rng rng = rng_seeded(4);
    for (int round = 0; round < 300; round++) {
        std::string data, frame;
        std::vector<nal> nals;
        for (int i = 0; i < 4; i++) {
            uint32_t len = 2 + (uint32_t)rng_below(&rng, 200);
            nals.push_back({(uint32_t)data.size(), len});
            frame += "|";
            for (uint32_t k = 0; k < len; k++) {
                char c = k == 0   ? (char)(rng_below(&rng, 48) << 1 | rng_below(&rng, 2))
                         : k == 1 ? (char)(1 + rng_below(&rng, 7))
                                  : (char)('a' + rng_below(&rng, 26));
                data += c;
                frame += c;
            }
        }
        packetiser p;
        packetiser_init_hevc(&p, (const uint8_t *)data.data(), nals.data(), 4);
        std::vector<payload> sent;
        rtp_payload out;
        while (packetiser_next(&p, 16 + rng_below(&rng, 80), &out)) {
            payload one(out.head, out.head + out.head_len);
            one.insert(one.end(), out.body, out.body + out.body_len);
            sent.push_back(one);
        }
        CHECK(frame_of(sent) == frame);
    }
}
