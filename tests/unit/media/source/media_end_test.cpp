// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/media_end.h"

#include "tests/support/clip.h"

TEST_CASE("media_end: the end of the last packets") // of Matroska: tests/e2e/test_film_time.py
{
    clip_folder dir;
    clip c;
    c.pts = steady(50);
    c.codec = "libx264";
    clip_write(c, dir / "a.ts");
    usec_t end = media_end_find((dir / "a.ts").c_str(), nullptr);
    CHECK(end >= 1960000);
    CHECK(end < 2200000);
}

TEST_CASE("media_end: there is none without time stamps, or without media")
{
    clip_folder dir;
    clip c;
    c.codec = "libx264";
    c.pts = steady(5);
    clip_write(c, dir / "a.h264");
    std::ofstream(dir / "b.mkv") << "no media";
    for (const char *name : {"a.h264", "b.mkv", "missing.mkv"}) {
        CAPTURE(name);
        CHECK(media_end_find((dir / name).c_str(), nullptr) == USEC_NEVER);
    }
}
