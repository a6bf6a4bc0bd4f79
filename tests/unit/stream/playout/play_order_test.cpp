// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/play_order.h"

#include <catch2/catch.hpp>

#include "tests/support/two_levels.hpp"

namespace
{

struct order {
    ladder levels = two_levels();
    level_schedule schedule;
    play_order o;

    explicit order(int level = 1)
    {
        level_schedule_init(&schedule, &levels, level);
        play_order_init(&o, &schedule);
    }
};

} // namespace

TEST_CASE("play_order: ascending, over the numbers that the level does not have")
{
    for (int level : {0, 1}) {
        order w(level);
        CHECK(play_order_awaited(&w.o) == -1);
        play_order_start(&w.o, 4);
        CHECK(play_order_awaited(&w.o) == 4);
        play_order_handed(&w.o, 4);
        CHECK(w.o.next == 5);
        CHECK(play_order_awaited(&w.o) == (level ? 5 : 6));
        play_order_handed(&w.o, 3); // below: changes nothing
        CHECK(w.o.next == 5);
        play_order_pass_to(&w.o, 9);
        CHECK(play_order_awaited(&w.o) == (level ? 9 : 10));
    }
}

TEST_CASE("play_order: what went ahead is not awaited again")
{
    order w;
    play_order_start(&w.o, 0);
    struct {
        int64_t handed, awaited;
    } table[] = {{0, 1}, {4, 1}, {2, 1}, {1, 3}, {3, 5}, {5, 6}};
    for (const auto &row : table) {
        play_order_handed(&w.o, row.handed);
        INFO(row.handed);
        CHECK(play_order_awaited(&w.o) == row.awaited);
    }
    CHECK(w.o.ahead_count == 0);
    play_order_handed(&w.o, 8);
    CHECK(play_order_is_ahead(&w.o, 8));
    CHECK(!play_order_is_ahead(&w.o, 7));
    play_order_start(&w.o, 7);
    CHECK(!play_order_is_ahead(&w.o, 8));
}

TEST_CASE("play_order: too many ahead, and what is below the first of them is awaited no more")
{
    order w;
    play_order_start(&w.o, 0);
    for (int i = 1; i <= PLAY_ORDER_AHEAD; i++)
        play_order_handed(&w.o, 2 * i);
    CHECK(play_order_awaited(&w.o) == 0);
    play_order_handed(&w.o, 2 * PLAY_ORDER_AHEAD + 2);
    CHECK(play_order_awaited(&w.o) == 3);
}
