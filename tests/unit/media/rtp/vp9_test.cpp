// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/rtp/vp9.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "common/base/err.h"

// "offset+len ..." or the error
static std::string split(const std::vector<uint8_t> &bytes)
{
    struct nal pieces[VP9_MAX_PIECES];
    int count = vp9_split(bytes.data(), bytes.size(), pieces);
    if (count < 0)
        return count == ERR_MALFORMED ? "malformed" : "?";
    std::string out;
    for (int i = 0; i < count; i++)
        out +=
            (i ? " " : "") + std::to_string(pieces[i].offset) + "+" + std::to_string(pieces[i].len);
    return out;
}

TEST_CASE("vp9: a superframe's index gives its frames")
{
    struct {
        const char *what;
        std::vector<uint8_t> bytes;
        const char *pieces;
    } table[] = {
        {"no bytes", {}, "malformed"},
        {"no index", {0x82, 1, 2}, "0+3"},
        {"two lengths of one byte: 110 00 001", {0x82, 7, 8, 0x86, 9, 0xc1, 3, 2, 0xc1}, "0+3 3+2"},
        {"one length of two bytes: 110 01 000", {0x82, 7, 0xc8, 2, 0, 0xc8}, "0+2"},
        {"three lengths of four bytes: 110 11 010",
         {1, 2, 3, 0xda, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0xda},
         "0+1 1+1 2+1"},
        {"the markers differ: part of the frame", {0x82, 7, 8, 9, 0xc0, 3, 2, 0xc1}, "0+8"},
        {"shorter than its index", {3, 2, 0xc1}, "0+3"},
        {"a length of 0", {0x82, 7, 0xc1, 2, 0, 0xc1}, "malformed"},
        {"a length beyond the frames", {0x82, 7, 0xc1, 2, 1, 0xc1}, "malformed"},
        {"bytes that no length has", {0x82, 7, 8, 0xc1, 1, 1, 0xc1}, "malformed"},
        {"2^32 - 1 bytes", {0x82, 0xd8, 0xff, 0xff, 0xff, 0xff, 0xd8}, "malformed"},
        {"an index alone", {0xc0, 0, 0xc0}, "malformed"},
    };
    for (auto &row : table) {
        INFO(row.what);
        CHECK(split(row.bytes) == row.pieces);
    }
}

TEST_CASE("vp9: the index of frames makes a superframe")
{
    struct {
        std::vector<uint32_t> lengths;
        std::vector<uint8_t> index;
    } table[] = {
        {{1}, {0xc0, 1, 0xc0}},
        {{3, 2}, {0xc1, 3, 2, 0xc1}},
        {{255, 256}, {0xc9, 0xff, 0, 0, 1, 0xc9}},
        {{0x10000, 1, 2}, {0xd2, 0, 0, 1, 1, 0, 0, 2, 0, 0, 0xd2}},
    };
    for (auto &row : table) {
        std::vector<uint8_t> out(VP9_MAX_INDEX);
        out.resize(vp9_write_index(row.lengths.data(), (int)row.lengths.size(), out.data()));
        CHECK(out == row.index);
        size_t bytes = 0;
        std::string pieces;
        for (uint32_t len : row.lengths) {
            pieces += (bytes ? " " : "") + std::to_string(bytes) + "+" + std::to_string(len);
            bytes += len;
        }
        std::vector<uint8_t> whole(bytes, 0x82);
        whole.insert(whole.end(), out.begin(), out.end());
        CHECK(split(whole) == pieces);
    }
    std::vector<uint32_t> most(VP9_MAX_PIECES, 0xffffffff);
    std::vector<uint8_t> out(VP9_MAX_INDEX);
    CHECK(vp9_write_index(most.data(), VP9_MAX_PIECES, out.data()) == VP9_MAX_INDEX);
}
