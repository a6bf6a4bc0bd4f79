// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/path_mover.h"

#include <catch2/catch.hpp>

#include "common/base/rng.h"

namespace
{

const usec_t T0 = 7 * USEC_PER_SEC;
const usec_t S = USEC_PER_SEC;

struct Mover {
    path_mover m = {};
    usec_t now = T0;

    // Goes to the next step. Returns true if a try begins.
    bool step()
    {
        now = path_mover_next_timeout(&m);
        REQUIRE(now != USEC_NEVER);
        return path_mover_on_timeout(&m, now);
    }
};

} // namespace

TEST_CASE("path mover: without an offer nothing happens")
{
    Mover w;
    CHECK(path_mover_next_timeout(&w.m) == USEC_NEVER);
    CHECK_FALSE(path_mover_on_timeout(&w.m, T0));
    CHECK_FALSE(path_mover_validated(&w.m, T0));
    path_mover_moved(&w.m, true, T0);
    CHECK(w.m.state == PATH_NOT_OFFERED);
}

TEST_CASE("path mover: the first try is at once, and media moves")
{
    Mover w;
    path_mover_begin(&w.m, T0);
    CHECK(w.step());
    CHECK(w.now == T0);
    CHECK(path_mover_validated(&w.m, T0 + 50));
    CHECK_FALSE(path_mover_validated(&w.m, T0 + 60)); // one request
    path_mover_moved(&w.m, true, T0 + 100);
    CHECK(path_mover_next_timeout(&w.m) == USEC_NEVER);
}

TEST_CASE("path mover: a network that blocks datagrams is tried more and more rarely")
{
    Mover w;
    path_mover_begin(&w.m, T0);
    usec_t wait = PATH_MOVER_FAILED;
    for (int i = 0; i < 8; i++) {
        CHECK(w.step()); // tokens
        usec_t began = w.now;
        CHECK_FALSE(w.step()); // given up
        CHECK(w.now == began + PATH_MOVER_TRY);
        CHECK(path_mover_next_timeout(&w.m) == w.now + wait);
        wait = usec_min(2 * wait, PATH_MOVER_MAX_WAIT);
    }
    CHECK(wait == PATH_MOVER_MAX_WAIT);
}

TEST_CASE("path mover: a request that is refused, or that no media follows, is a try that failed")
{
    for (bool refused : {true, false}) {
        Mover w;
        path_mover_begin(&w.m, T0);
        CHECK(w.step());
        CHECK(path_mover_validated(&w.m, w.now));
        if (refused)
            path_mover_refused(&w.m, w.now);
        else
            CHECK_FALSE(w.step());
        CHECK(path_mover_next_timeout(&w.m) == w.now + PATH_MOVER_FAILED);
    }
}

TEST_CASE("path mover: after a move back it waits, longer each time, unless the path has held")
{
    Mover w;
    path_mover_begin(&w.m, T0);
    const struct {
        usec_t stays, wait;
    } table[] = {{S, S}, {S, 2 * S}, {S, 4 * S}, {PATH_MOVER_STAY, S}, {S, 2 * S}};
    for (const auto &row : table) {
        CHECK(w.step());
        CHECK(path_mover_validated(&w.m, w.now));
        path_mover_moved(&w.m, true, w.now);
        w.now += row.stays;
        path_mover_moved(&w.m, false, w.now);
        path_mover_moved(&w.m, false, w.now); // told twice
        CHECK(path_mover_next_timeout(&w.m) == w.now + row.wait);
    }
}

TEST_CASE("path mover: media that comes beside the connection unasked counts as moved")
{
    Mover w;
    path_mover_begin(&w.m, T0);
    CHECK(w.step());
    CHECK_FALSE(w.step()); // given up, but a packet was on its way
    path_mover_moved(&w.m, true, w.now);
    CHECK(w.m.state == PATH_BESIDE);
}

TEST_CASE("path mover: however often the path is lost, moves are few")
{
    // Seconds that the path holds each time: up to so many, as seeded.
    for (usec_t holds : {1, 10, 29}) {
        for (uint64_t seed = 1; seed <= 10; seed++) {
            INFO("up to " << holds << " s, seed " << seed);
            rng random = rng_seeded(seed);
            Mover w;
            path_mover_begin(&w.m, T0);
            int moves = 0;
            for (; w.now < T0 + 1800 * S; moves++) {
                REQUIRE(w.step());
                REQUIRE(path_mover_validated(&w.m, w.now));
                path_mover_moved(&w.m, true, w.now);
                w.now += (usec_t)(rng_unit(&random) * (double)(holds * S));
                path_mover_moved(&w.m, false, w.now);
            }
            CHECK(moves <= 9 + 1800 / 300); // 1 s, 2 s ... 256 s, and then each 300 s
        }
    }
}
