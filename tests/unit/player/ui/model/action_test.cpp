// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/model/action.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

TEST_CASE("action: the menu has each action, with words and a key of its own")
{
    static struct menu m;
    menu_of_actions(&m);
    REQUIRE(m.count == ACTIONS);
    std::set<std::string> words, keys;
    for (int i = 0; i < m.count; i++) {
        CHECK(m.items[i].value == i);
        CHECK(words.insert(m.items[i].text).second);
        CHECK(keys.insert(m.items[i].detail).second);
        CHECK(std::string(m.items[i].text).size() <= 32); // fits a window of 320 pixels
        CHECK_FALSE(std::string(m.items[i].detail).empty());
    }
}

TEST_CASE("action: a key that is held repeats what goes in steps")
{
    CHECK(action_repeats(ACTION_LOUDER));
    CHECK(action_repeats(ACTION_BACK));
    CHECK_FALSE(action_repeats(ACTION_PAUSE));
    CHECK_FALSE(action_repeats(ACTION_QUIT));
    CHECK_FALSE(action_repeats(ACTION_NONE));
}
