// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/decode/parameter_sets.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace
{
using bytes = std::vector<uint8_t>;

bytes decode(const std::string &sprop, size_t cap = 256)
{
    bytes out(cap);
    out.resize(parameter_sets_decode(sprop.c_str(), out.data(), cap));
    return out;
}

struct frame {
    received_frame f = {};

    frame(bool key, const bytes &data)
    {
        f.key = key;
        f.bytes = data.size();
        f.data = (uint8_t *)malloc(data.size() + 64);
        if (!data.empty())
            memcpy(f.data, data.data(), data.size());
    }
    frame(const frame &) = delete;
    frame &operator=(const frame &) = delete;
    ~frame()
    {
        free(f.data);
    }
};
} // namespace

TEST_CASE("parameter sets from a description")
{
    CHECK(decode("Z0LA,aM48") == bytes{0, 0, 0, 1, 0x67, 0x42, 0xc0, 0, 0, 0, 1, 0x68, 0xce, 0x3c});
    CHECK(decode("Z0I=,") == bytes{0, 0, 0, 1, 0x67, 0x42}); // a comma too many
    CHECK(decode("").empty());
    CHECK(decode("!!!").empty());
    CHECK(decode("Z0LA,aM48", 10).empty());
    CHECK(decode(std::string(3000, 'A'), 4096).empty());
}

TEST_CASE("a key frame without parameter sets gets them")
{
    const bytes sets = {0, 0, 0, 1, 0x67, 0x42};
    const struct {
        bool key;
        bytes data, expected;
    } table[] = {
        {true, {0, 0, 0, 1, 0x65, 9}, {0, 0, 0, 1, 0x67, 0x42, 0, 0, 0, 1, 0x65, 9}},
        {true,
         {0, 0, 0, 1, 0x67, 7, 0, 0, 0, 1, 0x65, 9},
         {0, 0, 0, 1, 0x67, 7, 0, 0, 0, 1, 0x65, 9}},
        {false, {0, 0, 0, 1, 0x41, 9}, {0, 0, 0, 1, 0x41, 9}},
        {true, {}, {0, 0, 0, 1, 0x67, 0x42}},
    };
    for (const auto &row : table) {
        frame f(row.key, row.data);
        CHECK(parameter_sets_prepend(SDP_H264, &f.f, sets.data(), sets.size()) == 0);
        CHECK(bytes(f.f.data, f.f.data + f.f.bytes) == row.expected);
    }
}

TEST_CASE("the latest parameter sets apply")
{
    const bytes before = {0, 0, 0, 1, 0x67, 1}, sps = {0, 0, 0, 1, 0x67, 2, 3},
                pps = {0, 0, 0, 1, 0x68, 4}, idr = {0, 0, 0, 1, 0x65, 5}, sei = {0, 0, 0, 1, 6, 7};
    auto all = [](std::initializer_list<bytes> units) {
        bytes out;
        for (const bytes &u : units)
            out.insert(out.end(), u.begin(), u.end());
        return out;
    };
    const struct {
        bool key;
        bytes data, expected;
    } table[] = {
        {true, all({sei, sps, pps, idr}), all({sps, pps})},
        {true, all({sps, sei, pps, pps}), all({sps, pps, pps})},
        {false, all({sps, pps}), before},
        {true, all({sps, idr}), before}, // of no use alone
        {true, all({pps, idr}), before},
        {true, all({idr}), before},
        {true, {}, before},
        {true, all({sps, pps, pps, pps, idr}), before}, // 25 bytes, no room
    };
    for (const auto &row : table) {
        frame f(row.key, row.data);
        bytes sets = before;
        sets.resize(24);
        sets.resize(parameter_sets_learn(SDP_H264, &f.f, sets.data(), before.size(), sets.size()));
        CHECK(sets == row.expected);
    }
}

