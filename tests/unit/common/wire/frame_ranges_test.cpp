// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/frame_ranges.h"

#include <cstring>
#include <string>

#include "common/base/err.h"

static text text_of(const char *s)
{
    return {s, strlen(s)};
}

static std::string encoded(const frame_ranges &r)
{
    char out[FRAME_RANGES_TEXT];
    REQUIRE(frame_ranges_encode(&r, out, sizeof(out)) >= 0);
    return out;
}

TEST_CASE("frame_ranges: frames become ranges")
{
    frame_ranges r{};
    CHECK(encoded(r).empty());
    for (int64_t frame : {3, 4, 4, 5, 9})
        CHECK(frame_ranges_add(&r, FRAMES_VIDEO, frame));
    CHECK(encoded(r) == "video=3-5,9");
    CHECK(frame_ranges_add(&r, FRAMES_AUDIO, 7));
    CHECK(encoded(r) == "video=3-5,9 audio=7");
    CHECK(frame_ranges_have(&r, FRAMES_VIDEO, 4));
    CHECK_FALSE(frame_ranges_have(&r, FRAMES_VIDEO, 6));
    CHECK_FALSE(frame_ranges_have(&r, FRAMES_AUDIO, 4));
    const int64_t next[][2] = {{0, 3}, {3, 3}, {5, 5}, {6, 7}, {8, 9}, {10, -1}};
    for (auto &n : next)
        CHECK(frame_ranges_next(&r, n[0]) == n[1]);
}

TEST_CASE("frame_ranges: text is read, or refused")
{
    frame_ranges r;
    for (const char *good : {"", "video=0", "audio=5", "video=3-5,9 audio=7", "video=1,2,4-400"}) {
        INFO(good);
        REQUIRE(frame_ranges_decode(text_of(good), &r) == 0);
        CHECK(encoded(r) == good);
    }
    for (const char *bad :
         {"video", "video=", "video=5-3", "video=5,4", "video=1,1", "video=a", "frames=1",
          "video=1 video=2", "video=-1", "video=1;2", "video=99999999999999999999"}) {
        INFO(bad);
        CHECK(frame_ranges_decode(text_of(bad), &r) == ERR_MALFORMED);
    }
    std::string many = "video=0";
    for (int i = 1; i <= FRAME_RANGES_MAX; i++)
        many += "," + std::to_string(2 * i);
    CHECK(frame_ranges_decode(text_of(many.c_str()), &r) == ERR_MALFORMED);
}

TEST_CASE("frame_ranges: a full list refuses more, and fits its text")
{
    frame_ranges r{};
    for (int i = 0; i < FRAME_RANGES_MAX; i++) {
        REQUIRE(frame_ranges_add(&r, FRAMES_VIDEO, 100000000 + 3 * i));
        REQUIRE(frame_ranges_add(&r, FRAMES_AUDIO, 100000000 + 3 * i));
    }
    CHECK_FALSE(frame_ranges_add(&r, FRAMES_VIDEO, 900000000));
    CHECK(encoded(r).size() < 2 * FRAME_RANGES_MAX * 12);
}
