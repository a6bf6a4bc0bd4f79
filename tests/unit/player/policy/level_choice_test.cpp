// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/level_choice.h"

#include <string>

#include <catch2/catch.hpp>

TEST_CASE("level_choice: the level that a connection begins with")
{
    static const struct {
        struct level_start start;
        int level;
    } table[] = {
        {{.top = 6, .wanted = -1, .policy = false, .again = false, .before = 0}, 6},
        {{.top = 6, .wanted = 2, .policy = false, .again = false, .before = 0}, 2},
        {{.top = 6, .wanted = -1, .policy = true, .again = false, .before = 0}, -1},
        {{.top = 6, .wanted = 2, .policy = true, .again = false, .before = 0}, 2},
        {{.top = 0, .wanted = -1, .policy = true, .again = false, .before = 0}, 0}, // no choice
        {{.top = 6, .wanted = -1, .policy = false, .again = true, .before = 3}, 3},
        {{.top = 6, .wanted = 5, .policy = false, .again = true, .before = 3}, 3},
        {{.top = 2, .wanted = -1, .policy = false, .again = true, .before = 3}, 2}, // fewer levels
        {{.top = 2, .wanted = 1, .policy = false, .again = true, .before = 3}, 1},
        {{.top = 6, .wanted = -1, .policy = true, .again = true, .before = 3}, 3},
        {{.top = 6, .wanted = -1, .policy = true, .again = true, .before = -1}, -1},
        {{.top = -1, .wanted = -1, .policy = false, .again = false, .before = 0}, -1}, // no ladder
    };
    for (const auto &row : table) {
        struct level_choice c;
        level_choice_begin(&c, &row.start);
        INFO(row.start.top << " " << row.start.wanted << " " << row.start.before);
        CHECK(c.level == row.level);
        CHECK(c.requested == row.level);
        CHECK(!c.reason);
    }
}

TEST_CASE("level_choice: a switch has the reason of its request, any other is the network's")
{
    struct level_choice c = {.level = 3, .requested = 3, .reason = nullptr, .replaced = {}};
    struct level_switch e;
    CHECK(!level_choice_arrived(&c, 3, "network", &e));
    level_choice_request(&c, 5, "user");
    CHECK(level_choice_arrived(&c, 4, "network", &e)); // on the way there
    CHECK((e.from == 3 && e.to == 4 && e.reason == std::string("network")));
    CHECK(level_choice_arrived(&c, 5, "network", &e));
    CHECK((e.from == 4 && e.to == 5 && e.reason == std::string("user")));
    CHECK(level_choice_arrived(&c, 4, "network", &e));
    CHECK(level_choice_arrived(&c, 5, "network", &e)); // the request was fulfilled before
    CHECK(e.reason == std::string("network"));
    CHECK(level_choice_arrived(&c, 2, "sender", &e));
    CHECK(e.reason == std::string("sender"));
}

TEST_CASE(
    "level_choice: what the user requests a second time, after the network changed it, is his")
{
    struct level_choice c = {.level = 3, .requested = 3, .reason = nullptr, .replaced = {}};
    struct level_switch e;
    CHECK(level_choice_arrived(&c, 2, "network", &e));
    level_choice_request(&c, 3, "user");
    CHECK(level_choice_arrived(&c, 3, "network", &e));
    CHECK(e.reason == std::string("user"));
}

TEST_CASE("level_choice: after a refusal steps count from the level that plays")
{
    struct level_choice c = {.level = 3, .requested = 3, .reason = nullptr, .replaced = {}};
    level_choice_request(&c, 5, "user");
    level_choice_refused(&c);
    CHECK(c.requested == 3);
}

TEST_CASE("level_choice: a level that the server had begun before another one was requested")
{
    struct level_choice c = {.level = 6, .requested = 6, .reason = nullptr, .replaced = {}};
    struct level_switch e;
    level_choice_request(&c, 5, "rate");
    level_choice_request(&c, 6, "buffer");
    CHECK(level_choice_arrived(&c, 5, "network", &e));
    CHECK(e.reason == std::string("rate"));
    CHECK(level_choice_arrived(&c, 6, "network", &e));
    CHECK(e.reason == std::string("buffer"));
    CHECK(level_choice_arrived(&c, 5, "network", &e)); // not requested again
    CHECK(e.reason == std::string("network"));
}
