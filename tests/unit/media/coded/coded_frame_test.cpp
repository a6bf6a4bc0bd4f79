// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/coded/coded_frame.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <thread>
#include <vector>

TEST_CASE("a new coded frame is zero, with 64 zero bytes after its data")
{
    coded_frame *f = coded_frame_new(100);
    REQUIRE(f);
    CHECK(f->references == 1);
    CHECK(f->bytes == 100);
    CHECK(f->nal_count == 0);
    for (size_t i = 0; i < 164; i++)
        CHECK(f->data[i] == 0);
    std::memset(f->data, 1, 164);
    coded_frame_unref(f);
    coded_frame_unref(nullptr);
    CHECK(coded_frame_new(SIZE_MAX) == nullptr);
}

TEST_CASE("any thread may hold and release a coded frame")
{
    coded_frame *f = coded_frame_new(1);
    REQUIRE(f);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++) {
        coded_frame_ref(f);
        threads.emplace_back([f] {
            for (int i = 0; i < 1000; i++)
                coded_frame_unref(coded_frame_ref(f));
            coded_frame_unref(f);
        });
    }
    for (std::thread &t : threads)
        t.join();
    CHECK(f->references == 1);
    coded_frame_unref(f);
}
