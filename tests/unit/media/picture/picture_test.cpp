// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "media/picture/picture.h"

#include <cstdlib>

TEST_CASE("picture: planes are aligned and do not overlap")
{
    const int sizes[][2] = {{2, 2}, {160, 90}, {320, 240}, {1280, 720}, {1366, 768}};
    for (auto &s : sizes) {
        picture *p = picture_new(s[0], s[1]);
        REQUIRE(p);
        CHECK(p->references == 1);
        for (int i = 0; i < 3; i++) {
            CHECK((uintptr_t)p->plane[i] % 32 == 0);
            CHECK(p->stride[i] % 32 == 0);
            CHECK(p->stride[i] >= (i ? s[0] / 2 : s[0]));
        }
        CHECK(p->plane[1] >= p->plane[0] + (ptrdiff_t)p->stride[0] * s[1]);
        CHECK(p->plane[2] >= p->plane[1] + (ptrdiff_t)p->stride[1] * (s[1] / 2));
        picture_unref(p);
    }
    CHECK(picture_new(1 << 20, 2) == nullptr);
}

TEST_CASE("picture: the last reference frees the planes, once")
{
    static int freed;
    freed = 0;
    picture *p = (picture *)calloc(1, sizeof(picture));
    p->references = 1;
    p->free_owner = [](picture *) { freed++; };
    CHECK(picture_ref(p) == p);
    picture_unref(p);
    CHECK(freed == 0);
    picture_unref(p);
    CHECK(freed == 1);
    picture_unref(nullptr);
}
