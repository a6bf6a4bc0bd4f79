// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/model/window_title.h"

#include <catch2/catch.hpp>
#include <string>

TEST_CASE("window_title: one line with all stats")
{
    struct ladder ladder = {};
    ladder.source_fps = {30, 1};
    ladder.size_count = 1;
    ladder.sizes[0] = {1280, 720, {30, 1}, 2};
    ladder.level_count = 2;
    ladder.levels[0] = {0, 0, 1200000};
    ladder.levels[1] = {0, 1, 1800000};
    struct {
        int level;
        usec_t held;
        enum playout_mode mode;
        bool paused;
        double speed;
        const char *text;
        bool connects = false;
    } const table[] = {
        {1, 400000, PLAYOUT_PLAYING, false, 1.004,
         "weir-play: 1280x720@30 1.80 Mbit/s, minbuf:1,3, buffer 0.4 s"},
        {1, 900000, PLAYOUT_PLAYING, false, 1.05,
         "weir-play: 1280x720@30 1.80 Mbit/s, minbuf:1,3, buffer 0.9 s, speed 1.05"},
        {1, 100000, PLAYOUT_PLAYING, false, 0.9876,
         "weir-play: 1280x720@30 1.80 Mbit/s, minbuf:1,3, buffer 0.1 s, speed 0.99"},
        {0, 0, PLAYOUT_REBUFFERING, false, 1.05,
         "weir-play: 1280x720@15 1.20 Mbit/s, minbuf:1,3, buffer 0.0 s, stalled"},
        {1, 0, PLAYOUT_PLAYING, true, 1.05,
         "weir-play: 1280x720@30 1.80 Mbit/s, minbuf:1,3, buffer 0.0 s, paused"},
        {-1, 100000, PLAYOUT_BUFFERING, false, 1, "weir-play: minbuf:1,3, buffer 0.1 s, buffering"},
        {-1, 0, PLAYOUT_ENDED, false, 1, "weir-play: minbuf:1,3, buffer 0.0 s, ended"},
        {-1, 0, PLAYOUT_ENDED, false, 1, "weir-play: minbuf:1,3, buffer 0.0 s, connecting", true},
        {-1, 0, PLAYOUT_ENDED, true, 1, "weir-play: minbuf:1,3, buffer 0.0 s, paused", true},
        {-1, 100000, PLAYOUT_PLAYING, false, 1, "weir-play: minbuf:1,3, buffer 0.1 s", true},
    };
    for (const auto &row : table) {
        struct window_title s = {&ladder,    row.level, "minbuf:1,3", row.held,    row.mode,
                                 row.paused, row.speed, nullptr,      row.connects};
        char text[256];
        window_title_text(&s, text, sizeof(text));
        CHECK(std::string(text) == row.text);
    }
}

TEST_CASE("window_title: the variables of the rate controller follow its name")
{
    struct ladder ladder = {};
    struct window_title s = {&ladder, -1, "tfrc",      400000, PLAYOUT_PLAYING,
                             false,   1,  " (p 0.01)", false};
    char text[256];
    window_title_text(&s, text, sizeof(text));
    CHECK(std::string(text) == "weir-play: tfrc (p 0.01), buffer 0.4 s");
}
