// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <string>

#include "media/pattern/pattern_picture.h"
#include "tests/unit/lab/watch/clip_file.hpp"

TEST_CASE("clip: raw pictures that carry their numbers")
{
    clip_file clip(width, height, 3);
    const std::string header = "YUV4MPEG2 W320 H720 F30:1 Ip A1:1 C420mpeg2 XCOLORRANGE=LIMITED\n";
    CHECK(clip.bytes.substr(0, header.size() + 6) == header + "FRAME\n");
    CHECK(clip.bytes.size() == header.size() + 3 * (6 + frame_bytes));
    struct picture *p = picture_new(width, height);
    std::string luma = clip.picture(2);
    for (int y = 0; y < height; y++)
        memcpy(p->plane[0] + y * p->stride[0], &luma[size_t(y) * width], width);
    CHECK(pattern_picture_read(p) == 2);
    picture_unref(p);
}

TEST_CASE("clip: a small source is enlarged to 720 lines, of even width")
{
    clip_file clip(258, 180, 1);
    CHECK(clip.bytes.substr(0, 20) == "YUV4MPEG2 W1032 H720");
    clip_file odd(242, 242, 1); // 720.0
    CHECK(odd.bytes.substr(0, 19) == "YUV4MPEG2 W720 H720");
    clip_file as_is(258, 180, 1, true);
    CHECK(as_is.bytes.substr(0, 19) == "YUV4MPEG2 W258 H180");
}
