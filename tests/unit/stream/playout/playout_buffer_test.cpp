// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/playout_buffer.h"

#include <catch2/catch.hpp>

#include <functional>

#include "common/base/err.h"
#include "stream/playout/film_clock.h"
#include "tests/support/playout_rig.hpp"
#include "tests/support/two_sizes.hpp"

TEST_CASE("playout_buffer: what comes next")
{
    playout_rig r(film_clock, true);
    CHECK(playout_buffer_front(r.b).frame == nullptr);
    r.push(0, true);
    r.push(1);
    r.push(3);
    playout_buffer_start(r.b, 0);
    playout_front f = playout_buffer_front(r.b);
    REQUIRE(f.frame);
    CHECK(f.frame->number == 0);
    CHECK(f.next == 0);
    CHECK(f.expected == 0);
    CHECK(f.in_turn);
    CHECK(f.follows);
    CHECK_FALSE(f.lacks_reference);
    CHECK_FALSE(f.lacks_layer);
    CHECK(r.take() == 0);
    CHECK(r.take() == 1);
    playout_buffer_set_missing(r.b, 2); // frame 3 depends on it
    f = playout_buffer_front(r.b);
    CHECK(f.expected == 2);
    CHECK_FALSE(f.in_turn);
    CHECK(f.lacks_reference);
    CHECK(playout_buffer_may_come(r.b, 2));
    playout_buffer_end(r.b);
    CHECK_FALSE(playout_buffer_front(r.b).lacks_reference);
    CHECK_FALSE(playout_buffer_may_come(r.b, 2));
    CHECK(playout_buffer_pass(r.b, 2, 0));
    CHECK(r.take() == -1); // it cannot be decoded
    int64_t number;
    bool late;
    usec_t wake;
    CHECK_FALSE(playout_buffer_decided(r.b, &number, &late, &wake, 0));
    CHECK(wake > 0);
    CHECK(r.push(2) == 0);
    REQUIRE(playout_buffer_decided(r.b, &number, &late, &wake, 0));
    CHECK(number == 2);
    CHECK(late);
}

TEST_CASE("playout_buffer: a seek begins again, and a closed buffer takes nothing until one")
{
    playout_rig r(film_clock);
    for (int n = 0; n < 5; n++)
        r.push(n, n % 2 == 0);
    CHECK(playout_buffer_media(r.b, 0) == 500 * playout_rig::ms);
    playout_buffer_seek(r.b, 3);
    CHECK(held_frames_count(playout_buffer_held(r.b)) == 2);
    CHECK(r.push(2, true) == ERR_RANGE);
    CHECK(playout_buffer_awaited(r.b) == -1);
    playout_buffer_close(r.b);
    CHECK(r.push(6, true) == ERR_RANGE);
    playout_buffer_seek(r.b, 0);
    CHECK(r.push(6, true) == 0);
}

TEST_CASE("playout_buffer: far from all, a frame is believed when others are near it")
{
    playout_rig r(film_clock);
    r.push(0, true);
    playout_buffer_start(r.b, 0);
    for (int n = 0; n < PLAYOUT_RESYNC; n++) {
        bool moved;
        int err = playout_buffer_push(r.b, playout_rig::frame(100000 + 2 * n, true), &moved, 0);
        CHECK(moved == (n + 1 == PLAYOUT_RESYNC));
        CHECK(err == (moved ? 0 : ERR_RANGE));
    }
    CHECK(playout_buffer_next(r.b) == 100000 + 2 * (PLAYOUT_RESYNC - 1));
}

TEST_CASE("playout_buffer: the size of a frame that cannot be decoded is not followed")
{
    playout_rig r(film_clock, false, two_sizes());
    r.push(0, true);
    playout_buffer_start(r.b, 0);
    CHECK(r.take() == 0);
    received_frame *f = playout_rig::frame(2);
    f->size_id = 1;
    bool moved;
    REQUIRE(playout_buffer_push(r.b, f, &moved, 0) == 0);
    CHECK(r.take() == -1);
    CHECK(playout_buffer_is_followed(r.b, 0));
}

// Asked here alone: what goes on to the tracker, the layers and the clocks can be.
TEST_CASE("playout_buffer: frames that cannot be")
{
    struct row {
        const char *name;
        std::function<void(received_frame &)> change;
    };
    const row table[] = {
        {"a size that the ladder lacks", [](auto &f) { f.size_id = 99; }},
        {"a size below 0", [](auto &f) { f.size_id = -1; }},
        {"a number below 0", [](auto &f) { f.number = -4; }},
        {"a number too high", [](auto &f) { f.number = PLAYOUT_MAX_NUMBER; }},
        {"it depends on itself", [](auto &f) { f.depends_on = f.number; }},
        {"on one too far ahead", [](auto &f) { f.depends_on = f.number + 2000; }},
        {"on a number below 0", [](auto &f) { f.depends_on = INT64_MIN; }},
        {"a key frame that depends on another", [](auto &f) { f.key = true; }},
        {"a layer, where there are none",
         [](auto &f) {
             f.size_id = 1;
             f.on_lower = true;
         }},
    };
    for (bool cumulative : {false, true}) {
        ladder l = two_sizes();
        l.cumulative = cumulative;
        playout_rig r(film_clock, false, l);
        for (const row &t : table) {
            INFO(t.name << ", cumulative: " << cumulative);
            received_frame *f = playout_rig::frame(4);
            t.change(*f);
            bool layer = f->on_lower, moved;
            int err = playout_buffer_push(r.b, f, &moved, 0);
            CHECK(err == (layer && cumulative ? 0 : ERR_MALFORMED));
        }
        received_frame *f = playout_rig::frame(4);
        f->size_id = 1;
        bool moved;
        CHECK(playout_buffer_push(r.b, f, &moved, 0) == (cumulative ? ERR_MALFORMED : 0));
    }
}
