// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/rtp/h264.h"

#include <catch2/catch.hpp>
#include <vector>

#include "common/base/err.h"
#include "common/base/rng.h"

using bytes_t = std::vector<uint8_t>;

namespace
{

bytes_t widened_sps(const bytes_t &sps, int expected_bits)
{
    bytes_t out(sps.size() * 3 / 2 + 2);
    int bits = 0;
    int n = h264_widen_sps(sps.data(), sps.size(), &bits, out.data(), out.size());
    REQUIRE(n > 0);
    CHECK(bits == expected_bits);
    out.resize((size_t)n);
    return out;
}

bytes_t widened_slice(const bytes_t &slice, uint32_t frame_num)
{
    bytes_t out(slice.size() + 4);
    int n = h264_widen_slice(slice.data(), slice.size(), 4, frame_num, out.data(), out.size());
    REQUIRE(n > 0);
    out.resize((size_t)n);
    return out;
}

// After 67 42 00 1e: sps id 1, log2_max_frame_num_minus4 1, poc type 011, reference frames 00101,
// gaps 0, width 0001010, height 00110, frames only 1, 8x8 inference 1, cropping 0, vui 0, stop 1.
const bytes_t baseline = {0x67, 0x42, 0x00, 0x1e, 0xd9, 0x42, 0x8d, 0x90};
// The same with 8 for log2_max_frame_num_minus4, 0001001, and gaps 1.
const bytes_t baseline_wide = {0x67, 0x42, 0x00, 0x1e, 0x89, 0x65, 0x8a, 0x36, 0x40};

} // namespace

TEST_CASE("an SPS gets more bits and allows gaps")
{
    CHECK(widened_sps(baseline, 4) == baseline_wide);
}

TEST_CASE("a high profile SPS with a guard byte")
{
    // As x264 writes it for 320x180: 42 c0 aa are the id, chroma format, depths; the VUI has 00 00
    // 03 00.
    bytes_t high = {0x67, 0x64, 0x00, 0x0d, 0xac, 0xd9, 0x41, 0x41, 0x9f, 0x9f, 0x01, 0x10, 0x00,
                    0x00, 0x03, 0x00, 0x10, 0x00, 0x00, 0x03, 0x03, 0xc0, 0xf1, 0x42, 0x99, 0x60};
    bytes_t wide = widened_sps(high, 4);
    // d9 41 = 1 1 011 00101 0 00001: log2_max_frame_num_minus4, poc type, its bits, reference
    // frames, gaps. The first 1 becomes 0001001, the 0 after 00101 a 1.
    CHECK(bytes_t(wide.begin() + 4, wide.begin() + 8) == bytes_t{0xac, 0x13, 0x65, 0x85});
    for (size_t i = 2; i < wide.size(); i++)
        CHECK_FALSE((wide[i - 2] == 0 && wide[i - 1] == 0 && wide[i] < 3));
}

TEST_CASE("a unit that is not an SPS")
{
    uint8_t out[64];
    int bits;
    for (size_t len = 0; len < 6; len++)
        CHECK(h264_widen_sps(baseline.data(), len, &bits, out, sizeof(out)) == ERR_MALFORMED);
    // log2_max_frame_num 12 could only become 20; 16 is the limit.
    CHECK(h264_widen_sps(baseline_wide.data(), 9, &bits, out, sizeof(out)) == ERR_MALFORMED);
    bytes_t pps = baseline;
    pps[0] = 0x68;
    CHECK(h264_widen_sps(pps.data(), pps.size(), &bits, out, sizeof(out)) == ERR_MALFORMED);
    CHECK(h264_widen_sps(baseline.data(), baseline.size(), &bits, out, 8) == ERR_FULL);
    bytes_t big(H264_MAX_SPS + 1, 0x67);
    CHECK(h264_widen_sps(big.data(), big.size(), &bits, out, sizeof(out)) == ERR_TOO_BIG);
}

