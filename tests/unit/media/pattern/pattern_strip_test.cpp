// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/pattern/pattern_strip.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <cstring>

namespace
{

struct canvas {
    picture *p;

    canvas(int width, int height, uint8_t grey) : p(picture_new(width, height))
    {
        REQUIRE(p);
        memset(p->plane[0], grey, static_cast<size_t>(p->stride[0]) * static_cast<size_t>(height));
    }
    ~canvas()
    {
        picture_unref(p);
    }
    canvas(const canvas &) = delete;
    canvas &operator=(const canvas &) = delete;

    uint8_t &at(int x, int y)
    {
        return p->plane[0][y * p->stride[0] + x];
    }
};

} // namespace

TEST_CASE("pattern_strip: the low 32 bits of a number are read back, at every size")
{
    const int64_t numbers[] = {0, 1, 2, 255, 0x5555aaaa, 0x7fffffff, 0xffffffff};
    const int sizes[][2] = {{160, 90}, {256, 144}, {640, 360}, {1366, 768}, {1920, 1080}};
    for (auto &size : sizes) {
        for (int64_t n : numbers) {
            CAPTURE(size[0], n);
            canvas c(size[0], size[1], 128);
            pattern_strip_draw(n, c.p);
            CHECK(pattern_strip_read(c.p) == n);
        }
    }
    canvas c(640, 360, 128);
    pattern_strip_draw(0x123456789, c.p);
    CHECK(pattern_strip_read(c.p) == 0x23456789);
}

TEST_CASE("pattern_strip: number 1 in a picture of 400 x 200, computed by hand")
{
    canvas c(400, 200, 128);
    box all = pattern_strip_box(400, 200);
    CHECK((all.x == 20 && all.y == 172 && all.width == 360 && all.height == 20));
    pattern_strip_draw(1, c.p);
    // Gray code of 1: 31 zeros, then a one: cell 31 is column 11 of the second row.
    CHECK(c.at(20, 172) == 24);
    CHECK(c.at(20 + 18 * 11 - 1, 182) == 24);
    CHECK(c.at(20 + 18 * 11, 182) == 226);
    CHECK(c.at(20 + 18 * 12 - 1, 191) == 226);
    CHECK(c.at(19, 172) == 128); // nothing is drawn outside the box
    CHECK(c.at(380, 172) == 128);
    CHECK(c.at(20, 171) == 128);
    CHECK(c.at(20, 192) == 128);
}

TEST_CASE("pattern_strip: neighbours differ in one cell of the number")
{
    canvas a(400, 200, 128), b(400, 200, 128);
    for (int64_t n = 0; n < 64; n++) {
        pattern_strip_draw(n, a.p);
        pattern_strip_draw(n + 1, b.p);
        int different = 0;
        for (int i = 0; i < 32; i++) {
            int x = 29 + 18 * (i % 20), y = 177 + 10 * (i / 20);
            different += a.at(x, y) != b.at(x, y);
        }
        CHECK(different == 1);
    }
}

TEST_CASE("pattern_strip: a picture without a strip, and a strip with a wrong cell, have no number")
{
    for (int grey : {0, 24, 110, 125, 140, 226, 255}) {
        CAPTURE(grey);
        canvas c(400, 200, static_cast<uint8_t>(grey));
        CHECK(pattern_strip_read(c.p) == -1);
    }
    canvas tiny(16, 8, 226); // cells without a pixel
    CHECK(pattern_strip_read(tiny.p) == -1);
    for (int i = 0; i < 40; i++) {
        CAPTURE(i);
        canvas c(400, 200, 128);
        pattern_strip_draw(1000, c.p);
        int x = 20 + 18 * (i % 20), y = 172 + 10 * (i / 20);
        int opposite = c.at(x, y) == 24 ? 226 : 24;
        for (int row = y; row < y + 10; row++)
            memset(&c.at(x, row), opposite, 18);
        CHECK(pattern_strip_read(c.p) == -1); // CRC-8 finds each single error
    }
}
