// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "media/picture/picture.h"
#include "media/picture/quality.h"

#include <cstdlib>
#include <cstring>

namespace
{
void fill(picture *p, int y, int u, int v)
{
    memset(p->plane[0], y, (size_t)p->stride[0] * (size_t)p->height);
    memset(p->plane[1], u, (size_t)p->stride[1] * (size_t)p->height / 2);
    memset(p->plane[2], v, (size_t)p->stride[2] * (size_t)p->height / 2);
}
} // namespace

TEST_CASE("scaler: equal sizes are copied, labels carried over")
{
    scaler *s = scaler_new();
    picture *a = picture_new(66, 34), *b = picture_new(66, 34);
    fill(a, 77, 88, 99);
    a->number = 5;
    a->pts = 6;
    a->capture_wall = 7;
    REQUIRE(scaler_run(s, a, b) == 0);
    CHECK(quality_mse_y(a, b) == 0);
    CHECK(b->plane[1][b->stride[1] * 16 + 32] == 88);
    CHECK(b->plane[2][b->stride[2] * 16 + 32] == 99);
    CHECK(b->number == 5);
    CHECK(b->pts == 6);
    CHECK(b->capture_wall == 7);
    picture_unref(a);
    picture_unref(b);
    scaler_free(s);
}

TEST_CASE("scaler: flat pictures stay flat, at changing sizes")
{
    scaler *s = scaler_new();
    picture *a = picture_new(320, 180);
    fill(a, 200, 60, 190);
    const int sizes[][2] = {{160, 90}, {640, 360}, {106, 60}, {320, 90}, {426, 240}, {160, 90}};
    for (auto &size : sizes) {
        picture *b = picture_new(size[0], size[1]);
        fill(b, 0, 0, 0);
        REQUIRE(scaler_run(s, a, b) == 0);
        CHECK(b->plane[0][0] == 200);
        CHECK(b->plane[0][b->stride[0] * (size[1] - 1) + size[0] - 1] == 200);
        CHECK(b->plane[1][b->stride[1] * (size[1] / 2 - 1) + size[0] / 2 - 1] == 60);
        CHECK(b->plane[2][0] == 190);
        picture_unref(b);
    }
    picture_unref(a);
    scaler_free(s);
    scaler_free(nullptr);
}

TEST_CASE("scaler: halving takes means")
{
    scaler *s = scaler_new();
    picture *a = picture_new(64, 64), *b = picture_new(32, 32);
    fill(a, 50, 128, 128);
    for (int y = 0; y < 64; y++) {
        for (int x = y % 2; x < 64; x += 2)
            a->plane[0][y * a->stride[0] + x] = 150;
    }
    REQUIRE(scaler_run(s, a, b) == 0);
    for (int i = 0; i < 32; i++)
        CHECK(abs(b->plane[0][i * b->stride[0] + i] - 100) <= 1);
    picture_unref(a);
    picture_unref(b);
    scaler_free(s);
}
