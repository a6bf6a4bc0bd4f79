// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/model/window_title.h"

#include <catch2/catch.hpp>
#include <string>

TEST_CASE("window_title: the name, then what is unusual")
{
    struct {
        enum playout_mode mode;
        bool paused;
        double speed;
        const char *text;
        bool connects = false;
    } const table[] = {
        {PLAYOUT_PLAYING, false, 1.004, "Der große Film.mkv - weir-play"},
        {PLAYOUT_PLAYING, false, 1.05, "Der große Film.mkv, speed 1.05 - weir-play"},
        {PLAYOUT_PLAYING, false, 0.9876, "Der große Film.mkv, speed 0.99 - weir-play"},
        {PLAYOUT_REBUFFERING, false, 1.05, "Der große Film.mkv, stalled - weir-play"},
        {PLAYOUT_PLAYING, true, 1.05, "Der große Film.mkv, paused - weir-play"},
        {PLAYOUT_BUFFERING, false, 1, "Der große Film.mkv, buffering - weir-play"},
        {PLAYOUT_ENDED, false, 1, "Der große Film.mkv, ended - weir-play"},
        {PLAYOUT_ENDED, false, 1, "Der große Film.mkv, connecting - weir-play", true},
        {PLAYOUT_ENDED, true, 1, "Der große Film.mkv, paused - weir-play", true},
        {PLAYOUT_PLAYING, false, 1, "Der große Film.mkv - weir-play", true},
    };
    for (const auto &row : table) {
        struct window_title s = {"Der große Film.mkv", row.mode, row.paused, row.speed,
                                 row.connects};
        char text[256];
        window_title_text(&s, text, sizeof(text));
        CHECK(std::string(text) == row.text);
    }
}
