// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/play_script.h"

#include <catch2/catch.hpp>

#include "common/base/err.h"

TEST_CASE("play script: steps stand in the order of their times")
{
    struct play_script s = {};
    for (const char *text : {"4:go-on", "2.5:seek=61.25", "3:pause", "2.5:level=6", "5:scale=-4",
                             "6:scale=8", "7:speed=1.25"})
        REQUIRE(play_script_add(&s, text) == 0);
    struct {
        usec_t at;
        enum play_action action;
        double value;
    } expected[] = {{2500000, PLAY_SEEK, 61.25}, {2500000, PLAY_LEVEL, 6},
                    {3000000, PLAY_PAUSE, 0},    {4000000, PLAY_GO_ON, 0},
                    {5000000, PLAY_SCALE, -4},   {6000000, PLAY_SCALE, 8},
                    {7000000, PLAY_SPEED, 1.25}};
    REQUIRE(s.count == 7);
    for (int i = 0; i < 7; i++) {
        CHECK(s.steps[i].at == expected[i].at);
        CHECK(s.steps[i].action == expected[i].action);
        CHECK(s.steps[i].value == expected[i].value);
    }
}

TEST_CASE("play script: channels")
{
    struct play_script s = {};
    for (const char *text : {"1:channel=256", "2:next", "3:previous", "4:stop"})
        REQUIRE(play_script_add(&s, text) == 0);
    CHECK((s.steps[0].action == PLAY_CHANNEL && s.steps[0].value == 256));
    CHECK((s.steps[1].action == PLAY_CHANNEL_BY && s.steps[1].value == 1));
    CHECK((s.steps[2].action == PLAY_CHANNEL_BY && s.steps[2].value == -1));
    CHECK(s.steps[3].action == PLAY_STOP);
}

TEST_CASE("play script: what is no step is refused, and there is a bound")
{
    struct play_script s = {};
    for (const char *text : {"",
                             "3",
                             "3:",
                             ":pause",
                             "-1:pause",
                             "3:pausex",
                             "3:seek",
                             "3:seek=",
                             "3:seek=-",
                             "3:seek=1e5",
                             "3:level=32",
                             "3:level=-1",
                             "3:quit",
                             "3:scale=",
                             "3:scale=0",
                             "3:scale=9",
                             "3:scale=--2",
                             "3:speed=",
                             "3:speed=0.4",
                             "3:speed=2.1",
                             "3:speed=-1",
                             "3:channel=0",
                             "3:channel=1025",
                             "3:channel=",
                             "3:nextx",
                             "3:stop=1",
                             "1000001:pause",
                             "3 :pause"}) {
        INFO(text);
        CHECK(play_script_add(&s, text) == ERR_MALFORMED);
    }
    CHECK(s.count == 0);
    for (int i = 0; i < PLAY_SCRIPT_MAX; i++)
        REQUIRE(play_script_add(&s, "1:pause") == 0);
    CHECK(play_script_add(&s, "1:pause") == ERR_FULL);
}
