// SPDX-License-Identifier: GPL-2.0-or-later
// Runs on one thread, except where a case is about waiting: the others use only calls that do not
// wait.
#include "sender/feed/live_control.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <thread>

#include "common/net/clock.h"

namespace
{

// Both threads' sides, for media in two sizes.
struct fixture {
    live_control *c;
    source idle_source{};
    bool held = false;
    usec_t seek_to = 0, lead = 0;

    explicit fixture(fps rate = {100, 1}) : c(live_control_new(2, rate))
    {
        static const source_ops ops{};
        REQUIRE(c);
        idle_source.ops = &ops;
    }
    ~fixture()
    {
        live_control_free(c);
    }
    bool wait_viewer()
    {
        held = false;
        return live_control_wait_viewer(c, &idle_source, &held, &seek_to, &lead);
    }
    usec_t position(int64_t *number)
    {
        return live_control_position(c, number);
    }
    usec_t position()
    {
        int64_t number;
        return position(&number);
    }
};

} // namespace

TEST_CASE("live_control: of the pictures of an encoder, every n-th by index")
{
    fixture f;
    live_control_watch(f.c, 0, +1);
    live_control_watch(f.c, 1, +1);
    live_control_set_every(f.c, 1, 4);
    for (int64_t index = 0; index < 12; index++) {
        INFO(index);
        CHECK(live_control_begin_picture(f.c, 0, index));
        live_control_done(f.c);
        bool is_encoded = live_control_begin_picture(f.c, 1, index);
        CHECK(is_encoded == (index % 4 == 0));
        if (is_encoded)
            live_control_done(f.c);
    }
}

TEST_CASE("live_control: the source thread runs while there is a viewer or a listener")
{
    fixture f;
    live_control_watch(f.c, 1, +1);
    CHECK(live_control_viewers(f.c, 0) == 0);
    CHECK(live_control_viewers(f.c, 1) == 1);
    CHECK(f.wait_viewer());
    CHECK_FALSE(f.held);
    CHECK(f.seek_to == USEC_NEVER);
    CHECK_FALSE(live_control_begin_picture(f.c, 0, 0)); // the size has no viewer
    CHECK(live_control_begin_picture(f.c, 1, 0));
    live_control_done(f.c);
    CHECK_FALSE(live_control_begin_audio(f.c, 0));
    live_control_watch_audio(f.c, 0, +1);
    CHECK(live_control_begin_audio(f.c, 0));
    CHECK_FALSE(live_control_begin_audio(f.c, 1)); // another track has no listener
    live_control_done(f.c);
    live_control_watch(f.c, 1, -1);
    CHECK(f.wait_viewer()); // for the listener
    live_control_watch_audio(f.c, 0, -1);
    live_control_stop(f.c);
    CHECK_FALSE(f.wait_viewer());
    live_control_watch(f.c, 1, +1);
    CHECK_FALSE(f.wait_viewer());
}

TEST_CASE("live_control: the position is that of the next picture, or of a pending seek")
{
    fixture f;
    int64_t number;
    live_control_watch(f.c, 0, +1);
    CHECK(f.position(&number) == 0);
    CHECK(number == 0);
    REQUIRE(f.wait_viewer());
    live_control_advance(f.c, 0, 0, USEC_NEVER);
    CHECK(f.position(&number) == 10000);
    CHECK(number == 1);
    CHECK(live_control_seek(f.c, 500000, true) == 1);
    CHECK(f.position() == 500000);
    REQUIRE(f.wait_viewer());
    CHECK(f.seek_to == 500000);
    CHECK(f.lead == LIVE_FEED_SEEK_LEAD);
    // Picture numbers continue; the position is that of the seek.
    live_control_advance(f.c, 10000, 1, f.seek_to);
    CHECK(f.position() == 510000);
    live_control_advance(f.c, 20000, 2, USEC_NEVER);
    CHECK(f.position() == 520000);
    (void)live_control_seek(f.c, 0, false);
    REQUIRE(f.wait_viewer());
    CHECK(f.lead == 0);
}

