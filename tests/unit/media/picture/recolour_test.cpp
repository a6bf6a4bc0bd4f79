// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/picture/recolour.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <cstring>

namespace
{
const colour_space BT709 = {0.2126, 0.0722, false}, BT709_FULL = {0.2126, 0.0722, true};
const colour_space BT601 = {0.299, 0.114, false}, BT601_FULL = {0.299, 0.114, true};

struct flat { // a picture of 4 x 2
    uint8_t y[2][4], b[2], r[2];
    flat(int luma, int blue, int red)
    {
        memset(y, luma, sizeof(y));
        memset(b, blue, sizeof(b));
        memset(r, red, sizeof(r));
    }
    recolour_planes planes()
    {
        return {{y[0], b, r}, {4, 2, 2}};
    }
};
} // namespace

TEST_CASE("recolour: red, green, blue, white, grey and black in each matrix and range")
{
    // Y = Kr, Kg or Kb of 219 (full range: 255), above 16 (0); for green, Cb = 128 - 112 Kg / (1 -
    // Kb).
    const struct {
        const colour_space *space;
        int red[3], green[3], blue[3], white[3], grey[3], black[3];
    } table[] = {
        {&BT709,
         {63, 102, 240},
         {173, 42, 26},
         {32, 240, 118},
         {235, 128, 128},
         {126, 128, 128},
         {16, 128, 128}},
        {&BT709_FULL,
         {54, 99, 255},
         {182, 30, 12},
         {18, 255, 116},
         {255, 128, 128},
         {128, 128, 128},
         {0, 128, 128}},
        {&BT601,
         {81, 90, 240},
         {145, 54, 34},
         {41, 240, 110},
         {235, 128, 128},
         {126, 128, 128},
         {16, 128, 128}},
        {&BT601_FULL,
         {76, 85, 255},
         {150, 44, 21},
         {29, 255, 107},
         {255, 128, 128},
         {128, 128, 128},
         {0, 128, 128}},
    };
    for (const auto &in : table) {
        for (const auto &out : table) {
            const int *const from[] = {in.red, in.green, in.blue, in.white, in.grey, in.black};
            const int *const to[] = {out.red, out.green, out.blue, out.white, out.grey, out.black};
            recolour c;
            recolour_init(&c, in.space, out.space);
            for (int i = 0; i < 6; i++) {
                CAPTURE(in.space->kr, in.space->full_range, out.space->kr, out.space->full_range,
                        i);
                flat a(from[i][0], from[i][1], from[i][2]), b(0, 0, 0);
                recolour_planes source = a.planes(), target = b.planes();
                recolour_run(&c, &source, &target, 4, 2);
                for (int y = 0; y < 2; y++)
                    for (int x = 0; x < 4; x++)
                        CHECK(abs(b.y[y][x] - to[i][0]) <= 1);
                for (int x = 0; x < 2; x++) {
                    CHECK(abs(b.b[x] - to[i][1]) <= 1);
                    CHECK(abs(b.r[x] - to[i][2]) <= 1);
                }
            }
        }
    }
}

TEST_CASE("recolour: the same matrix and range changes nothing")
{
    for (const colour_space *space : {&BT709, &BT709_FULL, &BT601, &BT601_FULL}) {
        recolour c;
        recolour_init(&c, space, space);
        for (int v = 0; v < 256; v++) {
            flat a(v, 255 - v, v ^ 85), b(0, 0, 0);
            recolour_planes source = a.planes(), target = b.planes();
            recolour_run(&c, &source, &target, 4, 2);
            CHECK(
                (memcmp(a.y, b.y, 8) == 0 && memcmp(a.b, b.b, 2) == 0 && memcmp(a.r, b.r, 2) == 0));
        }
    }
}

TEST_CASE("recolour: each pixel has its own luma, and what leaves the range is clipped")
{
    recolour c;
    recolour_init(&c, &BT709, &BT709_FULL); // y' = (y - 16) 255 / 219
    flat a(16, 128, 128), b(0, 0, 0);
    const uint8_t in[2][4] = {{0, 15, 16, 17}, {125, 234, 236, 255}};
    const uint8_t out[2][4] = {{0, 0, 0, 1}, {127, 254, 255, 255}};
    memcpy(a.y, in, sizeof(in));
    a.b[1] = 0;
    a.r[1] = 255;
    recolour_planes source = a.planes(), target = b.planes();
    recolour_run(&c, &source, &target, 4, 2);
    for (int y = 0; y < 2; y++)
        for (int x = 0; x < 4; x++)
            CHECK(b.y[y][x] == out[y][x]);
    CHECK((b.b[0] == 128 && b.b[1] == 0));
    CHECK((b.r[0] == 128 && b.r[1] == 255));
}
