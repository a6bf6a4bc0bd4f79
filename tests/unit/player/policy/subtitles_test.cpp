// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/subtitles.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <string>

static std::string shown(const subtitles &s, double position)
{
    char text[SUBTITLE_BYTES];
    subtitles_text(&s, position, text);
    return text;
}

static void receive(subtitles *s, const std::string &body)
{
    subtitles_received(s, {body.data(), body.size()});
}

TEST_CASE("subtitles: off follows the last track")
{
    CHECK(subtitles_next(0, 2) == 1);
    CHECK(subtitles_next(1, 2) == 2);
    CHECK(subtitles_next(2, 2) == 0);
    CHECK(subtitles_next(0, 0) == 0);
    CHECK(subtitles_next(5, 2) == 0); // of another film
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

TEST_CASE("subtitles: what is received is shown; another track drops it")
{
    subtitles s = {};
    subtitles_choose(&s, 1);
    receive(
        &s,
        "subtitle: 1000 2000 one\r\nsubtitle: 1 bad\r\nlevel: 3\r\nsubtitle: 3000 4000 two\r\n");
    CHECK(shown(s, 1.5) == "one");
    CHECK(shown(s, 2.5) == "");
    CHECK(shown(s, 3.5) == "two");
    CHECK(shown(s, NAN) == "");
    subtitles_choose(&s, 1);
    CHECK(shown(s, 3.5) == "two");
    subtitles_choose(&s, 2);
    CHECK(shown(s, 3.5) == "");
    std::string many;
    for (int i = 0; i < 3 * SUBTITLE_CUES; i++)
        many += "subtitle: 0 1 x\r\n";
    receive(&s, many);
    CHECK(s.count == SUBTITLE_CUES);
    receive(&s, ""); // refused
    CHECK(s.count == 0);
}
