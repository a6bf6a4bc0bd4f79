// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/model/menu.h"

#include <catch2/catch.hpp>
#include <string>

TEST_CASE("menu: levels, the highest first, the current one marked")
{
    struct ladder ladder = {};
    ladder.source_fps = {30, 1};
    ladder.size_count = 1;
    ladder.sizes[0] = {1280, 720, {30, 1}, 2};
    ladder.level_count = 2;
    ladder.levels[0] = {0, 0, 1200000};
    ladder.levels[1] = {0, 1, 1800000};
    struct menu m;
    struct menu_levels l = {&ladder, 0, false, false};
    menu_of_levels(&m, &l);
    REQUIRE(m.count == 2);
    CHECK(std::string(m.items[0].text) == "1   1280x720");
    CHECK(std::string(m.items[0].detail) == "30 frames/s, 1.80 Mbit/s");
    CHECK(m.items[0].value == 1);
    CHECK(std::string(m.items[1].detail) == "15 frames/s, 1.20 Mbit/s");
    CHECK(m.items[1].value == 0);
    CHECK(m.current == 1);
    CHECK(m.selected == 1);
    l.current = -1; // none shown yet
    menu_of_levels(&m, &l);
    CHECK(m.current == -1);
    CHECK(m.selected == 0);
    l = {&ladder, 0, true, false}; // a level was chosen
    menu_of_levels(&m, &l);
    REQUIRE(m.count == 3);
    CHECK(std::string(m.items[0].text) == "automatic");
    CHECK(m.items[0].value == MENU_AUTOMATIC);
    CHECK(m.current == 2);
    l.automatic = true;
    menu_of_levels(&m, &l);
    CHECK(m.current == 0);
    CHECK(std::string(m.items[2].detail) == "15 frames/s, 1.20 Mbit/s, now");
}

TEST_CASE("menu: a full ladder and automatic fit")
{
    struct ladder ladder = {};
    ladder.source_fps = {30, 1};
    ladder.size_count = 1;
    ladder.sizes[0] = {640, 360, {30, 1}, 1};
    ladder.level_count = LADDER_MAX_LEVELS;
    struct menu m;
    struct menu_levels l = {&ladder, 0, true, true};
    menu_of_levels(&m, &l);
    REQUIRE(m.count == LADDER_MAX_LEVELS + 1);
    CHECK(m.items[LADDER_MAX_LEVELS].value == 0);
}

TEST_CASE("menu: auto, then transports by name, ignoring their parameters")
{
    const char *names[] = {"minbuf", "psp", "other"};
    const char *details[] = {"TCP", "UDP, damped; psp:initial=", "UDP, new; other:x="};
    static const struct {
        const char *current;
        int expected;
    } table[] = {{"minbuf:1,3", 1}, {"psp", 2}, {"other", 3}, {"ps", -1}, {"", -1}};
    struct menu m;
    for (const auto &row : table) {
        struct menu_transports t = {names, details, 3, row.current, false};
        menu_of_transports(&m, &t);
        CHECK(m.current == row.expected);
        REQUIRE(m.count == 4);
        t.automatic = true;
        menu_of_transports(&m, &t);
        CHECK(m.current == 0);
    }
    CHECK(std::string(m.items[0].text) == "auto");
    CHECK(m.items[0].value == MENU_AUTOMATIC);
    CHECK(m.items[1].value == 0);
    CHECK(std::string(m.items[1].detail) == "TCP with a short queue: passes every firewall");
    CHECK(std::string(m.items[3].detail) == "UDP, new"); // its own help
    struct menu_transports t = {names, details, 3, "minbuf:1,3", true};
    menu_of_transports(&m, &t);
    CHECK(std::string(m.items[1].detail) == "TCP with a short queue: passes every firewall, now");
}

TEST_CASE("menu: the selection stops at the ends, and the visible part follows it")
{
    struct menu m = {};
    m.count = 10;
    menu_move(&m, -1);
    CHECK(m.selected == 0);
    CHECK(menu_first(&m, 4) == 0);
    menu_move(&m, 1);
    CHECK(menu_first(&m, 4) == 0);
    m.selected = 5;
    CHECK(menu_first(&m, 4) == 3);
    m.selected = 9;
    menu_move(&m, 1);
    CHECK(m.selected == 9);
    CHECK(menu_first(&m, 4) == 6);
    CHECK(menu_first(&m, 10) == 0);
    CHECK(menu_first(&m, 20) == 0);
    menu_move(&m, -3); // a page
    CHECK(m.selected == 6);
    menu_move(&m, 5);
    CHECK(m.selected == 9);
    menu_move(&m, -100);
    CHECK(m.selected == 0);
    struct menu empty = {};
    menu_move(&empty, 3);
    CHECK(empty.selected == 0);
}

TEST_CASE("menu: of channels, with the one that plays")
{
    static playlist_channel channels[2] = {};
    snprintf(channels[0].title, sizeof(channels[0].title), "News");
    snprintf(channels[0].detail, sizeof(channels[0].detail), "1:05");
    snprintf(channels[1].url.text, sizeof(channels[1].url.text), "rtsp://host/b");
    const playlist p = {2, channels};
    static menu m;
    menu_of_channels(&m, &p, 2);
    REQUIRE(m.count == 2);
    CHECK(m.items[0].text == std::string("News"));
    CHECK(m.items[0].detail == std::string("1:05"));
    CHECK(m.items[0].value == 1);
    CHECK(m.items[1].text == std::string("rtsp://host/b"));
    CHECK(m.current == 1);
    CHECK(m.selected == 1);
    menu_of_channels(&m, &p, 0);
    CHECK(m.current == -1);
    CHECK(m.selected == 0);
}

TEST_CASE("menu: the tracks of audio, and of subtitles, which can be off")
{
    static struct menu m;
    struct menu_tracks t = {2, 2, {"eng", ""}};
    menu_of_tracks(&m, &t, true);
    REQUIRE(m.count == 2);
    CHECK(m.items[0].text == std::string("eng"));
    CHECK(m.items[1].text == std::string("track 2")); // without a name
    CHECK(m.items[1].value == 2);
    CHECK((m.current == 1 && m.selected == 1));
    menu_of_tracks(&m, &t, false);
    REQUIRE(m.count == 3);
    CHECK(m.items[0].text == std::string("off"));
    CHECK(m.items[0].value == 0);
    CHECK(m.current == 2);
    t.current = 0;
    menu_of_tracks(&m, &t, false);
    CHECK((m.current == 0 && m.selected == 0));
}
