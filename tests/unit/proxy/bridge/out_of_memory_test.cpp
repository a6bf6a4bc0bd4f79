// SPDX-License-Identifier: GPL-2.0-or-later
// A bridge without memory is not made, and a frame that there is no memory for is not passed on.
#include <catch2/catch.hpp>

#include <cstdlib>

#include "proxy/bridge/bridge.h"
#include "proxy/bridge/shared_frame.h"
#include "tests/support/failing_alloc.hpp"
#include "tests/support/two_sizes.hpp"

TEST_CASE("bridge: without memory")
{
    const ladder l = two_sizes();
    bridge_ops ops{};
    bridge_config config{};
    config.ladder = &l;
    config.target = 250 * USEC_PER_MSEC;
    config.ops = &ops;
    CHECK(each_allocation_fails([&config] { return bridge_new(&config, 0); }, bridge_free) >= 2);
    bridge_free(nullptr);
}

TEST_CASE("shared_frame: without memory the frame is freed, and there is none")
{
    const ladder l = two_sizes();
    auto make = [] {
        auto *f = static_cast<received_frame *>(
            calloc(1, sizeof(received_frame))); // its own memory is not what fails
        REQUIRE(f);
        f->number = 4;
        f->depends_on = -1;
        f->key = true;
        f->level = 1;
        return f;
    };
    for (int n = 0;; n++) {
        CAPTURE(n);
        received_frame *f = make();
        failing_alloc_set(n);
        shared_frame *s = shared_frame_new(f, &l, true, 0);
        if (!failing_alloc_end()) {
            REQUIRE(s);
            CHECK(s->head.number == 4);
            shared_frame_unref(s);
            break;
        }
        if (s) { // what could be copied of it: its head
            CHECK(s->head.number == 4);
            CHECK(s->coded == nullptr);
            shared_frame_unref(s);
        }
    }
    shared_frame_unref(nullptr);
}
