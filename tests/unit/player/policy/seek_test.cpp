// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/seek.h"

#include <cmath>

#include <catch2/catch.hpp>

static const usec_t ms = USEC_PER_MSEC;

// A file of 100 s at 25 frames/s that plays from its beginning. Frame 1000 is at 0 s; frame 1050,
// at 2 s, is on the screen.
static struct seek playing()
{
    struct seek s;
    seek_init(&s, true, 25, 100);
    struct seek_place place = {.seconds = 0,
                               .first = 1000,
                               .show = 1000,
                               .sought = false,
                               .paused = false,
                               .scale = 1,
                               .awaited = -1};
    REQUIRE(seek_placed(&s, &place, -1) == SEEK_CONTINUES);
    usec_t wait;
    REQUIRE(!seek_shown(&s, 1050, 0, false, &wait));
    return s;
}

// The viewer seeks to 50 s at the time 1 s, and the server responds.
static struct seek placed()
{
    struct seek s = playing();
    REQUIRE(seek_to(&s, 50, 1000 * ms) == SEEK_WANTED);
    struct seek_place place = {.seconds = 50,
                               .first = 2240,
                               .show = 2250,
                               .sought = true,
                               .paused = false,
                               .scale = 1,
                               .awaited = -1};
    REQUIRE(seek_placed(&s, &place, 1060) == SEEK_JUMPS);
    return s;
}

TEST_CASE("seek: a film that plays before the response to PLAY comes plays on")
{
    struct {
        int64_t awaited;
        bool sought;
        enum seek_answer answer;
    } table[] = {{-1, false, SEEK_JUMPS}, // nothing is shown yet: not before frame 1010
                 {1000, false, SEEK_JUMPS},
                 {1001, false, SEEK_CONTINUES},
                 {1060, false, SEEK_CONTINUES},
                 {1060, true, SEEK_JUMPS}};
    for (const auto &row : table) {
        INFO("awaited " << row.awaited << ", sought " << row.sought);
        struct seek s;
        seek_init(&s, true, 25, 100);
        if (row.sought)
            REQUIRE(seek_to(&s, 10.4, 0) == SEEK_WANTED);
        const struct seek_place place = {.seconds = 10.4,
                                         .first = 1000,
                                         .show = 1010,
                                         .sought = row.sought,
                                         .paused = false,
                                         .scale = 1,
                                         .awaited = row.awaited};
        CHECK(seek_placed(&s, &place, 1060) == row.answer);
    }
}

TEST_CASE("seek: the position follows the pictures shown, and a file that begins again")
{
    struct seek s = playing();
    CHECK(seek_position(&s) == Approx(2));
    usec_t wait;
    seek_shown(&s, 1000 + 25 * 103, 0, false, &wait);
    CHECK(seek_position(&s) == Approx(3));
    seek_shown(&s, 990, 0, false, &wait); // before the first frame
    CHECK(seek_position(&s) == 0);
}

TEST_CASE(
    "seek: the key frame before the place counts as the first picture, the place ends the seek")
{
    struct seek s = placed();
    usec_t wait = 0;
    CHECK(!seek_shown(&s, 2239, 1050 * ms, true, &wait)); // from before the jump
    CHECK(seek_shown(&s, 2240, 1100 * ms, true, &wait));
    CHECK(wait == 100 * ms);
    CHECK(seek_base(&s) == 50);
    CHECK(!seek_must_pause(&s, true, SEEK_PAUSE_BUFFER));
    CHECK(!seek_shown(&s, 2250, 1400 * ms, true, &wait));
    CHECK(seek_position(&s) == Approx(50));
    CHECK(seek_must_pause(&s, true, SEEK_PAUSE_BUFFER));
    s = placed(); // the next seek shows its key frame again
    CHECK(seek_shown(&s, 2250, 1300 * ms, false, &wait));
    CHECK(wait == 300 * ms);
}

TEST_CASE("seek: live media, and a server that does not tell the place")
{
    struct seek s;
    seek_init(&s, false, 25, -1);
    CHECK(std::isnan(seek_position(&s)));
    CHECK(std::isnan(seek_base(&s)));
    CHECK(seek_to(&s, 5, 0) == SEEK_IMPOSSIBLE);
    CHECK(!seek_is_early(&s, 100));
    struct seek_place place = {.seconds = 1,
                               .first = 2,
                               .show = 2,
                               .sought = false,
                               .paused = false,
                               .scale = 1,
                               .awaited = -1};
    CHECK(seek_placed(&s, &place, -1) == SEEK_NOT_PLACED);

    seek_init(&s, true, 25, 100);
    CHECK(seek_to(&s, NAN, 0) == SEEK_PLACE_UNKNOWN); // a step from nowhere
    CHECK(!seek_is_early(&s, 100));
    place.show = -1;
    CHECK(seek_placed(&s, &place, -1) == SEEK_NOT_PLACED);
    place = {.seconds = NAN,
             .first = 2,
             .show = 2,
             .sought = false,
             .paused = false,
             .scale = 1,
             .awaited = -1};
    CHECK(seek_placed(&s, &place, -1) == SEEK_NOT_PLACED);
    CHECK(std::isnan(seek_position(&s)));
}

