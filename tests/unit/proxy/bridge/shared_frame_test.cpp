// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/bridge/shared_frame.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <cstring>

#include "tests/support/two_sizes.hpp"

namespace
{
shared_frame *frame(int64_t number, int level = 1, size_t bytes = 6)
{
    const uint8_t data[] = {0, 0, 1, 9, 8, 7};
    ladder l = two_sizes();
    auto *f = static_cast<received_frame *>(calloc(1, sizeof(received_frame)));
    REQUIRE(f);
    f->number = number;
    f->level = level;
    f->key = true;
    f->depends_on = -1;
    f->packets = 1;
    f->bytes = bytes;
    f->data = static_cast<uint8_t *>(malloc(sizeof(data)));
    REQUIRE(f->data);
    memcpy(f->data, data, sizeof(data));
    return shared_frame_new(f, &l, true, 1234);
}
} // namespace

TEST_CASE("shared_frame: viewers of one level share the bytes, those of another have a copy")
{
    shared_frame *f = frame(7);
    REQUIRE(f);
    CHECK(f->head.number == 7);
    CHECK(f->head.data == nullptr);
    CHECK(f->coded->captured == 1234);
    coded_frame *same = shared_frame_at(f, 1), *lower = shared_frame_at(f, 0);
    REQUIRE(lower);
    CHECK(same == f->coded);
    CHECK(lower != f->coded);
    CHECK(lower->level == 0);
    CHECK(f->coded->level == 1);
    CHECK(lower->number == 7);
    CHECK(lower->nal_count == 1);
    CHECK(lower->references == 1);
    CHECK(memcmp(lower->data, f->coded->data, f->coded->bytes) == 0);
    shared_frame_unref(shared_frame_ref(f));
    shared_frame_unref(f);
    CHECK(same->data[3] == 9); // its own references keep it
    coded_frame_unref(same);
    coded_frame_unref(lower);
}

TEST_CASE("shared_frame: of a frame that lies nothing is sent")
{
    shared_frame *wrong = frame(7, 99), *empty = frame(7, 1, 0);
    CHECK(wrong->coded == nullptr);
    CHECK(empty->coded == nullptr);
    shared_frame_unref(wrong);
    shared_frame_unref(empty);
    shared_frame_unref(nullptr);
}
