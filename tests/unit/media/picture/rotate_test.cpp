// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "media/picture/rotate.h"

TEST_CASE("rotate: quarters of a picture of 4 x 2")
{
    picture *p = picture_new(4, 2), *flat = picture_new(4, 2), *tall = picture_new(2, 4);
    for (int i = 0; i < 8; i++)
        p->plane[0][i / 4 * p->stride[0] + i % 4] = (uint8_t)i;
    for (int plane = 1; plane < 3; plane++) {
        p->plane[plane][0] = 100;
        p->plane[plane][1] = 200;
    }
    //  0 1 2 3   quarter:  4 0    half:  7 6 5 4   three:  3 7
    //  4 5 6 7             5 1           3 2 1 0           2 6
    //                      6 2                             1 5
    //                      7 3                             0 4
    const int quarter[] = {4, 0, 5, 1, 6, 2, 7, 3}, half[] = {7, 6, 5, 4, 3, 2, 1, 0};
    const int three[] = {3, 7, 2, 6, 1, 5, 0, 4};
    rotate_run(p, 1, tall);
    for (int i = 0; i < 8; i++)
        CHECK(tall->plane[0][i / 2 * tall->stride[0] + i % 2] == quarter[i]);
    CHECK(tall->plane[1][0] == 100);
    CHECK(tall->plane[1][tall->stride[1]] == 200);
    rotate_run(p, 2, flat);
    for (int i = 0; i < 8; i++)
        CHECK(flat->plane[0][i / 4 * flat->stride[0] + i % 4] == half[i]);
    CHECK(flat->plane[2][0] == 200);
    rotate_run(p, 3, tall);
    for (int i = 0; i < 8; i++)
        CHECK(tall->plane[0][i / 2 * tall->stride[0] + i % 2] == three[i]);
    CHECK(tall->plane[1][0] == 200);
    picture_unref(p);
    picture_unref(flat);
    picture_unref(tall);
}
