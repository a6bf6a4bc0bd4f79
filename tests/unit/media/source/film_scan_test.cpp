// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/clip.h" // first: it includes libav as C

#include "media/source/film_scan.h"
#include "media/source/media_input.h"

namespace
{
film_scan scan(const std::string &path, bool clock_jumps)
{
    char reason[MEDIA_INPUT_REASON];
    int err;
    film_scan found;
    media_input *in = media_input_open(path.c_str(), nullptr, nullptr, reason, &err);
    REQUIRE(in);
    REQUIRE(media_input_probe(in, reason) == 0);
    film_scan_run(path.c_str(), media_input_format(in), 0, 25, clock_jumps, nullptr, &found);
    clock_marks_free(&found.marks);
    media_input_free(in);
    return found;
}
} // namespace

// Films with pulldown: tests/e2e/test_film_changes.py.
TEST_CASE("film_scan: the length of a film whose clock begins again")
{
    clip_folder dir;
    clip c;
    c.codec = "libx264";
    c.pts = steady(75);
    clip_write(c, dir / "part.ts");
    film_scan one = scan(dir / "part.ts", true);
    CHECK(one.cadence == CADENCE_NAMED);
    CHECK(usec_to_sec(one.length) == Approx(3).margin(0.1));
    std::ofstream both(dir / "both.ts", std::ios::binary);
    for (int i = 0; i < 2; i++)
        both << std::ifstream(dir / "part.ts", std::ios::binary).rdbuf();
    both.close();
    CHECK(usec_to_sec(scan(dir / "both.ts", true).length) == Approx(6).margin(0.1));
}

TEST_CASE("film_scan: where the container is right, nothing is read")
{
    clip_folder dir;
    clip c;
    c.pts = steady(10);
    clip_write(c, dir / "a.mp4");
    film_scan found = scan(dir / "a.mp4", false);
    CHECK(found.cadence == CADENCE_NAMED);
    CHECK(found.length == USEC_NEVER);
}
