// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/rtp/annexb.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "common/base/err.h"

TEST_CASE("annexb_split: units after start codes of three and four bytes")
{
    struct {
        std::vector<uint8_t> bytes;
        int result;
        std::string units; // offset+length
    } const table[] = {
        {{0, 0, 1, 9}, 1, "3+1 "},
        {{0, 0, 0, 1, 9, 8}, 1, "4+2 "},
        {{0, 0, 0, 0, 0, 1, 9}, 1, "6+1 "},                  // leading zero bytes
        {{0, 0, 1, 9, 0, 0, 1, 8, 7}, 2, "3+1 7+2 "},        // three bytes
        {{0, 0, 1, 9, 0, 0, 0, 1, 8, 7}, 2, "3+1 8+2 "},     // four
        {{0, 0, 1, 9, 0, 0, 0, 0, 0, 1, 8}, 2, "3+1 10+1 "}, // trailing zero bytes
        {{0, 0, 1, 9, 0, 0}, 1, "3+1 "},                     // ... at the end
        {{0, 0, 1, 9, 0, 0, 2, 1, 0, 1}, 1, "3+7 "},         // no start code within
        {{0, 0, 1, 0, 0, 1, 8}, 1, "6+1 "},                  // an empty unit is left out
        {{0, 0, 1}, 0, ""},
        {{}, ERR_MALFORMED, ""},
        {{0, 0, 0}, ERR_MALFORMED, ""},
        {{7, 0, 0, 1, 9}, ERR_MALFORMED, ""},                 // bytes before the first start code
        {{0, 0, 1, 9, 0, 0, 1, 8, 0, 0, 1, 7}, ERR_FULL, ""}, // three units; there is room for two
    };
    for (auto &row : table) {
        nal units[2];
        int got = annexb_split(row.bytes.data(), row.bytes.size(), units, 2);
        std::string text;
        for (int i = 0; i < got; i++)
            text += std::to_string(units[i].offset) + "+" + std::to_string(units[i].len) + " ";
        INFO("row " << (&row - table));
        CHECK(got == row.result);
        CHECK(text == row.units);
    }
}
