// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/bridge/recent_frames.h"

#include <catch2/catch.hpp>

#include <cstdlib>

#include "tests/support/two_sizes.hpp"

namespace
{
shared_frame *frame(int64_t number)
{
    ladder l = two_sizes();
    auto *f = static_cast<received_frame *>(calloc(1, sizeof(received_frame)));
    REQUIRE(f);
    f->number = number;
    shared_frame *s = shared_frame_new(f, &l, true, 0); // without bytes, which are not looked at
    REQUIRE(s);
    return s;
}

void add(recent_frames *r, int64_t number)
{
    shared_frame *f = frame(number);
    recent_frames_add(r, f);
    shared_frame_unref(f);
}
} // namespace

TEST_CASE("recent_frames: the newest, after a number, in the order in which they came")
{
    recent_frames r{};
    shared_frame *out[RECENT_FRAMES];
    CHECK(recent_frames_after(&r, -1, out) == 0);
    for (int64_t n : {1, 2, 5, 4, 3})
        add(&r, n);
    REQUIRE(recent_frames_after(&r, 3, out) == 2);
    CHECK(out[0]->head.number == 5);
    CHECK(out[1]->head.number == 4);
    for (int64_t n = 10; n < 10 + RECENT_FRAMES; n++)
        add(&r, n);
    REQUIRE(recent_frames_after(&r, -1, out) == RECENT_FRAMES);
    CHECK(out[0]->head.number == 10);
    recent_frames_clear(&r);
    CHECK(recent_frames_after(&r, -1, out) == 0);
}