TEST_CASE("a slice's frame_num gets more bits, the rest is copied")
{
    // 41, then first_mb 1, slice_type 00110, pps 1, frame_num 0101, 5 more bits 10101.
    struct {
        bytes_t in;
        uint32_t frame_num;
        bytes_t out;
    } table[] = {
        {{0x41, 0x9a, 0xb5, 0x12, 0x34}, 0x005, {0x41, 0x9a, 0x00, 0xb5, 0x12, 0x34}},
        {{0x41, 0x9a, 0xb5, 0x12, 0x34}, 0x035, {0x41, 0x9a, 0x06, 0xb5, 0x12, 0x34}},
        {{0x41, 0x9a, 0xb5, 0x12, 0x34}, 0xff5, {0x41, 0x9b, 0xfe, 0xb5, 0x12, 0x34}},
        // Guards stay, come and go: 00 00 03 01 is 00 00 01.
        {{0x41, 0x9a, 0xb5, 0, 0, 3, 1}, 0x035, {0x41, 0x9a, 0x06, 0xb5, 0, 0, 3, 1}},
        {{0x41, 0x9a, 0x00, 0x01, 0x80}, 0x000, {0x41, 0x9a, 0x00, 0x00, 3, 0x01, 0x80}},
        {{0x41, 0x9a, 0x00, 0x00, 3, 0x01}, 0x000, {0x41, 0x9a, 0, 0, 3, 0x00, 0x01}},
        // An IDR: first_mb 1, slice_type 0001000, pps 1, frame_num 0000, 111.
        {{0x65, 0x88, 0x87, 0xff}, 0x000, {0x65, 0x88, 0x80, 0x07, 0xff}},
    };
    for (auto &row : table)
        CHECK(widened_slice(row.in, row.frame_num) == row.out);
}

TEST_CASE("a unit that is not a slice")
{
    uint8_t out[64];
    bytes_t slice = {0x41, 0x9a, 0xb5, 0x12};
    CHECK(h264_widen_slice(slice.data(), 4, 4, 6, out, sizeof(out)) == ERR_MALFORMED); // it is 5
    CHECK(h264_widen_slice(slice.data(), 2, 4, 5, out, sizeof(out)) == ERR_MALFORMED);
    CHECK(h264_widen_slice(slice.data(), 0, 4, 5, out, sizeof(out)) == ERR_MALFORMED);
    CHECK(h264_widen_slice(slice.data(), 4, 4, 5, out, 4) == ERR_FULL);
    slice[0] = 0x06;
    CHECK(h264_widen_slice(slice.data(), 4, 4, 5, out, sizeof(out)) == ERR_MALFORMED);
}

TEST_CASE("any bytes give a result")
{
    rng r = rng_seeded(7);
    uint8_t out[256];
    for (int round = 0; round < 20000; round++) {
        bytes_t in(rng_below(&r, 40));
        for (uint8_t &b : in)
            b = rng_below(&r, 3) ? (uint8_t)rng_u64(&r) : 0;
        if (!in.empty())
            in[0] = round % 2 ? 0x67 : 0x65;
        if (in.size() > 1 && round % 4 == 1)
            in[1] = 100;
        int bits;
        int n = h264_widen_sps(in.data(), in.size(), &bits, out, sizeof(out));
        CHECK((n > 0 || n == ERR_MALFORMED));
        n = h264_widen_slice(in.data(), in.size(), 4, 0, out, sizeof(out));
        CHECK((n > 0 || n == ERR_MALFORMED));
    }
}

TEST_CASE("the format of the samples in an SPS")
{
    // Behind the level: ue(0) of the set 1, chroma format and depths.
    const struct {
        bytes_t sps;
        int err, chroma_format, luma_bits, chroma_bits;
    } rows[] = {
        {baseline, 0, 1, 8, 8},
        {{0x67, 77, 0, 30, 0x80, 0, 0}, 0, 1, 8, 8},
        {{0x67, 100, 0, 30, 0xac, 0, 0}, 0, 1, 8, 8},                   // 1 010 1 1 0 0
        {{0x67, 100, 0, 30, 0xf0, 0, 0}, 0, 0, 8, 8},                   // 1 1 1 1 0 0
        {{0x67, 122, 0, 30, 0xb6, 0x80, 0x80}, 0, 2, 10, 9},            // 1 011 011 010 0 0
        {{0x67, 244, 0, 30, 0x90, 0x73, 0x90}, 0, 3, 14, 14},           // 1 00100 0 00111 00111 0 0
        {{0x67, 244, 0, 30, 0x90, 0x22, 0x80}, ERR_MALFORMED, 0, 0, 0}, // 7 + 8 bits
        {{0x67, 100, 0, 30, 0x97, 0x20, 0x80}, ERR_MALFORMED, 0, 0, 0}, // chroma format 4
        {{0x67, 100, 0, 30, 1}, ERR_MALFORMED, 0, 0, 0},                // cut off
    };
    for (auto &row : rows) {
        CAPTURE(row.sps);
        h264_format f{};
        CHECK(h264_sps_format(row.sps.data(), row.sps.size(), &f) == row.err);
        if (row.err)
            continue;
        CHECK(f.chroma_format == row.chroma_format);
        CHECK(f.luma_bits == row.luma_bits);
        CHECK(f.chroma_bits == row.chroma_bits);
    }
}

