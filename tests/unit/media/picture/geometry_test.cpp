// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/picture/geometry.h"

#include <catch2/catch.hpp>

#include "common/base/err.h"

TEST_CASE("valid and invalid sizes with a rate")
{
    const struct {
        const char *text;
        int result, width, height, num, den;
    } table[] = {
        {"1280x720@30", 0, 1280, 720, 30, 1},
        {"640x360@30000/1001", 0, 640, 360, 30000, 1001},
        {"160x90@1", 0, 160, 90, 1, 1},
        {"4096x4096@240", 0, 4096, 4096, 240, 1},
        {"158x90@30", ERR_RANGE, 0, 0, 0, 0},
        {"1281x720@30", ERR_RANGE, 0, 0, 0, 0},
        {"1280x720@241", ERR_RANGE, 0, 0, 0, 0},
        {"1280x720@1/2", ERR_RANGE, 0, 0, 0, 0},
        {"1280x720@30/1002", ERR_RANGE, 0, 0, 0, 0},
        {"1280x720", ERR_MALFORMED, 0, 0, 0, 0},
        {"1280x720@30 ", ERR_MALFORMED, 0, 0, 0, 0},
        {"-1280x720@30", ERR_MALFORMED, 0, 0, 0, 0},
        {"1280x0@30", ERR_MALFORMED, 0, 0, 0, 0},
        {"", ERR_MALFORMED, 0, 0, 0, 0},
    };
    for (const auto &row : table) {
        INFO(row.text);
        geometry g;
        CHECK(geometry_parse(row.text, &g) == row.result);
        if (row.result == 0) {
            CHECK(g.width == row.width);
            CHECK(g.height == row.height);
            CHECK(g.fps.num == row.num);
            CHECK(g.fps.den == row.den);
        }
    }
}