TEST_CASE("seek: requests stay within the file, and steps count from the last request")
{
    static const struct {
        double request, to;
    } table[] = {{-5, 0}, {0, 0}, {50, 50}, {99.96, 99.96}, {99.97, 99.96}, {1e9, 99.96}};
    for (const auto &row : table) {
        struct seek s = playing();
        REQUIRE(seek_to(&s, row.request, 0) == SEEK_WANTED);
        CHECK(s.to == Approx(row.to));
        CHECK(seek_base(&s) == Approx(row.to));
        CHECK(seek_position(&s) == Approx(2)); // until it is shown
    }
}

TEST_CASE("seek: ends when the frame of its place is shown")
{
    struct seek s = placed();
    CHECK(seek_position(&s) == Approx(50));
    usec_t wait = 0;
    CHECK(!seek_shown(&s, 1061, 1100 * ms, false, &wait)); // from before the jump
    CHECK(seek_position(&s) == Approx(50));
    CHECK(seek_shown(&s, 2250, 1300 * ms, false, &wait));
    CHECK(wait == 300 * ms);
    CHECK(!seek_shown(&s, 2251, 1340 * ms, false, &wait));
    CHECK(seek_position(&s) == Approx(50.04));
    CHECK(!seek_must_pause(&s, false, 0));
}

TEST_CASE("seek: a server that stays where it is, or goes elsewhere, has not sought")
{
    static const struct {
        double seconds;
        int64_t first;
        enum seek_answer answer;
    } table[] = {
        {50, 2250, SEEK_JUMPS},        {49.51, 2250, SEEK_JUMPS},    {50.49, 2250, SEEK_JUMPS},
        {49.5, 2250, SEEK_NOT_PLACED}, {2.4, 1060, SEEK_NOT_PLACED}, {50, -1, SEEK_NOT_PLACED},
    };
    for (const auto &row : table) {
        struct seek s = playing();
        seek_to(&s, 50, 0);
        struct seek_place place = {.seconds = row.seconds,
                                   .first = row.first,
                                   .show = 2250,
                                   .sought = true,
                                   .paused = false,
                                   .scale = 1,
                                   .awaited = -1};
        INFO(row.seconds << " " << row.first);
        CHECK(seek_placed(&s, &place, 1060) == row.answer);
        bool over = row.answer == SEEK_NOT_PLACED;
        CHECK((s.phase == seek::SEEK_IDLE) == over);
        CHECK(seek_base(&s) == Approx(over ? 2 : 50));
    }
    struct seek s = playing();
    seek_to(&s, 50, 0);
    seek_refused(&s);
    CHECK(seek_base(&s) == Approx(2));
}

TEST_CASE("seek: PLAY after a pause continues, unless the stream has moved on meanwhile")
{
    static const struct {
        int64_t first, show;
        enum seek_answer answer;
    } table[] = {
        {1061, 1061, SEEK_CONTINUES},
        {1072, 1072, SEEK_CONTINUES}, // 0.48 s
        {1073, 1073, SEEK_JUMPS},     // 0.52 s
        {1050, 1061, SEEK_JUMPS},     // frames before `show` serve to decode it
    };
    for (const auto &row : table) {
        struct seek s = playing();
        struct seek_place place = {.seconds = 2.4,
                                   .first = row.first,
                                   .show = row.show,
                                   .sought = false,
                                   .paused = true,
                                   .scale = 1,
                                   .awaited = -1};
        INFO(row.first);
        CHECK(seek_placed(&s, &place, 1060) == row.answer);
        CHECK(s.phase == seek::SEEK_IDLE);
        s = playing();
        place.paused = false; // another speed: frames before `first` are still on their way
        CHECK(seek_placed(&s, &place, 1060) == SEEK_CONTINUES);
    }
}

TEST_CASE("seek: within a pause the server is paused again once there is enough to resume with")
{
    struct seek s = placed();
    usec_t wait;
    CHECK(seek_shown(&s, 2250, 1300 * ms, true, &wait));
    CHECK(!seek_must_pause(&s, true, SEEK_PAUSE_BUFFER - 1));
    CHECK(seek_must_pause(&s, true, SEEK_PAUSE_BUFFER));
    CHECK(!seek_must_pause(&s, true, SEEK_PAUSE_BUFFER)); // once

    s = placed();
    CHECK(seek_shown(&s, 2250, 1300 * ms, true, &wait));
    CHECK(!seek_must_pause(&s, false, 0)); // the viewer has resumed before that
    CHECK(!seek_must_pause(&s, true, SEEK_PAUSE_BUFFER));
}

TEST_CASE("seek: media that ends before its file")
{
    static const struct {
        double brought; // seconds
        bool early;
    } table[] = {{0.5, false}, {1, false}, {1.04, true}, {50, true}, {96.96, true}, {97, false}};
    for (const auto &row : table) {
        struct seek s = playing();
        INFO(row.brought);
        CHECK(seek_is_early(&s, 1000 + (int64_t)llround(row.brought * 25)) == row.early);
    }
}

