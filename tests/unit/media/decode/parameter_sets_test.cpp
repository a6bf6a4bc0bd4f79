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
        CHECK(parameter_sets_prepend(&f.f, sets.data(), sets.size()) == 0);
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
        sets.resize(parameter_sets_learn(&f.f, sets.data(), before.size(), sets.size()));
        CHECK(sets == row.expected);
    }
}
