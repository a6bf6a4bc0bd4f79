// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/policy/key_requests.h"

#include <catch2/catch.hpp>

#include <vector>

namespace
{
const usec_t MS = USEC_PER_MSEC;
} // namespace

TEST_CASE("key_requests: the first leaves at once, those of the next 300 ms are one")
{
    key_requests k{};
    CHECK(key_requests_next(&k) == USEC_NEVER);
    CHECK_FALSE(key_requests_due(&k, 1000 * MS));
    key_requests_want(&k, false);
    CHECK(key_requests_due(&k, 1000 * MS));
    CHECK_FALSE(key_requests_due(&k, 1000 * MS)); // it has left
    for (int at : {1010, 1100, 1250}) {
        key_requests_want(&k, false);
        CHECK_FALSE(key_requests_due(&k, at * MS));
    }
    CHECK(key_requests_next(&k) == 1300 * MS);
    CHECK(key_requests_due(&k, 1300 * MS));
    CHECK(key_requests_next(&k) == USEC_NEVER);
}

TEST_CASE("key_requests: for a viewer that joins they are repeated until a key frame comes")
{
    key_requests k{};
    std::vector<int> sent;
    key_requests_want(&k, true);
    for (int at = 1000; at < 2200; at += 10)
        if (key_requests_due(&k, at * MS))
            sent.push_back(at);
    CHECK(sent == std::vector<int>{1000, 1500, 2000});
    key_requests_want(&k, false); // it is one with those
    CHECK(key_requests_next(&k) == 2500 * MS);
    key_requests_came(&k);
    CHECK(key_requests_next(&k) == USEC_NEVER);
    key_requests_want(&k, true); // another viewer: not within 300 ms of the last one
    CHECK(key_requests_next(&k) == 2300 * MS);
}

TEST_CASE("key_requests: a session begins with a key frame, which is not requested unless it does "
          "not come")
{
    key_requests k{};
    key_requests_want(&k, true);
    key_requests_begin(&k, 1000 * MS);
    CHECK(key_requests_next(&k) == 1500 * MS);
    key_requests_came(&k);
    CHECK(key_requests_next(&k) == USEC_NEVER);
}

TEST_CASE("key_budget: a viewer that needs many waits longer each time, unless it is alone")
{
    struct row {
        bool alone;
        std::vector<int> taken; // half seconds, of the first 40
    };
    for (const row &r : {row{true, {0, 1, 2, 3, 4, 5, 6, 7}}, row{false, {0, 1, 3, 7}}}) {
        key_budget b{};
        std::vector<int> taken;
        for (int half = 0; half < 8; half++)
            if (key_budget_take(&b, r.alone, (1000 + half * 500) * MS))
                taken.push_back(half);
        CHECK(taken == r.taken);
    }
    key_budget b{};
    int taken = 0;
    for (int half = 0; half < 240; half++)
        taken += key_budget_take(&b, false, (1000 + half * 500) * MS);
    CHECK(taken == 5 + (240 - 15 - 1) / 16); // 0, 0.5, 1.5, 3.5, 7.5 s, then every 8 s
    usec_t quiet = b.next_at + KEY_BUDGET_MAX;
    CHECK(key_budget_take(&b, false, quiet));
    CHECK(b.next_at == quiet + KEY_BUDGET_MIN); // it begins anew
}