TEST_CASE("seek: a request during an attempt to connect is repeated unless PLAY began there")
{
    static const struct {
        double began; // NaN: the server does not tell
        bool again;
    } table[] = {{50, false}, {50.4, false}, {2, true}, {NAN, true}};
    for (const auto &row : table) {
        struct seek s;
        seek_init(&s, true, 25, 100);
        seek_to(&s, 50, 0);
        s.known = !std::isnan(row.began);
        s.seconds = row.began;
        INFO(row.began);
        CHECK(seek_again(&s) == row.again);
        CHECK((s.phase == seek::SEEK_REQUESTED) == row.again);
    }
    struct seek s = playing();
    CHECK(!seek_again(&s));
}

TEST_CASE("seek: the position at other scales, forwards and backwards")
{
    struct seek s = playing();
    usec_t wait;
    REQUIRE(seek_scale(&s, 4, 1000 * ms) == SEEK_WANTED);
    CHECK(s.to == Approx(2)); // where the picture is
    CHECK(s.scales);
    // The server begins with the next key frame, whose distance is no reason to doubt it.
    struct seek_place place = {.seconds = 4,
                               .first = 1100,
                               .show = 1100,
                               .sought = true,
                               .paused = false,
                               .scale = 4,
                               .awaited = -1};
    REQUIRE(seek_placed(&s, &place, 1060) == SEEK_JUMPS);
    CHECK(seek_shown(&s, 1100, 1040 * ms, false, &wait));
    CHECK(wait == 40 * ms);
    seek_shown(&s, 1150, 0, false, &wait);
    CHECK(seek_position(&s) == Approx(6));
    CHECK(!seek_is_early(&s, 1150)); // the last key frame is before the end
    REQUIRE(seek_scale(&s, -8, 2000 * ms) == SEEK_WANTED);
    place = {.seconds = 6,
             .first = 1200,
             .show = 1200,
             .sought = true,
             .paused = false,
             .scale = -8,
             .awaited = -1};
    REQUIRE(seek_placed(&s, &place, 1160) == SEEK_JUMPS);
    seek_shown(&s, 1250, 0, false, &wait);
    CHECK(seek_position(&s) == Approx(4)); // 50 frames back
    seek_shown(&s, 1400, 0, false, &wait);
    CHECK(seek_position(&s) == 0);
    // A seek keeps the scale, and is none of the changes of the scale.
    REQUIRE(seek_to(&s, 30, 0) == SEEK_WANTED);
    CHECK(!s.scales);
    CHECK(s.wanted_scale == -8);
}

TEST_CASE("seek: steps of the scale, and a server that refuses")
{
    struct seek s = playing();
    const struct {
        double from;
        int steps;
        double to;
    } table[] = {{1, 1, 2},  {2, 1, 4},    {4, 1, 8},    {8, 1, 8},  {1, -1, -2},
                 {-2, 1, 1}, {-2, -1, -4}, {-8, -1, -8}, {2, -1, 1}, {-4, 2, 1}};
    for (const auto &row : table) {
        s.wanted_scale = row.from;
        CHECK(seek_scale_by(&s, row.steps) == row.to);
    }
    s.wanted_scale = 1;
    REQUIRE(seek_scale(&s, 2, 0) == SEEK_WANTED);
    CHECK(seek_scale_by(&s, 1) == 4); // two keys are two steps, before the response
    seek_refused(&s);
    CHECK(s.wanted_scale == 1);
    seek_init(&s, false, 25, -1);
    CHECK(seek_scale(&s, 2, 0) == SEEK_IMPOSSIBLE);
}

TEST_CASE("seek: scales that the server refused are counted, other seeks are not")
{
    const auto place = [](double scale, bool sought) {
        return seek_place{.seconds = 4,
                          .first = 100,
                          .show = 100,
                          .sought = sought,
                          .paused = false,
                          .scale = scale,
                          .awaited = -1};
    };
    seek s;
    seek_init(&s, true, 25, 60);
    const seek_place begin = place(1, false), other = place(1, true), granted = place(4, true);
    seek_placed(&s, &begin, -1);
    REQUIRE(seek_scale(&s, 4, 0) == SEEK_WANTED);
    seek_refused(&s);
    CHECK(s.scale_refusals == 1);
    REQUIRE(seek_scale(&s, 4, 0) == SEEK_WANTED);
    seek_placed(&s, &other, 100); // it answers that it plays at 1
    CHECK(s.scale_refusals == 2);
    REQUIRE(seek_scale(&s, 4, 0) == SEEK_WANTED);
    seek_placed(&s, &granted, 100);
    REQUIRE(seek_scale(&s, 1, 0) == SEEK_WANTED);
    seek_refused(&s); // it was no wish for another scale than 1
    REQUIRE(seek_to(&s, 10, 0) == SEEK_WANTED);
    seek_refused(&s);
    CHECK(s.scale_refusals == 2);
}
