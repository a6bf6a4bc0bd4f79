// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/held_frames.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <memory>
#include <vector>

#include "common/base/err.h"

namespace
{

struct buffer {
    std::unique_ptr<held_frames, void (*)(held_frames *)> h{held_frames_new(), held_frames_free};
    bool full = false;

    int add(int64_t number, int reorder = 0, int size_id = 0, bool key = false, size_t bytes = 10,
            uint32_t written_us = 0)
    {
        auto *f = static_cast<received_frame *>(calloc(1, sizeof(received_frame)));
        f->number = number;
        f->reorder = reorder;
        f->size_id = size_id;
        f->key = key;
        f->bytes = bytes;
        f->last_written_us = written_us;
        int err = held_frames_add(h.get(), f, &full, number);
        if (err)
            received_frame_free(f);
        return err;
    }
    std::vector<int64_t> numbers() const
    {
        std::vector<int64_t> all;
        for (int i = 0; i < held_frames_count(h.get()); i++)
            all.push_back(held_frames_at(h.get(), i)->number);
        return all;
    }
};

using list = std::vector<int64_t>;

} // namespace

TEST_CASE("held_frames: in the order of decoding, each number of a size once")
{
    buffer b;
    for (int64_t n : {4, 1, 9, 3})
        CHECK(b.add(n) == 0);
    CHECK(b.add(7, -5) == 0); // decoded at 2
    CHECK(b.numbers() == list{1, 7, 3, 4, 9});
    CHECK(b.add(3) == ERR_RANGE);
    CHECK(b.add(3, 0, 1) == 0); // of another size
    CHECK(b.numbers() == list{1, 7, 3, 3, 4, 9});
    CHECK(held_frames_bytes(b.h.get()) == 60);
    received_frame_free(held_frames_take(b.h.get(), 1));
    held_frames_drop(b.h.get(), 0);
    CHECK(b.numbers() == list{3, 3, 4, 9});
    CHECK(held_frames_bytes(b.h.get()) == 40);
    held_frames_drop_all(b.h.get());
    CHECK(held_frames_bytes(b.h.get()) == 0);
    CHECK(!b.full);
}

TEST_CASE("held_frames: a frame that comes again counts as sent when it was sent last")
{
    buffer b;
    const auto written = [&b] { return held_frames_at(b.h.get(), 0)->last_written_us; };
    CHECK(b.add(8, 0, 1, true, 10, UINT32_MAX) == 0);
    CHECK(b.add(8, 0, 1, true, 10, UINT32_MAX - 1) == ERR_RANGE); // an earlier copy was late
    CHECK(written() == UINT32_MAX);
    CHECK(b.add(8, 0, 1, true, 10, 1) == ERR_RANGE); // the time wraps
    CHECK(written() == 1);
}

TEST_CASE("held_frames: what is asked of the frames next to the front")
{
    buffer b;
    CHECK(held_frames_first_key(b.h.get()) == 0);
    CHECK(held_frames_lowest(b.h.get(), 0) == -1);
    b.add(8, -4); // I0 P4 P8 B6 B5 B7, without P4
    b.add(6, -1);
    b.add(5, 1, 0, true);
    b.add(7, 0);
    CHECK(b.numbers() == list{8, 6, 5, 7});
    CHECK(held_frames_first_key(b.h.get()) == 2);
    struct {
        int64_t number, lowest;
        bool behind, reaches;
    } table[] = {
        {4, 5, false, true},   {5, 5, true, true},  {6, 6, true, true},
        {7, 7, true, true},    {8, 8, false, true}, // at the front
        {9, -1, false, false},
    };
    for (const auto &row : table) {
        INFO(row.number);
        CHECK(held_frames_lowest(b.h.get(), row.number) == row.lowest);
        CHECK(held_frames_has_behind(b.h.get(), row.number) == row.behind);
        CHECK(held_frames_reach(b.h.get(), row.number) == row.reaches);
    }
}

TEST_CASE("held_frames: only so far behind the front")
{
    buffer b;
    for (int64_t n = 0; n < 2 * HELD_FRAMES_REORDER; n++)
        b.add(n);
    CHECK(held_frames_has_behind(b.h.get(), HELD_FRAMES_REORDER - 1));
    CHECK(!held_frames_has_behind(b.h.get(), HELD_FRAMES_REORDER));
    CHECK(held_frames_lowest(b.h.get(), HELD_FRAMES_REORDER) == -1);
}

TEST_CASE("held_frames: when full, the frame that is decoded last is dropped")
{
    SECTION("of frames")
    {
        buffer b;
        for (int64_t n = 1; n <= HELD_FRAMES_MAX; n++)
            REQUIRE(b.add(n) == 0);
        CHECK(!b.full);
        CHECK(b.add(HELD_FRAMES_MAX + 1) == ERR_FULL);
        CHECK(b.full);
        b.full = false;
        CHECK(b.add(0) == 0);
        CHECK(b.full);
        CHECK(held_frames_count(b.h.get()) == HELD_FRAMES_MAX);
        CHECK(b.numbers().back() == HELD_FRAMES_MAX - 1);
    }
    SECTION("of bytes")
    {
        buffer b;
        const size_t half = HELD_FRAMES_MAX_BYTES / 2;
        CHECK(b.add(2, 0, 0, false, half) == 0);
        CHECK(b.add(3, 0, 0, false, half) == 0);
        CHECK(b.add(1, 0, 0, false, 2 * half) == 0);
        CHECK(b.numbers() == list{1});
        CHECK(b.add(0, 0, 0, false, 2 * half + 1) == ERR_FULL); // nor alone
        CHECK(b.numbers().empty());
        CHECK(b.full);
    }
}

TEST_CASE("held_frames: a pause is no time spent here")
{
    buffer b;
    b.add(5);
    b.add(8);
    held_frames_paused(b.h.get(), 100);
    CHECK(held_frames_since(b.h.get(), 0) == 105);
    CHECK(held_frames_since(b.h.get(), 1) == 108);
}
