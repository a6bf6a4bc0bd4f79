// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <vector>

#include "media/picture/rotate.h"

namespace
{
picture *numbered() // 4 x 2, luma 0 .. 7, chroma 100 and 200
{
    picture *p = picture_new(4, 2);
    for (int i = 0; i < 8; i++)
        p->plane[0][i / 4 * p->stride[0] + i % 4] = (uint8_t)i;
    for (int plane = 1; plane < 3; plane++) {
        p->plane[plane][0] = 100;
        p->plane[plane][1] = 200;
    }
    return p;
}
} // namespace

TEST_CASE("rotate: quarters of a picture of 4 x 2")
{
    picture *p = numbered(), *flat = picture_new(4, 2), *tall = picture_new(2, 4);
    //  0 1 2 3   quarter:  4 0    half:  7 6 5 4   three:  3 7
    //  4 5 6 7             5 1           3 2 1 0           2 6
    //                      6 2                             1 5
    //                      7 3                             0 4
    const int quarter[] = {4, 0, 5, 1, 6, 2, 7, 3}, half[] = {7, 6, 5, 4, 3, 2, 1, 0};
    const int three[] = {3, 7, 2, 6, 1, 5, 0, 4};
    rotate_run(p, 1, false, tall);
    for (int i = 0; i < 8; i++)
        CHECK(tall->plane[0][i / 2 * tall->stride[0] + i % 2] == quarter[i]);
    CHECK(tall->plane[1][0] == 100);
    CHECK(tall->plane[1][tall->stride[1]] == 200);
    rotate_run(p, 2, false, flat);
    for (int i = 0; i < 8; i++)
        CHECK(flat->plane[0][i / 4 * flat->stride[0] + i % 4] == half[i]);
    CHECK(flat->plane[2][0] == 200);
    rotate_run(p, 3, false, tall);
    for (int i = 0; i < 8; i++)
        CHECK(tall->plane[0][i / 2 * tall->stride[0] + i % 2] == three[i]);
    CHECK(tall->plane[1][0] == 200);
    picture_unref(p);
    picture_unref(flat);
    picture_unref(tall);
}

TEST_CASE("rotate: a picture of 4 x 2 upside down, then turned")
{
    picture *p = numbered(), *flat = picture_new(4, 2), *tall = picture_new(2, 4);
    //  0 1 2 3   flipped:  4 5 6 7   quarter:  0 4   half:  3 2 1 0   three:  7 3
    //  4 5 6 7             0 1 2 3             1 5          7 6 5 4           6 2
    //                                          2 6                            5 1
    //                                          3 7                            4 0
    const struct {
        int quarters;
        std::vector<int> y;
        int first_u;
    } table[] = {
        {0, {4, 5, 6, 7, 0, 1, 2, 3}, 100},
        {1, {0, 4, 1, 5, 2, 6, 3, 7}, 100},
        {2, {3, 2, 1, 0, 7, 6, 5, 4}, 200},
        {3, {7, 3, 6, 2, 5, 1, 4, 0}, 200},
    };
    for (const auto &row : table) {
        CAPTURE(row.quarters);
        picture *to = row.quarters % 2 ? tall : flat;
        rotate_run(p, row.quarters, true, to);
        for (int i = 0; i < 8; i++)
            CHECK(to->plane[0][i / to->width * to->stride[0] + i % to->width] == row.y[(size_t)i]);
        CHECK(to->plane[1][0] == row.first_u);
    }
    picture_unref(p);
    picture_unref(flat);
    picture_unref(tall);
}