TEST_CASE("parameter sets of H.265; other codecs have none")
{
    const bytes vps = {0, 0, 0, 1, 0x40, 1, 2}, sps = {0, 0, 0, 1, 0x42, 1, 3},
                pps = {0, 0, 0, 1, 0x44, 1, 4}, idr = {0, 0, 0, 1, 0x26, 1, 5};
    auto joined = [](bytes a, const bytes &b) {
        a.insert(a.end(), b.begin(), b.end());
        return a;
    };
    const bytes all = joined(joined(vps, sps), pps);
    bytes sets(100);
    frame whole(true, joined(all, idr)), bare(true, idr);
    frame part(true, joined(joined(sps, pps), idr)); // its VPS is missing
    for (sdp_codec codec : {SDP_VP9, SDP_JPEG}) {
        CHECK(parameter_sets_learn(codec, &whole.f, sets.data(), 0, sets.size()) == 0);
        CHECK(parameter_sets_prepend(codec, &bare.f, all.data(), all.size()) == 0);
        CHECK(bare.f.bytes == idr.size());
    }
    CHECK(parameter_sets_learn(SDP_HEVC, &part.f, sets.data(), 0, sets.size()) == 0);
    REQUIRE(parameter_sets_learn(SDP_HEVC, &whole.f, sets.data(), 0, sets.size()) == all.size());
    CHECK(parameter_sets_prepend(SDP_HEVC, &whole.f, all.data(), all.size()) == 0);
    CHECK(whole.f.bytes == all.size() + idr.size());
    CHECK(parameter_sets_prepend(SDP_HEVC, &bare.f, sets.data(), all.size()) == 0);
    CHECK(bytes(bare.f.data, bare.f.data + bare.f.bytes) == joined(all, idr));
}

TEST_CASE("sets are written as in a description, and read again")
{
    const std::vector<uint8_t> sets = {0, 0, 0, 1, 0x67, 1, 2, 3, 4, 0, 0, 0, 1, 0x68, 5};
    char sprop[64];
    parameter_sets_encode(sets.data(), sets.size(), sprop, sizeof(sprop));
    CHECK(std::string(sprop) == "ZwECAwQ=,aAU=");
    std::vector<uint8_t> again(64);
    again.resize(parameter_sets_decode(sprop, again.data(), again.size()));
    CHECK(again == sets);
    for (size_t cap = 1; cap < 14; cap++) {
        parameter_sets_encode(sets.data(), sets.size(), sprop, cap);
        CHECK(std::string(sprop).empty());
    }
    parameter_sets_encode(sets.data(), 3, sprop, sizeof(sprop));
    CHECK(std::string(sprop).empty());
    std::vector<uint8_t> huge(4000, 0x67);
    huge[0] = huge[1] = huge[2] = 0;
    huge[3] = 1;
    parameter_sets_encode(huge.data(), huge.size(), sprop, sizeof(sprop));
    CHECK(std::string(sprop).empty());
}

TEST_CASE("the units of sets")
{
    const std::vector<uint8_t> sets = {9, 0, 0, 0, 1, 0x67, 1, 0, 0, 0, 1, 0x68};
    size_t at = 0, len = 0;
    CHECK(parameter_sets_next(sets.data(), sets.size(), &at, &len) == sets.data() + 5);
    CHECK(len == 2);
    CHECK(parameter_sets_next(sets.data(), sets.size(), &at, &len) == sets.data() + 11);
    CHECK(len == 1);
    CHECK(parameter_sets_next(sets.data(), sets.size(), &at, &len) == nullptr);
}

TEST_CASE("parameter sets that say that no picture is reordered")
{
    // baseline H.264, after a PPS; no SPS at all; H.265 of libx265 with and without B frames
    const bytes pps = {0, 0, 0, 1, 0x68, 0xce}, base = {0, 0, 0, 1, 0x67, 66, 0, 10, 0xff};
    bytes both = pps;
    both.insert(both.end(), base.begin(), base.end());
    CHECK(!parameter_sets_may_reorder(SDP_H264, both.data(), both.size()));
    CHECK(parameter_sets_may_reorder(SDP_H264, pps.data(), pps.size()));
    CHECK(parameter_sets_may_reorder(SDP_H264, nullptr, 0));
    const bytes plain = {0,    0,    0,    1,    0x42, 0x01, 0x01, 0x01, 0x60, 0x00, 0x00, 0x03,
                         0x00, 0x90, 0x00, 0x00, 0x03, 0x00, 0x00, 0x03, 0x00, 0x3f, 0xa0, 0x05,
                         0x02, 0x01, 0x71, 0xf2, 0xe5, 0xba, 0x4a, 0x4c, 0x2f, 0x01, 0x68, 0x08};
    CHECK(!parameter_sets_may_reorder(SDP_HEVC, plain.data(), plain.size()));
    CHECK(parameter_sets_may_reorder(SDP_H264, plain.data(), plain.size()));
    CHECK(parameter_sets_may_reorder(SDP_HEVC, both.data(), both.size()));
}
