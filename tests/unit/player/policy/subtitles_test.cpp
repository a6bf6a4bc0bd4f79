// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/subtitles.h"

#include <catch2/catch.hpp>

#include <climits>

#include <cmath>
#include <string>

static void receive(subtitles *s, const std::string &body)
{
    subtitles_received(s, {body.data(), body.size()});
}

TEST_CASE("subtitles: off follows the last track")
{
    CHECK(subtitles_next(0, 2, 1) == 1);
    CHECK(subtitles_next(1, 2, 1) == 2);
    CHECK(subtitles_next(2, 2, 1) == 0);
    CHECK(subtitles_next(0, 0, 1) == 0);
    CHECK(subtitles_next(5, 2, 1) == 0); // of another film
    CHECK(subtitles_next(1, 2, 2) == 0);
    CHECK(subtitles_next(1, 2, -2) == 2);
    CHECK(subtitles_next(0, 2, INT_MAX) == INT_MAX % 3);
}

TEST_CASE("subtitles: the film's own choice unless the viewer chooses")
{
    static const struct {
        int chosen, shown, count, track;
    } rows[] = {{0, 0, 2, 0}, {0, 2, 2, 2}, {-1, 2, 2, 0},
                {1, 2, 2, 1}, {3, 2, 2, 0}, {0, 5, 2, 0}};
    for (const auto &row : rows)
        CHECK(subtitles_track(row.chosen, row.shown, row.count) == row.track);
}

TEST_CASE("subtitles: requested each second, and at once after a jump")
{
    subtitles s = {};
    subtitle_request r;
    CHECK_FALSE(subtitles_due(&s, 5, 0, &r)); // off
    subtitles_choose(&s, 2);
    CHECK_FALSE(subtitles_due(&s, NAN, 0, &r)); // no position yet
    REQUIRE(subtitles_due(&s, 5.25, 0, &r));
    CHECK(r.track == 2);
    CHECK(r.from == 5250 * USEC_PER_MSEC);
    subtitles_requested(&s, &r, 0);
    static const struct {
        double position;
        usec_t now;
        bool due;
    } rows[] = {{5.5, 250000, false},  {6.2, 999999, false}, {6.3, 1000000, true},
                {25.2, 500000, false}, {25.3, 500000, true}, {5.2, 500000, true},
                {-1, 500000, true}};
    for (const auto &row : rows)
        CHECK(subtitles_due(&s, row.position, row.now, &r) == row.due);
}

TEST_CASE("subtitles: the head is requested until it is there; another track drops all")
{
    static subtitles s = {};
    subtitle_request r;
    subtitles_choose(&s, 1);
    REQUIRE(subtitles_due(&s, 5, 0, &r));
    CHECK(r.head);
    receive(&s, "ass: 1000 2000 one\r\n"); // not read yet
    REQUIRE(subtitles_due(&s, 5, 0, &r));
    CHECK(r.head);
    receive(&s, "ass-head: [Script Info]\r\nass: 1000 2000 one\r\nass: 1 bad\r\nlevel: 3\r\n"
                "ass: 3000 4000 two\r\n");
    CHECK(s.set.count == 2);
    REQUIRE(subtitles_due(&s, 5, 0, &r));
    CHECK_FALSE(r.head);
    subtitles_choose(&s, 1);
    CHECK(s.set.count == 2);
    subtitles_requested(&s, &r, 0);
    subtitles_choose(&s, 2);
    CHECK(s.set.count == 0);
    CHECK(std::string(s.set.head).empty());
    receive(&s, "ass: 3000 4000 two\r\n"); // of the track before
    CHECK(s.set.count == 0);
    receive(&s, ""); // refused
    CHECK(s.set.count == 0);
}
