// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/machine_limit.h"

#include <catch2/catch.hpp>
#include <vector>

namespace
{

struct viewer {
    machine_limit m;
    usec_t now = 0;
    uint64_t shown = 0, missed = 0;
    int wanted = 6, level = 6;

    viewer()
    {
        machine_limit_init(&m, now);
        second(0);
    }
    // A second of 100 frames. Returns true if another level is requested; it comes at once.
    bool second(uint64_t of_100)
    {
        now += USEC_PER_SEC;
        missed += of_100;
        shown += 100 - of_100;
        struct machine_limit_sample s = {level, wanted, shown, missed};
        bool changed = machine_limit_second(&m, &s, now);
        level = m.limit < 0 ? wanted : m.limit;
        return changed;
    }
};

} // namespace

TEST_CASE("machine_limit: when a lower level is requested")
{
    struct {
        std::vector<uint64_t> missed; // a second each
        int level;
    } table[] = {
        {{0, 0, 0, 0}, 6},
        {{12, 12, 12, 12}, 6},   // no more than an eighth
        {{13, 0, 13, 0, 13}, 6}, // not in a row
        {{13, 13}, 5},           // twice
        {{51}, 5},               // most, once
        {{100, 100}, 5},         // the lower level has to come first
        {{100, 100, 100}, 4},
    };
    for (auto &row : table) {
        viewer v;
        for (uint64_t missed : row.missed)
            v.second(missed);
        CHECK(v.level == row.level);
    }
}

TEST_CASE("machine_limit: no level helps a machine that was stopped")
{
    viewer v;
    v.now += 2 * USEC_PER_SEC;
    CHECK_FALSE(v.second(100));
    for (int i = 0; i < 3; i++)
        CHECK_FALSE(v.second(60)); // what never came
    CHECK(v.second(60));
    CHECK(v.level == 5);
}

TEST_CASE("machine_limit: not below the lowest level, nor without frames")
{
    viewer v;
    v.wanted = v.level = 0;
    for (int i = 0; i < 10; i++)
        CHECK_FALSE(v.second(100));
    machine_limit m;
    machine_limit_init(&m, 0);
    for (int i = 1; i < 10; i++) {
        struct machine_limit_sample s = {6, 6, 0, 0};
        CHECK_FALSE(machine_limit_second(&m, &s, i * USEC_PER_SEC));
    }
}

TEST_CASE("machine_limit: it comes back, level by level, and then there is no limit")
{
    viewer v;
    for (int i = 0; i < 4; i++)
        v.second(80);
    REQUIRE(v.level == 4);
    std::vector<int> levels;
    for (int i = 0; i < 15; i++)
        if (v.second(1))
            levels.push_back(v.level);
    CHECK(levels == std::vector<int>{5, 6});
    CHECK(v.m.limit == -1);
}

TEST_CASE("machine_limit: a level that is too much is tried again after twice the time")
{
    viewer v;
    v.second(80);
    REQUIRE(v.level == 5);
    std::vector<int> waits;
    for (int i = 0, waited = 0; i < 1000 && waits.size() < 6; i++) {
        bool changed = v.second(v.level == 6 ? 80 : 0);
        waited++;
        if (changed && v.level == 6)
            waits.push_back(waited);
        if (changed)
            waited = 0;
    }
    CHECK(waits == std::vector<int>{5, 10, 20, 40, 80, 80});
}

TEST_CASE("machine_limit: what the network gives is less: the limit begins below it")
{
    viewer v;
    v.level = 2;
    CHECK(v.second(80));
    CHECK(v.level == 1);
}
