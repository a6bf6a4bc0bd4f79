// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/source_note.h"

#include <catch2/catch.hpp>
#include <string>

namespace
{
std::string note(fps source, int width, int height, size_spec top, int temporal_id,
                 enum source_note why)
{
    struct ladder l {
    };
    l.source_fps = source;
    l.source_width = width;
    l.source_height = height;
    l.size_count = 2;
    l.sizes[0] = {256, 144, source, top.layers};
    l.sizes[1] = top;
    l.level_count = 2;
    l.levels[0] = {0, 0, 80000};
    l.levels[1] = {1, temporal_id, 1920000};
    char text[SOURCE_NOTE_TEXT] = "";
    return source_note(&l, why, text, sizeof(text)) ? text : "";
}
} // namespace

TEST_CASE("source note: none if viewers get all that the source has")
{
    CHECK(note({60, 1}, 1920, 1080, {1920, 1080, {60, 1}, 2}, 1, SOURCE_NOTE_SPEED) == "");
    CHECK(note({30000, 1001}, 640, 360, {640, 360, {30000, 1001}, 3}, 2, SOURCE_NOTE_SPEED) == "");
}

TEST_CASE("source note: what viewers get, why, and the option")
{
    std::string slow = note({60, 1}, 3840, 2160, {2560, 1440, {30, 1}, 2}, 1, SOURCE_NOTE_SPEED);
    CHECK(slow.find("viewers get at most 2560x1440 at 30 frames/s of the source's 3840x2160 at 60: "
                    "this machine encodes no more") == 0);
    CHECK(slow.find("--level") != std::string::npos);
    CHECK(slow.find("--prepare") != std::string::npos);
    // The size is the source's, the rate is not.
    CHECK(note({50, 1}, 1920, 1080, {1920, 1080, {25, 1}, 2}, 1, SOURCE_NOTE_SPEED)
              .find("1920x1080 at 25 frames/s of") != std::string::npos);
    // The top level leaves out the top layer.
    CHECK(note({60, 1}, 640, 360, {640, 360, {60, 1}, 2}, 0, SOURCE_NOTE_SPEED)
              .find("640x360 at 30 frames/s of") != std::string::npos);
    CHECK(
        note({60, 1}, 1280, 720, {1280, 720, {30, 1}, 3}, 2, SOURCE_NOTE_VP9).find("--codec vp9") !=
        std::string::npos);
    CHECK(note({25, 1}, 1920, 1080, {1280, 720, {25, 1}, 3}, 2, SOURCE_NOTE_PREPARED)
              .find("--prepare makes it anew") != std::string::npos);
}

TEST_CASE("source note: the longest text fits")
{
    for (enum source_note why :
         {SOURCE_NOTE_SPEED, SOURCE_NOTE_VP9, SOURCE_NOTE_TEST, SOURCE_NOTE_PREPARED})
        CHECK(note({120000, 1001}, 16384, 16384, {4096, 2304, {24000, 1001}, 2}, 1, why).size() <
              SOURCE_NOTE_TEXT - 1);
}
