// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/reconnect.h"

#include <catch2/catch.hpp>

static const usec_t ms = USEC_PER_MSEC;

TEST_CASE("reconnect: waits twice as long each time, up to 15 s")
{
    struct reconnect r;
    reconnect_init(&r);
    static const int delays[] = {500, 1000, 2000, 4000, 8000, 15000, 15000, 15000};
    usec_t now = 1000 * ms;
    int tries = 0;
    for (int delay : delays) {
        CHECK(reconnect_lost(&r, now) == now + delay * ms);
        CHECK(r.tries == ++tries);
        CHECK(reconnect_left(&r, now) == delay * ms);
        CHECK(reconnect_left(&r, now + delay * ms) == 0);
        CHECK(reconnect_left(&r, now + delay * ms + 1) == 0);
        now += delay * ms + 37 * ms; // the attempt took a while to fail
    }
}

TEST_CASE("reconnect: only who has played for a while begins anew")
{
    static const struct {
        int played; // ms, between the second loss and the third
        int delay;  // ms, after the third
        int tries;
    } table[] = {
        {0, 2000, 3},
        {4999, 2000, 3},
        {5000, 500, 1},
        {60000, 500, 1},
    };
    for (const auto &row : table) {
        struct reconnect r;
        reconnect_init(&r);
        reconnect_lost(&r, 0);
        reconnect_lost(&r, 600 * ms);
        reconnect_playing(&r, 1700 * ms);
        usec_t again = (1700 + row.played) * ms;
        CHECK(reconnect_lost(&r, again) == again + row.delay * ms);
        CHECK(r.tries == row.tries);
    }
}

TEST_CASE("reconnect: a connection that brought no media has not played")
{
    struct reconnect r;
    reconnect_init(&r);
    reconnect_lost(&r, 0);
    reconnect_lost(&r, 600 * ms);
    reconnect_playing(&r, 1700 * ms);
    reconnect_idle(&r);
    CHECK(reconnect_lost(&r, 12000 * ms) == 14000 * ms);
    CHECK(r.tries == 3);
}

TEST_CASE("reconnect: the first loss of a session that played counts as the first")
{
    struct reconnect r;
    reconnect_init(&r);
    reconnect_playing(&r, 0);
    CHECK(reconnect_lost(&r, 100 * ms) == 600 * ms);
    CHECK(r.tries == 1);
}