TEST_CASE("the size in an SPS")
{
    int width = 0, height = 0;
    CHECK(h264_sps_size(baseline.data(), baseline.size(), &width, &height) == 0);
    // width 0001010 is 9, height 00110 is 5: 10 x 6 macroblocks
    CHECK(width == 160);
    CHECK(height == 96);
    // Of x264: 320x180 is 20 x 12 macroblocks, of which the last 12 rows are cut.
    const bytes_t high = {0x67, 0x64, 0x00, 0x0d, 0xac, 0xd9, 0x41, 0x41, 0x9f,
                          0x9f, 0x01, 0x10, 0x00, 0x00, 0x03, 0x00, 0x10, 0x00,
                          0x00, 0x03, 0x03, 0xc0, 0xf1, 0x42, 0x99, 0x60};
    CHECK(h264_sps_size(high.data(), high.size(), &width, &height) == 0);
    CHECK(width == 320);
    CHECK(height == 180);
    for (size_t len = 0; len < 7; len++)
        CHECK(h264_sps_size(baseline.data(), len, &width, &height) == ERR_MALFORMED);
    CHECK(h264_sps_size(bytes_t{0x68, 1, 2, 3, 4, 5}.data(), 6, &width, &height) == ERR_MALFORMED);
    CHECK(h264_sps_size(bytes_t(2000, 0x67).data(), 2000, &width, &height) == ERR_TOO_BIG);
}

TEST_CASE("an SPS that says that no picture is reordered")
{
    // libx264's, 64x48: high profile without B frames (max_num_reorder_frames 0) and with two, and
    // its baseline profile.
    const struct {
        bytes_t sps;
        bool may;
    } rows[] = {
        {{0x67, 0x64, 0x00, 0x0a, 0xac, 0xb2, 0x08, 0xf6, 0x02, 0x20, 0x00,
          0x00, 0x03, 0x00, 0x20, 0x00, 0x00, 0x06, 0x41, 0xe2, 0x44, 0xc9},
         false},
        {{0x67, 0x64, 0x00, 0x0a, 0xac, 0xd9, 0x44, 0x7b, 0x01, 0x10, 0x00, 0x00,
          0x03, 0x00, 0x10, 0x00, 0x00, 0x03, 0x03, 0x20, 0xf1, 0x22, 0x59, 0x60},
         true},
        {{0x67, 0x64, 0x00, 0x0b, 0xac, 0xb2, 0x08, 0xf6, 0x02, 0xd4, 0x04, 0x08, 0x09,
          0x00, 0x00, 0x03, 0x00, 0x01, 0x00, 0x00, 0x03, 0x00, 0x32, 0x60, 0x40, 0x03,
          0x0d, 0x40, 0x06, 0x1a, 0xe4, 0xc3, 0x00, 0x78, 0xa1, 0x52, 0x40},
         false},
        {baseline, false},
        {{0x67, 0x64, 0, 10}, true},
        {{0x68, 0xce, 0x3c, 0x80, 0}, true},
    };
    for (const auto &row : rows) {
        CAPTURE(row.sps.size());
        CHECK(h264_may_reorder(row.sps.data(), row.sps.size()) == row.may);
        for (size_t len = 0; len < row.sps.size(); len++) // no end is read over
            (void)h264_may_reorder(bytes_t(row.sps.begin(), row.sps.begin() + (long)len).data(),
                                   len);
    }
}

TEST_CASE("B slices")
{
    // After the header: first_mb_in_slice 0 (1), then slice_type: 0 P (1), 1 B (010), 2 I (011),
    // 5 P (00110), 6 B (00111), 7 I (0001000).
    const struct {
        bytes_t slice;
        bool is_b;
    } rows[] = {{{0x41, 0xc0}, false},
                {{0x01, 0xa0}, true},
                {{0x01, 0xb0}, false},
                {{0x41, 0x98}, false},
                {{0x01, 0x9c}, true},
                {{0x01, 0x88}, false},
                {{0x65, 0xa0}, false},
                {{0x06, 0xa0}, false},
                {{0x01}, false},
                {{0x01, 0x00}, false},
                {{}, false}};
    for (const auto &row : rows)
        CHECK(h264_is_b_slice(row.slice.data(), row.slice.size()) == row.is_b);
}
