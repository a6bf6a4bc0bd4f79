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
    menu_of_levels(&m, &ladder, 0);
    REQUIRE(m.count == 2);
    CHECK(std::string(m.items[0].text) == "1   1280x720");
    CHECK(std::string(m.items[0].detail) == "30 frames/s, 1.80 Mbit/s");
    CHECK(m.items[0].value == 1);
    CHECK(std::string(m.items[1].detail) == "15 frames/s, 1.20 Mbit/s");
    CHECK(m.items[1].value == 0);
    CHECK(m.current == 1);
    CHECK(m.selected == 1);
    menu_of_levels(&m, &ladder, -1); // none shown yet
    CHECK(m.current == -1);
    CHECK(m.selected == 0);
}

TEST_CASE("menu: transports by name, ignoring their parameters")
{
    const char *names[] = {"minbuf", "psp", "psp-plain"};
    const char *details[] = {"TCP", "UDP, damped; psp:initial=", "UDP"};
    static const struct {
        const char *current;
        int expected;
    } table[] = {{"minbuf:1,3", 0}, {"psp", 1}, {"psp-plain", 2}, {"ps", -1}, {"", -1}};
    struct menu m;
    for (const auto &row : table) {
        menu_of_transports(&m, names, details, 3, row.current);
        CHECK(m.current == row.expected);
        CHECK(m.count == 3);
    }
    CHECK(std::string(m.items[1].detail) == "UDP, damped");
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
}
