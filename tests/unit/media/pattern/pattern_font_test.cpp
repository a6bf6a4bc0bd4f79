// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/pattern/pattern_font.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace
{

const int HEIGHT = 64;

std::vector<uint8_t> drawn(char c, int height, uint8_t ink, uint8_t paper)
{
    int width = pattern_font_advance(c, height);
    std::vector<uint8_t> out(static_cast<size_t>(width) * static_cast<size_t>(height), 77);
    pattern_font_draw(c, height, ink, paper, out.data(), width);
    return out;
}

} // namespace

TEST_CASE("pattern_font: digits are equally wide, a width is the sum of advances")
{
    for (char c = '0'; c <= '9'; c++)
        CHECK(pattern_font_advance(c, HEIGHT) == 16 * 6 * HEIGHT / 160);
    CHECK(pattern_font_advance('#', HEIGHT) == pattern_font_advance(' ', HEIGHT));
    CHECK(pattern_font_width("", HEIGHT) == 0);
    CHECK(pattern_font_width("12:3", HEIGHT) ==
          3 * pattern_font_advance('0', HEIGHT) + pattern_font_advance(':', HEIGHT));
}

TEST_CASE("pattern_font: each glyph differs, has ink, and leaves the box's edges to the paper")
{
    std::vector<std::vector<uint8_t>> seen;
    for (char c : std::string("0123456789:.Wacefimprstux")) {
        CAPTURE(c);
        auto g = drawn(c, HEIGHT, 255, 0);
        CHECK(std::find(seen.begin(), seen.end(), g) == seen.end());
        CHECK(std::count(g.begin(), g.end(), 255) > 20);
        size_t width = g.size() / HEIGHT;
        for (size_t x = 0; x < width; x++)
            CHECK(g[x] == 0); // capitals and digits begin below the first row
        seen.push_back(g);
    }
}

TEST_CASE("pattern_font: a character without a glyph is paper")
{
    for (char c : {' ', '#', 'Z', '\xff'}) {
        auto g = drawn(c, HEIGHT, 200, 30);
        CHECK(std::count(g.begin(), g.end(), 30) == static_cast<long>(g.size()));
    }
}

TEST_CASE("pattern_font: ink darker than the paper is drawn as well")
{
    auto light = drawn('8', HEIGHT, 255, 0), dark = drawn('8', HEIGHT, 0, 255);
    for (size_t i = 0; i < light.size(); i++)
        CHECK(abs(light[i] + dark[i] - 255) <= 1);
}

TEST_CASE("pattern_font: a zero is the same upside down, and hollow")
{
    auto g = drawn('0', 160, 255, 0);
    size_t width = g.size() / 160;
    CHECK(width == 96);
    CHECK(g[70 * width + 48] == 0);   // the middle
    CHECK(g[70 * width + 18] == 255); // the left stroke, at column 3
    CHECK(g[70 * width + 78] == 255); // the right one, at column 13
    CHECK(g[10 * width + 48] == 0);
    CHECK(g[20 * width + 48] == 255);  // the top, at row 2
    CHECK(g[120 * width + 48] == 255); // the base line, at row 12
}
