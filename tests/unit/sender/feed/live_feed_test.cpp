// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/feed/live_feed.h"

#include <thread>

#include "common/net/clock.h"
#include "tests/support/film.hpp"

namespace
{

const live_feed_viewer VIEWER = {1, true};

struct cinema {
    uv_loop_t loop;
    uv_timer_t deadline;
    live_feed *e = nullptr;
    int frames = 0;
    int ends = 0;
    bool late = false;

    static void on_frame(void *ctx, coded_frame *, usec_t)
    {
        static_cast<cinema *>(ctx)->frames++;
    }
    static void on_audio(void *, coded_audio *, usec_t) {}
    static void on_end(void *ctx, const char *why, usec_t)
    {
        auto *c = static_cast<cinema *>(ctx);
        CHECK(why == nullptr);
        c->ends++;
    }

    cinema()
    {
        static const live_feed_events events = {on_frame, on_audio, nullptr, nullptr, on_end};
        ladder levels = film::levels();
        uv_loop_init(&loop);
        uv_timer_init(&loop, &deadline);
        deadline.data = this;
        uv_timer_start(
            &deadline, [](uv_timer_t *t) { static_cast<cinema *>(t->data)->late = true; }, 600000,
            0);
        e = live_feed_new(film::make(), &levels, SDP_H264, video_engine_at(0), &events, this);
        REQUIRE(e);
        REQUIRE(live_feed_start(e, &loop) == 0);
    }
    ~cinema()
    {
        live_feed_free(e);
        uv_close(reinterpret_cast<uv_handle_t *>(&deadline), nullptr);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    void run_to_end(int count)
    {
        while (ends < count && !late)
            uv_run(&loop, UV_RUN_ONCE);
        REQUIRE(ends == count);
    }
    live_feed_size_stats stats()
    {
        live_feed_size_stats s;
        live_feed_stats_of_size(e, 0, &s);
        return s;
    }
    // Pictures that were encoded: those of a film wait for a busy encoder.
    uint64_t pictures()
    {
        return stats().frames;
    }
    // They have been encoded; no event has been delivered yet.
    void wait_pictures(uint64_t count)
    {
        usec_t until = clock_now() + 600 * USEC_PER_SEC;
        while (pictures() < count && clock_now() < until)
            std::this_thread::yield();
        REQUIRE(pictures() == count);
    }
    usec_t position()
    {
        int64_t number;
        return live_feed_position(e, &number);
    }
};

} // namespace

TEST_CASE("live_feed: a film starts again for a viewer that comes after the last one has left",
          "[threads]")
{
    cinema c;
    live_feed_watch(c.e, 0, &VIEWER, +1);
    for (int round = 1; round <= 3; round++) {
        INFO("round " << round);
        c.frames = 0;
        c.run_to_end(round);
        CHECK(c.frames == film::FRAMES);
        CHECK(c.position() == film::END);
        // At once, before any thread can notice that the viewer left.
        live_feed_watch(c.e, 0, &VIEWER, -1);
        CHECK(c.position() == 0);
        live_feed_watch(c.e, 0, &VIEWER, +1);
        CHECK(c.position() < film::END);
    }
    live_feed_watch(c.e, 0, &VIEWER, -1);
}

TEST_CASE("live_feed: the stats have the rate that the encoder has now", "[threads]")
{
    cinema c;
    const ladder levels = film::levels();
    const int nominal = ladder_size_bitrate(&levels, 0);
    CHECK(c.stats().bitrate_bps == nominal);
    live_feed_set_bitrate(c.e, 0, nominal / 2);
    CHECK(c.stats().bitrate_bps == nominal / 2);
    live_feed_set_bitrate(c.e, 0, 0);
    CHECK(c.stats().bitrate_bps == nominal);
}

TEST_CASE("live_feed: a viewer that seeks as a film ends does not get that end", "[threads]")
{
    cinema c;
    live_feed_watch(c.e, 0, &VIEWER, +1);
    c.wait_pictures(film::FRAMES);
    CHECK(live_feed_seek(c.e, 0, false) >= film::FRAMES);
    c.run_to_end(1);
    CHECK(c.pictures() == 2 * film::FRAMES);
    live_feed_watch(c.e, 0, &VIEWER, -1);
}
