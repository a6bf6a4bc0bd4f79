// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/picture/picture_fit.h"

#include <catch2/catch.hpp>

#include <cstring>

#include "media/picture/picture.h"

TEST_CASE("picture fit: the place of a picture with another shape")
{
    const struct {
        int width, height, box_width, box_height; // of the picture, and of what it stands in
        int x, y, w, h;
    } rows[] = {
        {1280, 720, 1280, 720, 0, 0, 1280, 720},
        {640, 360, 1280, 720, 0, 0, 1280, 720},  // the same shape
        {1366, 768, 1280, 720, 0, 0, 1280, 720}, // but for what rounding does
        {3440, 1440, 1920, 804, 0, 0, 1920, 804},
        {640, 480, 1280, 720, 160, 0, 960, 720},     // 4:3 in 16:9: beside it 160 each
        {1280, 720, 640, 480, 0, 60, 640, 360},      // and the reverse
        {1080, 1920, 1920, 1080, 656, 0, 608, 1080}, // a screen that was turned
        {16384, 2, 640, 480, 0, 238, 640, 2},
        {2, 16384, 640, 480, 318, 0, 2, 480},
    };
    for (const auto &row : rows) {
        CAPTURE(row.width, row.height);
        picture_place p = picture_fit_place(row.width, row.height, row.box_width, row.box_height);
        CHECK((p.x == row.x && p.y == row.y && p.width == row.w && p.height == row.h));
        CHECK((p.x + p.width <= row.box_width && p.y + p.height <= row.box_height));
    }
}

TEST_CASE("picture fit: the size inside Weir")
{
    const struct {
        int width, height, num, den; // of the file, and of a pixel
        int w, h;
        bool fits;
    } rows[] = {
        {1280, 720, 1, 1, 1280, 720, true},
        {1921, 1081, 1, 1, 1920, 1080, true}, // odd sizes are cut
        {3840, 2160, 1, 1, 3840, 2160, true},
        {2160, 3840, 1, 1, 2160, 3840, true},
        {4096, 2304, 1, 1, 4096, 2304, true},
        {7680, 4320, 1, 1, 4096, 2304, true},
        {4320, 7680, 1, 1, 2304, 4096, true},
        {8192, 1024, 1, 1, 4096, 512, true},
        {1440, 1080, 4, 3, 1920, 1080, true},
        {14, 90, 1, 1, 14, 90, false},
    };
    for (const auto &row : rows) {
        CAPTURE(row.width, row.height);
        int w, h;
        CHECK(picture_fit(row.width, row.height, row.num, row.den, &w, &h) == row.fits);
        CHECK((w == row.w && h == row.h));
    }
}

TEST_CASE("picture fit: borders are black, and nothing else is touched")
{
    picture *p = picture_new(96, 64);
    REQUIRE(p);
    for (bool whole : {true, false}) {
        for (int i = 0; i < 3; i++)
            memset(p->plane[i], 99, (size_t)p->stride[i] * (size_t)(p->height >> (i > 0)));
        uint8_t *plane[3];
        picture_place at = picture_place_in(p, whole ? 192 : 64, whole ? 128 : 64, plane);
        CAPTURE(whole);
        CHECK((at.x == (whole ? 0 : 16) && at.y == 0 && at.width == (whole ? 96 : 64)));
        CHECK(plane[0] == p->plane[0] + at.x);
        CHECK(plane[2] == p->plane[2] + at.x / 2);
        CHECK(p->plane[0][5 * p->stride[0] + 3] == (whole ? 99 : 16));
        CHECK(p->plane[1][5 * p->stride[1] + 3] == (whole ? 99 : 128));
    }
    picture_unref(p);
}
