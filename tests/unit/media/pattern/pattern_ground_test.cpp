// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/pattern/pattern_ground.h"

#include <catch2/catch.hpp>

namespace
{

const int WIDTH = 64, HEIGHT = 36;

struct ground {
    pattern_ground *g = pattern_ground_new(WIDTH, HEIGHT);
    picture *p = picture_new(WIDTH, HEIGHT);

    ground()
    {
        REQUIRE((g && p));
    }
    ~ground()
    {
        pattern_ground_free(g);
        picture_unref(p);
    }
    ground(const ground &) = delete;
    ground &operator=(const ground &) = delete;

    void draw(int x0, int y0, int x1, int y1)
    {
        const int x[] = {x0, x1}, y[] = {y0, y1};
        pattern_ground_draw(g, x, y, p);
    }
    int luma(int x, int y) const
    {
        return p->plane[0][y % HEIGHT * p->stride[0] + x % WIDTH];
    }
};

} // namespace

TEST_CASE("pattern_ground: both layers tile the plane: an equal offset of both moves the picture "
          "cyclically")
{
    ground a, b;
    a.draw(0, 0, 0, 0);
    for (auto [dx, dy] : {std::pair{2, 0}, {0, 2}, {10, 6}, {WIDTH - 2, HEIGHT - 2}}) {
        CAPTURE(dx, dy);
        b.draw(dx, dy, dx, dy);
        int different = 0;
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                different += b.luma(x, y) != a.luma(x + dx, y + dy);
        CHECK(different == 0);
    }
}

TEST_CASE("pattern_ground: layers that move apart give a picture that no motion predicts")
{
    ground a, b;
    a.draw(0, 0, 0, 0);
    b.draw(4, 0, 0, 4);
    for (int dx = 0; dx <= 4; dx += 2) {
        for (int dy = 0; dy <= 4; dy += 2) {
            CAPTURE(dx, dy);
            int different = 0;
            for (int y = 0; y < HEIGHT; y++)
                for (int x = 0; x < WIDTH; x++)
                    different += b.luma(x, y) != a.luma(x + dx, y + dy);
            CHECK(different > WIDTH * HEIGHT / 4);
        }
    }
}

TEST_CASE("pattern_ground: colours stay within the limited range, and vary")
{
    ground a;
    a.draw(7, 3, 1, 30);
    for (int plane = 0; plane < 3; plane++) {
        int low = 255, high = 0;
        for (int y = 0; y < (plane ? HEIGHT / 2 : HEIGHT); y++) {
            for (int x = 0; x < (plane ? WIDTH / 2 : WIDTH); x++) {
                int value = a.p->plane[plane][y * a.p->stride[plane] + x];
                low = value < low ? value : low;
                high = value > high ? value : high;
            }
        }
        CAPTURE(plane, low, high);
        CHECK(low >= 16);
        CHECK(high <= (plane ? 240 : 235));
        CHECK(high > low);
    }
}
