// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/parameter_sets.h"

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
} // namespace

TEST_CASE("parameter sets out of a description")
{
    CHECK(decode("Z0LA,aM48") == bytes{0, 0, 0, 1, 0x67, 0x42, 0xc0, 0, 0, 0, 1, 0x68, 0xce, 0x3c});
    CHECK(decode("Z0I=,") == bytes{0, 0, 0, 1, 0x67, 0x42}); // a comma too many
    CHECK(decode("").empty());
    CHECK(decode("!!!").empty());
    CHECK(decode("Z0LA,aM48", 10).empty());
    CHECK(decode(std::string(3000, 'A'), 4096).empty());
}

TEST_CASE("a key frame that lacks them gets them")
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
        received_frame f = {};
        f.key = row.key;
        f.bytes = row.data.size();
        f.data = (uint8_t *)malloc(row.data.size() + 64);
        if (!row.data.empty())
            memcpy(f.data, row.data.data(), row.data.size());
        CHECK(parameter_sets_prepend(&f, sets.data(), sets.size()) == 0);
        CHECK(bytes(f.data, f.data + f.bytes) == row.expected);
        free(f.data);
    }
}
