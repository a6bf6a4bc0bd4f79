// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "player/level_schedule.h"

namespace
{

// 10 frames/s; two sizes of two temporal layers: levels 0, 1 and 2, 3.
struct fixture {
    ladder levels{};
    level_schedule s;
    fixture()
    {
        levels.source_fps = {10, 1};
        levels.size_count = 2;
        levels.sizes[0] = {320, 180, {10, 1}, 2};
        levels.sizes[1] = {640, 360, {10, 1}, 2};
        levels.level_count = 4;
        for (int i = 0; i < 4; i++)
            levels.levels[i] = {i / 2, i % 2, 100000 * (i + 1)};
        level_schedule_init(&s, &levels, 1);
    }
    int at(int64_t n) const
    {
        return level_schedule_at(&s, n);
    }
    void key(int64_t n, int size)
    {
        level_schedule_see(&s, n, size, 0, true);
    }
    void odd(int64_t n, int size)
    {
        level_schedule_see(&s, n, size, 1, false);
    }
};

} // namespace

TEST_CASE_METHOD(fixture, "level_schedule: more layers of a size start with their first frame")
{
    level_schedule_tell(&s, 0, 9);
    level_schedule_tell(&s, 1, 15);
    CHECK(level_schedule_next(&s, 17) == 18); // the sender may not have heard of it
    odd(19, 0);
    CHECK(at(18) == 0);
    CHECK(at(19) == 1);
    CHECK(level_schedule_next(&s, 21) == 21);
}

TEST_CASE_METHOD(fixture, "level_schedule: fewer layers of a size start when told")
{
    level_schedule_tell(&s, 0, 9);
    CHECK(at(9) == 1);
    CHECK(at(10) == 0);
    CHECK(level_schedule_next(&s, 9) == 9);
    CHECK(level_schedule_next(&s, 11) == 12); // even frames only
    odd(11, 0);                               // sent before the sender heard of it: changes nothing
    CHECK(at(13) == 0);
}

TEST_CASE_METHOD(fixture, "level_schedule: another size starts with its key frame")
{
    level_schedule_tell(&s, 3, 9);
    CHECK(at(20) == 1);
    key(16, 1);
    CHECK(at(15) == 1);
    CHECK(at(16) == 3);
    SECTION("and only once")
    {
        key(24, 0);
        key(32, 1);
        CHECK(at(24) == 0);
        CHECK(at(32) == 2);
    }
}

TEST_CASE_METHOD(fixture, "level_schedule: the key frame may come before the word")
{
    key(16, 1);
    CHECK(at(16) == 2); // the lowest of its size
    level_schedule_tell(&s, 3, 20);
    CHECK(at(16) == 3);
    CHECK(at(15) == 1);
}

TEST_CASE_METHOD(fixture, "level_schedule: a change of mind before the key frame")
{
    level_schedule_tell(&s, 3, 9);
    level_schedule_tell(&s, 0, 9);
    CHECK(at(10) == 0);
    key(16, 1); // came all the same: believed, as the lowest
    CHECK(at(16) == 2);
}

TEST_CASE_METHOD(fixture, "level_schedule: higher layers of a size seen tell its level")
{
    key(16, 1);
    CHECK(level_schedule_next(&s, 17) == 18);
    odd(19, 1);
    CHECK(at(18) == 2);
    CHECK(at(19) == 3);
    odd(17, 1);
    CHECK(at(17) == 3);
}

TEST_CASE_METHOD(fixture, "level_schedule: exact, and out of range")
{
    level_schedule_set(&s, 2, 100);
    level_schedule_set(&s, 0, 50);
    CHECK(at(100) == 0); // what was told later of an earlier frame ends the rest
    level_schedule_set(&s, 4, 10);
    level_schedule_set(&s, -1, 10);
    level_schedule_set(&s, 3, -5);
    level_schedule_tell(&s, 99, 10);
    CHECK(at(10) == 1);
    CHECK(at(60) == 0);
}

TEST_CASE_METHOD(fixture, "level_schedule: a key frame seen between two told levels")
{
    level_schedule_set(&s, 3, 100);
    key(96, 1);
    CHECK(at(95) == 1);
    CHECK(at(96) == 2);
    CHECK(at(100) == 3);
}

TEST_CASE_METHOD(fixture, "level_schedule: a bounded number of changes")
{
    for (int i = 1; i <= 1000; i++)
        key(10 * i, i % 2);
    CHECK(s.count == LEVEL_SCHEDULE_MAX);
    CHECK(at(10000) == 0);
    CHECK(at(9990) == 2);
    key(5, 1); // older than all that is remembered
    CHECK(s.count <= LEVEL_SCHEDULE_MAX);
    CHECK(at(10000) == 0);
}

TEST_CASE_METHOD(fixture, "level_schedule: frames of a stretch are counted at their levels")
{
    CHECK(level_schedule_count(&s, 0, 10) == 10);
    level_schedule_set(&s, 0, 10); // even frames only
    CHECK(level_schedule_count(&s, 0, 20) == 15);
    CHECK(level_schedule_count(&s, 11, 12) == 0);
    CHECK(level_schedule_count(&s, 12, 12) == 0);
}

TEST_CASE("level_schedule: without levels every frame is expected")
{
    ladder none{};
    none.source_fps = {30, 1};
    level_schedule s;
    level_schedule_init(&s, &none, 3);
    level_schedule_see(&s, 5, 1, 0, true);
    level_schedule_tell(&s, 0, 5);
    CHECK(level_schedule_at(&s, 7) == -1);
    CHECK(level_schedule_next(&s, 7) == 7);
    CHECK(level_schedule_count(&s, 7, 17) == 10);
}
