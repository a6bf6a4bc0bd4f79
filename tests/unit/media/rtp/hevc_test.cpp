// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/rtp/hevc.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace
{
using bytes = std::vector<uint8_t>;

// Makes bytes of a text of bits; blanks separate fields. The inserted 03 bytes are not needed, as
// no field here has 22 zero bits in a row but those of the profile, which are 1 bits.
bytes of_bits(const std::string &text)
{
    bytes out;
    int n = 0;
    for (char c : text)
        if (c != ' ') {
            if (n++ % 8 == 0)
                out.push_back(0);
            out.back() |= (uint8_t)((c - '0') << (7 - (n - 1) % 8));
        }
    return out;
}

const std::string HEADER = "0100001000000001";
const std::string PROFILE(96, '1');
// SPS id 0, 4:2:0, width 7, height 7, no window, 8 bits, 8 bits, log2 of the picture order 4
const std::string SIZE = " 1 010 0001000 0001000 0 1 1 1 ";

// `layers`: three bits, the number above the lowest; `order`: from the ordering flag on.
bytes sps(const std::string &layers, const std::string &sub_profiles, const std::string &size,
          const std::string &order)
{
    return of_bits(HEADER + "0000" + layers + "1" + PROFILE + sub_profiles + size + order + "1");
}
} // namespace

TEST_CASE("an H.265 SPS that says that no picture is reordered")
{
    const std::string eight(8, '1'), profile(88, '1'), two = " 010 1 1", one = " 010 010 1";
    const std::string cut = " 1 010 0001000 0001000 1 1 1 1 1 1 1 1 ";
    const std::string planes = " 1 00100 1 0001000 0001000 0 1 1 1 ";
    const struct {
        const char *name;
        bytes unit;
        bool may;
    } table[] = {
        {"none", sps("000", "", SIZE, "0" + two), false},
        {"one", sps("000", "", SIZE, "0" + one), true},
        {"with a window", sps("000", "", cut, "0" + two), false},
        {"with a window, one", sps("000", "", cut, "0" + one), true},
        {"4:4:4 in planes", sps("000", "", planes, "0" + two), false},
        // two layers: the flags of the lower one, and reserved bits up to eight pairs
        {"layers", sps("001", "1100000000000000" + profile + eight, SIZE, "1" + two + one), true},
        {"the highest counts",
         sps("001", "1100000000000000" + profile + eight, SIZE, "1" + one + two), false},
        {"its level alone", sps("001", "0100000000000000" + eight, SIZE, "0" + two), false},
        {"a PPS", {0x44, 0x01, 0xc0, 0x73}, true},
        {"nothing", {}, true},
        // libx265's, 640x360 without B frames, and 64x64 with them
        {"libx265",
         {0x42, 0x01, 0x01, 0x01, 0x60, 0x00, 0x00, 0x03, 0x00, 0x90, 0x00,
          0x00, 0x03, 0x00, 0x00, 0x03, 0x00, 0x3f, 0xa0, 0x05, 0x02, 0x01,
          0x71, 0xf2, 0xe5, 0xba, 0x4a, 0x4c, 0x2f, 0x01, 0x68, 0x08},
         false},
        {"libx265's B frames",
         {0x42, 0x01, 0x01, 0x01, 0x60, 0x00, 0x00, 0x03, 0x00, 0x90, 0x00, 0x00, 0x03, 0x00, 0x00,
          0x03, 0x00, 0x1e, 0xa0, 0x20, 0x81, 0x05, 0x96, 0x56, 0x59, 0x24, 0xca, 0xf0, 0x16, 0x80},
         true},
    };
    for (const auto &row : table) {
        INFO(row.name);
        CHECK(hevc_may_reorder(row.unit.data(), row.unit.size()) == row.may);
        for (size_t len = 0; len < row.unit.size() && len < 18; len++) // no end is read over
            CHECK(hevc_may_reorder(bytes(row.unit.begin(), row.unit.begin() + (long)len).data(),
                                   len));
    }
}
