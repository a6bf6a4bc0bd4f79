// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "stream/goddard/frame_loss_counter.h"

namespace
{

// 10 frames/s in two temporal layers: level 0 has the even frames, level 1 all.
struct fixture {
    ladder levels{};
    frame_loss_counter c;
    fixture()
    {
        levels.source_fps = {10, 1};
        levels.size_count = 1;
        levels.sizes[0] = {320, 180, {10, 1}, 2};
        levels.level_count = 2;
        for (int i = 0; i < 2; i++)
            levels.levels[i] = {0, i, 100000 * (i + 1)};
        frame_loss_counter_init(&c, &levels);
    }
    // Adds a frame of one packet, which is whole at once; returns how many frames it shows to be
    // lost.
    int whole(uint32_t number, int level = 1)
    {
        int lost = frame_loss_counter_packet(&c, number, 0, level);
        CHECK(frame_loss_counter_whole(&c, number));
        return lost;
    }
};

} // namespace

TEST_CASE_METHOD(fixture, "frame_loss_counter: the stream begins where it begins")
{
    CHECK(whole(7) == 0);
    CHECK(whole(8) == 0);
}

TEST_CASE_METHOD(fixture,
                 "frame_loss_counter: a later packet decides on what is not whole, and is absent")
{
    CHECK(frame_loss_counter_packet(&c, 0, 0, 1) == 0);
    CHECK(frame_loss_counter_packet(&c, 0, 0, 1) == 0); // another packet of it
    CHECK(frame_loss_counter_packet(&c, 1, 0, 1) == 1); // 0 is not whole
    CHECK_FALSE(frame_loss_counter_whole(&c, 0));       // too late: it was counted
    CHECK(frame_loss_counter_whole(&c, 1));
    CHECK_FALSE(frame_loss_counter_whole(&c, 1));
    CHECK(whole(5) == 3);                               // 2, 3, 4
    CHECK(frame_loss_counter_packet(&c, 3, 0, 1) == 0); // reordered: it was counted
    CHECK_FALSE(frame_loss_counter_whole(&c, 3));
    CHECK(whole(6) == 0);
}

TEST_CASE_METHOD(fixture, "frame_loss_counter: only frames of the level are expected")
{
    CHECK(whole(0, 0) == 0);
    CHECK(whole(2, 0) == 0);
    CHECK(whole(8, 0) == 2); // 4, 6
    CHECK(whole(9, 1) == 0);
    CHECK(whole(13, 1) == 3);                            // 10, 11, 12
    CHECK(whole(18, 0) == 2);                            // a switch between: 14 and 16 both have
    CHECK(whole(22, 1) == 1);                            // 20
    CHECK(frame_loss_counter_packet(&c, 23, 0, 2) == 0); // no such level: nothing came
    CHECK(whole(24, 1) == 1);
}

TEST_CASE_METHOD(fixture, "frame_loss_counter: numbers wrap at 2^32")
{
    CHECK(whole(UINT32_MAX - 1) == 0);
    CHECK(frame_loss_counter_packet(&c, 1, 0, 1) == 2); // 2^32 - 1, 2^32
    CHECK(frame_loss_counter_whole(&c, (int64_t{1} << 32) + 1));
}

TEST_CASE_METHOD(fixture,
                 "frame_loss_counter: nothing is lost over a gap, a step back, or a restart")
{
    CHECK(whole(10) == 0);
    CHECK(whole(10 + FRAME_LOSS_COUNTER_MAX_GAP) == FRAME_LOSS_COUNTER_MAX_GAP - 1);
    CHECK(whole(11 + 2 * FRAME_LOSS_COUNTER_MAX_GAP) == 0);
    CHECK(whole(3) == 0);
    CHECK(frame_loss_counter_packet(&c, 4, 0, 1) == 0);
    frame_loss_counter_restart(&c);
    CHECK(whole(20) == 0);
}

TEST_CASE_METHOD(fixture, "frame_loss_counter: frames that come in the order of decoding")
{
    levels.sizes[0].layers = 3;
    levels.levels[1].temporal_id = 2;
    struct {
        uint32_t number;
        int reorder;
        bool comes;
        int lost; // are known with it
    } table[] = {
        {0, 0, true, 0},  {4, -3, true, 0}, {2, 0, true, 0},  {1, 2, false, 0},
        {3, 1, true, 0},  {8, -3, true, 1}, // surely behind frame 1
        {6, 0, false, 0}, {5, 2, true, 0},  {7, 1, true, 0},  {12, -3, true, 0},
        {10, 0, true, 1}, {9, 2, true, 0},  {11, 1, true, 0},
    };
    for (const auto &f : table) {
        INFO(f.number);
        if (!f.comes)
            continue;
        CHECK(frame_loss_counter_packet(&c, f.number, f.reorder, 1) == f.lost);
        CHECK(frame_loss_counter_whole(&c, f.number));
    }
    // A ladder with one layer.
    CHECK(frame_loss_counter_packet(&c, 16, -3, 0) == 0);
    CHECK(frame_loss_counter_whole(&c, 16));
    CHECK(frame_loss_counter_packet(&c, 20, -3, 0) == 0);
    CHECK(frame_loss_counter_whole(&c, 20));
}
