// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/frame_group.h"

#include <catch2/catch.hpp>
#include <memory>

namespace
{

struct group {
    std::unique_ptr<frame_group> g{new frame_group()};
    ~group()
    {
        frame_group_clear(g.get());
    }
    void add(int64_t number, bool key, size_t bytes = 10)
    {
        coded_frame *f = coded_frame_new(bytes);
        REQUIRE(f);
        f->bytes = bytes;
        f->number = number;
        f->key = key;
        frame_group_add(g.get(), f);
        coded_frame_unref(f);
    }
};

} // namespace

TEST_CASE("a frame group begins with the newest key frame")
{
    group g;
    g.add(1, false);
    CHECK(g.g->count == 0);
    g.add(2, true);
    g.add(3, false);
    CHECK(g.g->count == 2);
    CHECK(g.g->bytes == 20);
    g.add(4, true);
    CHECK(g.g->count == 1);
    CHECK(g.g->frames[0]->number == 4);
}

TEST_CASE("a frame group is bounded")
{
    group frames, bytes;
    frames.add(0, true);
    for (int i = 1; i < FRAME_GROUP_FRAMES; i++)
        frames.add(i, false);
    CHECK(frames.g->count == FRAME_GROUP_FRAMES);
    frames.add(FRAME_GROUP_FRAMES, false);
    CHECK(frames.g->count == 0);
    frames.add(FRAME_GROUP_FRAMES + 1, false);
    CHECK(frames.g->count == 0);
    frames.add(FRAME_GROUP_FRAMES + 2, true);
    CHECK(frames.g->count == 1);

    bytes.add(0, true, FRAME_GROUP_BYTES - 5);
    CHECK(bytes.g->count == 1);
    bytes.add(1, false);
    CHECK(bytes.g->count == 0);
    CHECK(bytes.g->bytes == 0);
}
