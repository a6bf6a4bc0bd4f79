// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/policy/clip_times.h"

#include <catch2/catch.hpp>
#include <vector>

namespace
{

const usec_t MS = USEC_PER_MSEC;
const usec_t BEGIN = 1700000000 * USEC_PER_SEC;

// One group; times in milliseconds.
struct expectation {
    std::vector<int> wall, decode, show;
};

void check(clip_times &t, const expectation &e)
{
    std::vector<clip_picture> pictures;
    for (int ms : e.wall)
        pictures.push_back({BEGIN + ms * MS, 0, 0});
    clip_times_group(&t, pictures.data(), (int)pictures.size());
    std::vector<int> decode, show;
    for (const clip_picture &p : pictures) {
        decode.push_back((int)(p.decode / MS));
        show.push_back((int)(p.show / MS));
    }
    CHECK(decode == e.decode);
    CHECK(show == e.show);
}

} // namespace

TEST_CASE("clip_times: without B frames both times are the wall clock's")
{
    clip_times t = {};
    check(t, {{500, 540, 580}, {0, 40, 80}, {0, 40, 80}});
    CHECK(clip_times_audio(&t, BEGIN + 510 * MS) == 10 * MS);
    CHECK(clip_times_audio(&t, BEGIN + 490 * MS) < 0);
    check(t, {{620, 660}, {120, 160}, {120, 160}});
}

TEST_CASE(
    "clip_times: with B frames pictures are shown in the order of their times, decoded before")
{
    clip_times t = {};
    // I P B B P B B, then an open group: its first B frames are shown before its key frame.
    check(t, {{0, 120, 40, 80, 240, 160, 200},
              {0, 40, 80, 120, 160, 200, 240},
              {40, 160, 80, 120, 280, 200, 240}} /* delay: 40 */);
    check(t, {{360, 280, 320, 400}, {280, 320, 360, 400}, {400, 320, 360, 440}});
    CHECK(clip_times_audio(&t, BEGIN + 100 * MS) == 140 * MS);
}

TEST_CASE("clip_times: a gap is cut out, also one of a clock that was set back")
{
    clip_times t = {};
    check(t, {{0, 40, 80}, {0, 40, 80}, {0, 40, 80}});
    check(t, {{60080, 60120}, {120, 160}, {120, 160}});
    CHECK(clip_times_audio(&t, BEGIN + 60100 * MS) == 140 * MS);
    check(t, {{1000, 1040}, {200, 240}, {200, 240}});
    check(t, {{1080}, {280}, {280}});
}

TEST_CASE(
    "clip_times: times of one millisecond are moved apart, and an empty group changes nothing")
{
    clip_times t = {};
    check(t, {{0, 0, 40}, {0, 1, 40}, {0, 1, 40}});
    clip_times_group(&t, nullptr, 0);
    check(t, {{39, 80}, {41, 80}, {41, 80}});
}
