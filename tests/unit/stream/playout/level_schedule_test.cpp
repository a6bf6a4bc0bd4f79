// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "stream/playout/level_schedule.h"

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
    // A frame of this level; of its lowest layer if it is even.
    void see(int64_t n, int level)
    {
        level_schedule_see(&s, n, level, level / 2, static_cast<int>(n & 1), false);
    }
    void see_all(int64_t from, int64_t to, int level)
    {
        for (int64_t n = from; n < to; n++)
            if (level_has_frame(&levels, level, n))
                see(n, level);
    }
};

} // namespace

TEST_CASE_METHOD(fixture, "level_schedule: more layers of a size start with their first frame")
{
    see_all(0, 10, 1);
    see_all(10, 20, 0);
    CHECK(level_schedule_next(&s, 17) == 18);
    see(20, 1);
    CHECK(at(19) == 0);
    CHECK(at(20) == 1);
    CHECK(level_schedule_next(&s, 21) == 21);
}

TEST_CASE_METHOD(fixture, "level_schedule: fewer layers start behind the last frame of before")
{
    see_all(0, 9, 1);
    see(10, 0); // 9 may be left out, or lost
    CHECK(at(8) == 1);
    CHECK(at(9) == 0);
    CHECK(level_schedule_next(&s, 9) == 10);
    CHECK(level_schedule_next(&s, 11) == 12); // even frames only
    SECTION("it was late")
    {
        see(9, 1);
        CHECK(at(9) == 1);
        CHECK(at(10) == 0);
        CHECK(s.count == 2);
    }
}

TEST_CASE_METHOD(fixture, "level_schedule: another size starts with its first frame")
{
    see_all(0, 12, 1);
    see(16, 3);
    CHECK(at(15) == 1);
    CHECK(at(16) == 3);
    see(13, 1);
    CHECK(at(15) == 1);
    see(17, 3);
    CHECK(at(1000) == 3);
}

TEST_CASE_METHOD(fixture, "level_schedule: a late frame of the level before, between others")
{
    see_all(0, 10, 1);
    see_all(20, 30, 3);
    see(22, 2); // of fewer layers: the frame is of both levels
    CHECK(at(22) == 3);
    see(23, 1); // cannot be sent, but can be received
    CHECK(at(22) == 3);
    CHECK(at(23) == 1);
    CHECK(at(24) == 3);
    see(14, 1);
    CHECK(at(14) == 1);
    CHECK(at(19) == 1);
    CHECK(at(20) == 3);
}

TEST_CASE_METHOD(fixture, "level_schedule: another size's encoder may be behind")
{
    see_all(0, 20, 1);
    level_schedule_see(&s, 18, 3, 1, 0, true);
    CHECK(at(17) == 1);
    CHECK(at(18) == 3);
    CHECK(at(20) == 3);
}

TEST_CASE_METHOD(fixture, "level_schedule: what cannot be is not believed")
{
    struct {
        int64_t number;
        int level, size, layer;
    } const table[] = {
        {10, 4, 1, 0}, {10, -1, 0, 0}, {10, 2, 0, 0}, {10, 0, 0, 1}, {-5, 3, 1, 0},
    };
    see(0, 1);
    for (const auto &row : table) {
        level_schedule_see(&s, row.number, row.level, row.size, row.layer, false);
        CHECK(s.count == 1);
        CHECK(at(10) == 1);
    }
}

TEST_CASE_METHOD(fixture, "level_schedule: a bounded number of changes, ascending")
{
    for (int i = 1; i <= 1000; i++)
        see(10 * i, i % 2 ? 3 : 1);
    CHECK(s.count == LEVEL_SCHEDULE_MAX);
    CHECK(at(10000) == 1);
    CHECK(at(9990) == 3);
    see(5, 3); // older than all that is remembered
    see(9992, 1);
    CHECK(at(9992) == 1);
    CHECK(at(9993) == 3);
    CHECK(s.count <= LEVEL_SCHEDULE_MAX);
    for (int i = 1; i < s.count; i++)
        CHECK(s.starts[i - 1].from < s.starts[i].from);
}

TEST_CASE_METHOD(fixture, "level_schedule: frames of a stretch are counted at their levels")
{
    CHECK(level_schedule_count(&s, 0, 10) == 10);
    see(9, 1);
    see(10, 0); // even frames only
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
    level_schedule_see(&s, 5, 1, 1, 0, true);
    CHECK(level_schedule_at(&s, 7) == -1);
    CHECK(level_schedule_next(&s, 7) == 7);
    CHECK(level_schedule_count(&s, 7, 17) == 10);
}

TEST_CASE_METHOD(fixture, "level_schedule: what a frame's packets say of its level may be believed")
{
    CHECK(level_schedule_is_of(&levels, 0, 0, 0));
    CHECK(level_schedule_is_of(&levels, 1, 0, 0)); // a lower layer of it
    CHECK_FALSE(level_schedule_is_of(&levels, 0, 0, 1));
    CHECK_FALSE(level_schedule_is_of(&levels, 1, 1, 0)); // another size's
    CHECK_FALSE(level_schedule_is_of(&levels, 4, 1, 0));
    CHECK_FALSE(level_schedule_is_of(&levels, -1, 0, 0));
}

TEST_CASE("level_schedule: if sizes are layers, a frame of the smallest tells the level of all")
{
    fixture f;
    f.levels.cumulative = true;
    REQUIRE(level_schedule_is_of(&f.levels, 3, 0, 0));
    CHECK(level_schedule_is_of(&f.levels, 3, 1, 1));
    CHECK_FALSE(level_schedule_is_of(&f.levels, 1, 1, 0)); // a larger size than the level's
    auto see = [&](int64_t n, int level, bool key) {
        level_schedule_see(&f.s, n, level, 0, static_cast<int>(n & 1), key);
    };
    see(0, 3, true);
    see(1, 3, false);
    see(2, 2, false); // one temporal layer less: after the last frame of the level before
    CHECK(f.at(1) == 3);
    CHECK(f.at(2) == 2);
    see(4, 1, false); // a size less, a layer more
    CHECK(f.at(3) == 2);
    CHECK(f.at(4) == 1);
    see(3, 2, true); // a late key frame, as each frame can be one: the later level stays
    CHECK(f.at(3) == 2);
    CHECK(f.at(4) == 1);
}

TEST_CASE_METHOD(fixture, "level_schedule: of two copies of frames, one is chosen")
{
    see_all(0, 20, 0);
    level_schedule_see(&s, 8, 3, 1, 0, true); // the other copies begin
    see_all(9, 30, 3);
    see_all(30, 40, 2);
    level_schedule_choose(&s, 8, 16, 0);
    for (int64_t n = 0; n < 16; n++)
        CHECK(at(n) == 0);
    CHECK(at(16) == 3);
    CHECK(at(30) == 2);
    level_schedule_choose(&s, 16, 24, 1); // behind all
    CHECK(at(15) == 0);
    CHECK(at(23) == 1);
    CHECK(at(24) == 3);
    CHECK(at(30) == 2);
}
