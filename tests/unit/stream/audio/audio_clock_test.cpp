// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/audio/audio_clock.h"

#include <cstdlib>

#include <catch2/catch.hpp>

static const usec_t ms = USEC_PER_MSEC;

// Returns when media time `pts` is played.
static usec_t due(const struct audio_clock *c, usec_t pts)
{
    const struct media_clock *clock = audio_clock_get(c);
    REQUIRE(clock);
    return media_clock_due(clock, pts);
}

TEST_CASE("audio_clock: the first picture sets it, 10 ms after the picture")
{
    struct audio_clock c;
    audio_clock_init(&c);
    CHECK(!audio_clock_get(&c));
    audio_clock_picture(&c, 1000 * ms, 5000 * ms);
    CHECK(due(&c, 1000 * ms) == 5010 * ms);
    CHECK(due(&c, 1040 * ms) == 5050 * ms);
    audio_clock_unset(&c);
    CHECK(!audio_clock_get(&c));
    audio_clock_picture(&c, 1000 * ms, 5030 * ms); // sets it, near as it is
    CHECK(due(&c, 1000 * ms) == 5040 * ms);
}

TEST_CASE("audio_clock: a small error moves it by a sixteenth, a large one sets it")
{
    static const struct {
        int off;   // ms, of the second picture
        int moved; // us
    } table[] = {{0, 0},       {16, 1000},  {-16, -1000}, {80, 5000},
                 {-80, -5000}, {81, 81000}, {-81, -81000}};
    for (const auto &row : table) {
        struct audio_clock c;
        audio_clock_init(&c);
        audio_clock_picture(&c, 0, 5000 * ms);
        audio_clock_picture(&c, 40 * ms, (5040 + row.off) * ms);
        INFO(row.off);
        CHECK(due(&c, 40 * ms) == 5050 * ms + row.moved);
    }
}

TEST_CASE("audio_clock: jitter of the pictures moves it by only a few ms")
{
    struct audio_clock c;
    audio_clock_init(&c);
    srand48(7);
    for (int n = 0; n < 1000; n++) {
        usec_t shown = 5000 * ms + n * 40 * ms + (usec_t)(drand48() * 20000 - 10000);
        audio_clock_picture(&c, n * 40 * ms, shown);
        if (n >= 100)
            CHECK(llabs(due(&c, n * 40 * ms) - (5010 * ms + n * 40 * ms)) < 5 * ms);
    }
}

TEST_CASE("audio_clock: after underruns audio is played later, up to 200 ms")
{
    struct audio_clock c;
    audio_clock_init(&c);
    audio_clock_underruns(&c, 0);
    CHECK(c.delay == 10 * ms);
    audio_clock_underruns(&c, 3);
    CHECK(c.delay == 20 * ms);
    audio_clock_underruns(&c, 3);
    CHECK(c.delay == 20 * ms);
    for (int total = 4; total < 40; total++)
        audio_clock_underruns(&c, (uint64_t)total);
    CHECK(c.delay == 200 * ms);
    audio_clock_picture(&c, 0, 0);
    CHECK(due(&c, 0) == 200 * ms);
}
