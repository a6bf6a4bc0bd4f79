// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/rtp/nal_unpack.h"

#include <catch2/catch.hpp>
#include <vector>

#include "media/rtp/h264_payload.h"
#include "media/rtp/hevc_payload.h"

namespace
{

using bytes = std::vector<uint8_t>;

// What the format makes of the payloads; empty: one is not valid, or does not continue the others.
bytes unpacked(const payload_format &format, const std::vector<bytes> &payloads)
{
    bytes out(1000);
    unpacker count{}, write{};
    write.out = out.data();
    for (const bytes &p : payloads) {
        if (!format.is_valid(p.data(), p.size()) || !format.unpack(&count, p.data(), p.size()))
            return {};
        REQUIRE(format.unpack(&write, p.data(), p.size()));
    }
    REQUIRE(count.bytes == write.bytes);
    out.resize(write.bytes);
    return out;
}

} // namespace

TEST_CASE("NAL units: the end of a start code, also over pieces")
{
    const bytes data = {9, 0, 0, 1, 7, 0, 0, 0, 1, 8, 0, 1, 0, 0, 2, 0};
    const size_t ends[] = {4, 9, 0};
    for (size_t piece = 1; piece <= data.size(); piece++) {
        CAPTURE(piece);
        unsigned zeros = 0;
        size_t found = 0, at = 0;
        while (at < data.size()) {
            size_t len = std::min(piece - at % piece, data.size() - at);
            size_t end = nal_code_end(&zeros, data.data() + at, len);
            if (end)
                CHECK(at + end == ends[found++]);
            at += end ? end : len;
        }
        CHECK(found == 2);
        CHECK(zeros == 1);
    }
    const struct {
        bytes data;
        bool coded;
    } begins[] = {{{0, 0, 1, 7}, true},  {{0, 0, 0, 1}, true},    {{0, 0, 1}, true},
                  {{7, 0, 0, 1}, false}, {{0, 0, 2}, false},      {{0, 0}, false},
                  {{}, false},           {{0, 7, 0, 0, 1}, false}};
    for (const auto &b : begins)
        CHECK(nal_is_coded(b.data.data(), b.data.size()) == b.coded);
}

TEST_CASE("NAL units: a payload with start codes is split there")
{
    const bytes two = {0, 0, 0, 1, 0x67, 1, 2, 0, 0, 0, 1, 0x65, 3};
    const bytes hevc = {0, 0, 0, 1, 0x40, 1, 2, 0, 0, 0, 1, 0x26, 1, 3};
    const struct {
        const char *what;
        const payload_format *format;
        std::vector<bytes> payloads;
        bytes out;
    } rows[] = {
        {"a code between", &h264_payload_format, {{0x67, 1, 2, 0, 0, 1, 0x65, 3}}, two},
        {"of four bytes", &h264_payload_format, {{0x67, 1, 2, 0, 0, 0, 1, 0x65, 3}}, two},
        {"and before", &h264_payload_format, {{0, 0, 0, 1, 0x67, 1, 2, 0, 0, 1, 0x65, 3}}, two},
        {"zero bytes", &h264_payload_format, {{0x67, 1, 2, 0, 0, 0, 0, 0, 1, 0x65, 3}}, two},
        {"fragments",
         &h264_payload_format,
         {{0x7c, 0x87, 1, 2, 0}, {0x7c, 0x07, 0, 1}, {0x7c, 0x47, 0x65, 3}},
         two},
        {"a code before, in fragments",
         &h264_payload_format,
         {{0x1c, 0x80, 0, 0, 1, 0x67}, {0x1c, 0, 1, 2, 0, 0}, {0x1c, 0x40, 1, 0x65, 3}},
         two},
        {"aggregation",
         &h264_payload_format,
         {{0x78, 0, 7, 0, 0, 0, 1, 0x67, 1, 2, 0, 2, 0x65, 3}},
         two},
        {"a code of no unit", &h264_payload_format, {{0, 1, 0, 0, 1}}, {}},
        {"zero bytes at the end stay",
         &h264_payload_format,
         {{0x65, 3, 0, 0}},
         {0, 0, 0, 1, 0x65, 3, 0, 0}},
        {"00 00 03 is no code",
         &h264_payload_format,
         {{0x65, 0, 0, 3, 1}},
         {0, 0, 0, 1, 0x65, 0, 0, 3, 1}},
        {"HEVC: between", &hevc_payload_format, {{0x40, 1, 2, 0, 0, 1, 0x26, 1, 3}}, hevc},
        {"HEVC: before", &hevc_payload_format, {{0, 0, 1, 0x40, 1, 2, 0, 0, 1, 0x26, 1, 3}}, hevc},
        {"HEVC: fragments",
         &hevc_payload_format,
         {{0x62, 1, 0x80 | 32, 2, 0, 0}, {0x62, 1, 0x40 | 32, 1, 0x26, 1, 3}},
         hevc},
        {"HEVC: before, in fragments",
         &hevc_payload_format,
         {{0x62, 0, 0x80, 0, 1, 0x40, 1}, {0x62, 0, 0x40, 2, 0, 0, 1, 0x26, 1, 3}},
         hevc},
    };
    for (const auto &row : rows) {
        CAPTURE(row.what);
        CHECK(unpacked(*row.format, row.payloads) == row.out);
    }
}
