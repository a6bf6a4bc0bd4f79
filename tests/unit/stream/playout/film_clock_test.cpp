// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/film_clock.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "tests/support/playout_rig.hpp"

TEST_CASE("film_clock: a frame leaves decode_lead before it is due")
{
    playout_rig r(film_clock);
    r.push(0, true);
    r.push(1);
    r.begin(0, 1000);
    CHECK(r.at(900) == "wait 940");
    CHECK(r.at(940) == "show 1000");
    CHECK(r.take() == 0);
    CHECK(r.at(940) == "wait 1040");
    r.c.hurried = 1;
    CHECK(r.at(950) == "show 950");
}

TEST_CASE("film_clock: a missing frame is passed over when it is due, if a later one is held")
{
    playout_rig r(film_clock);
    r.push(0, true);
    r.begin(0, 1000);
    r.take();
    r.push(2);
    CHECK(r.at(1050) == "wait 1100");
    CHECK(r.at(1100) == "pass 1");
    CHECK(playout_buffer_pass(r.b, 1, 0));
    CHECK(r.at(1100) == "wait 1140");
    r.push(1); // late; none that depends on it was decoded
    CHECK(r.at(1110) == "decode");
}

TEST_CASE("film_clock: the buffer ran empty one interval after the frame was due, and since then")
{
    playout_rig r(film_clock);
    r.push(0, true);
    r.begin(0, 1000);
    r.take();
    CHECK(r.at(1099) == "wait 1100");
    CHECK(r.at(1100) == "wait 1200");
    CHECK(r.at(1200) == "stall 1100");
    CHECK(r.stalled(1300) == "wait");
    r.push(1);
    r.push(2);
    CHECK(r.stalled(1400, 300) == "wait"); // 200 ms are held
    r.push(3);
    CHECK(r.stalled(1500, 300) == "resume");
    CHECK(media_clock_due(&r.c.media, playout_buffer_pts(r.b, 1)) == 1500 * playout_rig::ms);

    SECTION("less is enough if no more comes")
    {
        playout_buffer_end(r.b);
        CHECK(r.stalled(1500, 9000) == "resume");
        CHECK(r.at(1500) == "show 1500");
        for (int n = 1; n <= 3; n++)
            CHECK(r.take() == n);
        CHECK(r.at(1799) == "wait 1800");
        CHECK(r.at(1800) == "end");
    }
}

TEST_CASE("film_clock: what is requested is waited for, and what was not sent is passed over")
{
    playout_rig r(film_clock, true);
    r.push(0, true);
    r.begin(0, 1000);
    r.take();
    playout_buffer_set_missing(r.b, 1);
    r.push(2);
    CHECK(r.at(1100) == "wait 1200"); // as if nothing were held
    CHECK(r.at(1200) == "stall 1100");
    CHECK(r.stalled(1300, 100) == "wait");
    playout_buffer_set_missing(r.b, INT64_MAX); // given up
    CHECK(r.stalled(1400, 100) == "resume");
    r.push(4);
    CHECK(r.at(1400) == "pass 1");
    playout_buffer_pass(r.b, 1, 0);
    CHECK(r.at(1400) == "show 1400");
    CHECK(r.take() == 2);
    CHECK(r.at(1500) == "pass 3");
}

TEST_CASE("film_clock: the media clock stands in a stall, and a skip goes to a key frame")
{
    playout_rig r(film_clock);
    CHECK(film_clock.line(&r.c, false) == &r.c.media);
    CHECK(film_clock.line(&r.c, true) == nullptr);
    r.push(0, true);
    r.begin(0, 0);
    r.take();
    for (int n : {1, 2, 3, 5, 6})
        r.push(n, n == 3 || n == 6);
    CHECK(film_clock.skip_target(r.b, 1, 10000 * playout_rig::ms) == 6);
    CHECK(film_clock.skip_target(r.b, 1, 400 * playout_rig::ms) == 3);
    CHECK(film_clock.skip_target(r.b, 1, 100 * playout_rig::ms) == -1);
}

// The server sends a stored film at twice its pace. From 2 to 6 s nothing arrives: the buffer plays
// on until 4.2 s.
TEST_CASE("film_clock: a viewer of a stored film, in virtual time")
{
    const usec_t ms = playout_rig::ms;
    const usec_t goal = 500 * ms;
    playout_rig r(film_clock);
    std::vector<std::string> log;
    std::vector<usec_t> shown;
    bool begun = false, stalls = false, ended = false;
    int64_t sent = 0;
    auto arrives = [](int64_t n) { return n * 50 + (n >= 40 ? 4000 : 0); };
    for (usec_t now = 0; !ended && now < 60000; now += 10) {
        for (; sent < 100 && arrives(sent) <= now; sent++)
            REQUIRE(r.push(sent, sent % 20 == 0, now) == 0);
        if (sent == 100)
            playout_buffer_end(r.b);
        if (!begun && playout_buffer_media(r.b, 0) >= goal) {
            begun = true;
            r.begin(0, now);
            log.push_back("start " + std::to_string(now));
        }
        for (bool waits = !begun; !waits;) {
            clock_step s = film_clock.step(&r.c, r.b, stalls, goal, now * ms);
            waits = s.kind == STEP_WAIT;
            if (s.kind == STEP_SHOW) {
                REQUIRE(r.take(now) == static_cast<int64_t>(shown.size()));
                shown.push_back(std::max(s.at / ms, now));
            } else if (!waits) {
                stalls = s.kind == STEP_STALL;
                waits = ended = s.kind == STEP_END;
                log.push_back(r.word(s) + " " + std::to_string(now));
            }
        }
    }
    // Five frames are there at 200 ms; the first 40 last until 4200 ms. The others come from 6000
    // ms on, and five of them are there at 6200 ms.
    CHECK(log ==
          std::vector<std::string>{"start 200", "stall 4200 4300", "resume 6200", "end 12200"});
    REQUIRE(shown.size() == 100);
    for (size_t n = 0; n < 100; n++)
        CHECK(shown[n] == static_cast<usec_t>(n < 40 ? 200 + 100 * n : 6200 + 100 * (n - 40)));
}
