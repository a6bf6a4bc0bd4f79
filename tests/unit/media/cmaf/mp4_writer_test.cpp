// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <string>

#include "media/cmaf/mp4_writer.h"
#include "tests/support/failing_alloc.hpp"

TEST_CASE("mp4_writer: boxes within boxes have their lengths")
{
    mp4_writer w{};
    mp4_box(&w, "moof");
    mp4_full_box(&w, "mfhd", 1, 0x020304);
    mp4_u32(&w, 0x01020304);
    mp4_end(&w);
    mp4_u8(&w, 0xaa);
    mp4_u16(&w, 0xbbcc);
    mp4_u64(&w, 0x1122334455667788);
    mp4_zeros(&w, 2);
    mp4_end(&w);
    const uint8_t expected[] = {
        0, 0, 0, 37, 'm', 'o',  'o',  'f',  0,    0,    0,    16,   'm',  'f',  'h',  'd',  1, 2, 3,
        4, 1, 2, 3,  4,   0xaa, 0xbb, 0xcc, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0, 0};
    REQUIRE_FALSE(w.failed);
    CHECK(std::string(w.data, w.data + w.len) ==
          std::string(expected, expected + sizeof(expected)));
    mp4_patch_u32(&w, 20, 7);
    CHECK(w.data[23] == 7);
    mp4_writer_destroy(&w);
    CHECK(w.len == 0);
}

TEST_CASE("mp4_writer: grows, and refuses what exceeds its limit")
{
    mp4_writer w{};
    std::string many(100000, 'x');
    for (int i = 0; i < 3; i++)
        mp4_bytes(&w, many.data(), many.size());
    CHECK(w.len == 300000);
    CHECK(w.data[299999] == 'x');
    mp4_zeros(&w, MP4_WRITER_MAX);
    CHECK(w.failed);
    CHECK(w.len == 300000);
    mp4_u8(&w, 1); // no effect
    CHECK(w.len == 300000);
    mp4_writer_destroy(&w);
}

TEST_CASE("mp4_writer: without memory it has failed, and what follows has no effect")
{
    mp4_writer w{};
    mp4_u32(&w, 7);
    const size_t before = w.len;
    failing_alloc_set(0);
    mp4_zeros(&w, w.cap); // needs more room
    CHECK(failing_alloc_end());
    CHECK(w.failed);
    mp4_box(&w, "moof");
    mp4_u8(&w, 1);
    mp4_u16(&w, 1);
    mp4_u32(&w, 1);
    mp4_u64(&w, 1);
    mp4_bytes(&w, "abc", 3);
    mp4_zeros(&w, 3);
    mp4_end(&w);
    mp4_patch_u32(&w, 0, 8);
    CHECK(w.len == before);
    CHECK(w.data[3] == 7);
    mp4_writer_destroy(&w);
    CHECK_FALSE(w.failed);
}
