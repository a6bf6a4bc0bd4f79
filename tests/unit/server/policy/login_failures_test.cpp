// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/login_failures.h"

#include <catch2/catch.hpp>
#include <memory>

namespace
{

place_key address(uint64_t number)
{
    return {.high = 1, .low = number};
}

} // namespace

TEST_CASE("login failures: from the twentieth failure of a minute on, an address waits")
{
    auto l = std::make_unique<login_failures>();
    login_failures_init(l.get(), {{1, 2}});
    for (int i = 0; i < LOGIN_FAILURES_MAX; i++) {
        CHECK_FALSE(login_failures_must_wait(l.get(), address(7), i));
        login_failures_add(l.get(), address(7), i);
    }
    CHECK(login_failures_must_wait(l.get(), address(7), 30 * USEC_PER_SEC));
    CHECK_FALSE(login_failures_must_wait(l.get(), address(8), 30 * USEC_PER_SEC));
    // A minute after the first failure it is forgotten.
    CHECK(login_failures_must_wait(l.get(), address(7), LOGIN_FAILURES_TIME - 1));
    CHECK_FALSE(login_failures_must_wait(l.get(), address(7), LOGIN_FAILURES_TIME));
    login_failures_add(l.get(), address(7), LOGIN_FAILURES_TIME);
    CHECK_FALSE(login_failures_must_wait(l.get(), address(7), LOGIN_FAILURES_TIME));
}

TEST_CASE("login failures: other addresses do not drive out the one that guesses")
{
    auto l = std::make_unique<login_failures>();
    login_failures_init(l.get(), {{3, 4}});
    for (int i = 0; i < LOGIN_FAILURES_MAX; i++)
        login_failures_add(l.get(), address(0), 0);
    for (uint64_t i = 1; i <= 100000; i++) // far more than the table holds
        login_failures_add(l.get(), address(i), 1);
    CHECK(login_failures_must_wait(l.get(), address(0), 2));
}

TEST_CASE("login failures: an address that waits has one attempt each 2 s")
{
    auto l = std::make_unique<login_failures>();
    login_failures_init(l.get(), {{5, 6}});
    const usec_t s = USEC_PER_SEC;
    CHECK(login_failures_turn(l.get(), address(7), s, s) == s);
    for (int i = 0; i < LOGIN_FAILURES_MAX; i++)
        login_failures_add(l.get(), address(7), s);
    // At once, over many connections, of which none waits more than 8 s
    for (usec_t turn : {3 * s, 5 * s, 7 * s, 9 * s, USEC_NEVER, USEC_NEVER})
        CHECK(login_failures_turn(l.get(), address(7), 9 * s, s) == turn);
    CHECK(login_failures_turn(l.get(), address(8), 9 * s, s) == s);
    CHECK(login_failures_turn(l.get(), address(7), 12 * s, 4 * s) == 11 * s);
    // Later, with none before it
    CHECK(login_failures_turn(l.get(), address(7), 40 * s, 30 * s) == 32 * s);
    const usec_t over = s + LOGIN_FAILURES_TIME;
    CHECK(login_failures_turn(l.get(), address(7), over, over) == over);
}