TEST_CASE("live_control: a picture waits for its time, unless a seek is pending")
{
    fixture f({1, 100}); // a time line that is late by less than 1000 s goes on
    usec_t instant, before = clock_now();
    live_control_watch(f.c, 0, +1);
    live_control_set_speed(f.c, 2);
    live_control_begin_pace(f.c, 0);
    usec_t first;
    CHECK(live_control_wait_pace(f.c, 0, &first)); // due at once
    CHECK(first >= before);
    (void)live_control_seek(f.c, 0, false);
    CHECK_FALSE(live_control_wait_pace(f.c, 1, &instant));
    CHECK(instant - first == 50 * USEC_PER_SEC);
}

TEST_CASE("live_control: a file waits while its transport has enough", "[threads]")
{
    fixture f;
    live_control_watch(f.c, 0, +1);
    live_control_begin_pace(f.c, 0);
    live_control_set_full(f.c, true);
    std::atomic<bool> is_due{false};
    std::thread source([&] {
        usec_t instant;
        is_due = live_control_wait_pace(f.c, 7, &instant);
    });
    int64_t number = 0;
    SECTION("until it has not")
    {
        while (number != 7) // the picture is kept
            (void)f.position(&number);
        CHECK_FALSE(is_due);
        live_control_set_full(f.c, false);
        source.join();
        CHECK(is_due);
    }
    SECTION("or a viewer seeks")
    {
        (void)live_control_seek(f.c, 0, false);
        source.join();
        CHECK_FALSE(is_due);
    }
    SECTION("or a picture is wanted")
    {
        live_control_want_picture(f.c, true);
        source.join();
        CHECK(is_due);
    }
}

TEST_CASE("live_control: the picture of a viewer that has just paused waits for it", "[threads]")
{
    fixture f;
    live_control_watch(f.c, 0, +1);
    CHECK_FALSE(live_control_wait_back(f.c)); // it is there
    live_control_watch(f.c, 0, -1);
    std::atomic<int> back{-1};
    std::thread source([&] { back = live_control_wait_back(f.c); });
    SECTION("it comes back")
    {
        // The thread may see the viewer without having waited.
        live_control_watch(f.c, 0, +1);
        source.join();
        CHECK(back >= 0);
    }
    SECTION("it seeks")
    {
        (void)live_control_seek(f.c, 0, false);
        source.join();
        CHECK(back == 0);
    }
    SECTION("the thread must stop")
    {
        live_control_stop(f.c);
        source.join();
        CHECK(back == 0);
    }
}

TEST_CASE("live_control: the end applies to the viewers that reached it")
{
    fixture f;
    live_control_watch(f.c, 0, +1);
    REQUIRE(f.wait_viewer());
    live_control_advance(f.c, 0, 0, USEC_NEVER);
    REQUIRE(f.wait_viewer());
    CHECK(live_control_end(f.c));
    CHECK(live_control_end_is_current(f.c));
    live_control_watch(f.c, 0, -1); // the last one: the next viewer starts at 0
    CHECK(f.position() == 0);
    live_control_watch(f.c, 0, +1);
    CHECK_FALSE(live_control_end_is_current(f.c));
    live_control_wait_left(f.c);
    REQUIRE(f.wait_viewer());
    CHECK(f.seek_to == 0);

    CHECK(live_control_end(f.c));
    (void)live_control_seek(f.c, 30000, false); // as the end is under way
    CHECK_FALSE(live_control_end_is_current(f.c));
    REQUIRE(f.wait_viewer());
    CHECK(f.seek_to == 30000);

    live_control_watch(f.c, 0, -1);
    CHECK_FALSE(live_control_end(f.c)); // no viewer is there: nobody is told
    CHECK(f.position() == 0);
}
