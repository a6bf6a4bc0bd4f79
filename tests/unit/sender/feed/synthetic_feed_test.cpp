// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <functional>
#include <vector>

#include "common/net/clock.h"
#include "sender/feed/synthetic_feed.h"

namespace
{
struct given {
    int64_t number;
    int size_id;
    usec_t captured, now;
};

struct fixture {
    uv_loop_t loop;
    synthetic media;
    synthetic_feed *feed;
    std::vector<given> frames;
    std::function<void()> after = [] {};

    fixture()
    {
        uv_loop_init(&loop);
        synthetic_goddard(&media);
        feed = synthetic_feed_new(
            &loop, &media,
            [](void *ctx, coded_frame *f, usec_t now) {
                auto *self = static_cast<fixture *>(ctx);
                self->frames.push_back({f->number, f->size_id, f->captured, now});
                self->after();
            },
            this);
        REQUIRE(feed);
        synthetic_feed_set_speed(feed, 4);
    }
    ~fixture()
    {
        synthetic_feed_free(feed);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    // Until so many frames are there, at most 60 s.
    void run(size_t count)
    {
        const usec_t deadline = clock_now() + 60 * USEC_PER_SEC;
        while (frames.size() < count && clock_now() < deadline)
            uv_run(&loop, UV_RUN_ONCE);
        REQUIRE(frames.size() >= count);
    }
};
} // namespace

TEST_CASE("synthetic feed: frames of the watched size at their times")
{
    fixture f;
    synthetic_feed_watch(f.feed, 6, +1); // 30 frames/s, here 120
    f.run(12);
    for (size_t i = 0; i < f.frames.size(); i++) {
        CHECK(f.frames[i].number == static_cast<int64_t>(2 * i + 1));
        CHECK(f.frames[i].size_id == 6);
        CHECK(f.frames[i].captured <= f.frames[i].now);
        CHECK(f.frames[i].captured - f.frames[0].captured ==
              Approx(static_cast<double>(i) * 1e6 / 120).margin(2));
    }
}

TEST_CASE("synthetic feed: two sizes are given side by side, and one that is let go no more")
{
    fixture f;
    synthetic_feed_watch(f.feed, 5, +1);
    synthetic_feed_watch(f.feed, 6, +1);
    f.after = [&f] {
        if (f.frames.size() == 6)
            synthetic_feed_watch(f.feed, 5, -1);
    };
    f.run(10);
    const int sizes[] = {5, 6, 5, 6, 5, 6, 6, 6, 6, 6};
    const int64_t numbers[] = {1, 1, 3, 3, 5, 5, 7, 9, 11, 13};
    for (int i = 0; i < 10; i++) {
        CAPTURE(i);
        CHECK(f.frames[i].size_id == sizes[i]);
        CHECK(f.frames[i].number == numbers[i]);
    }
}

TEST_CASE("synthetic feed: time stands still while nobody watches")
{
    fixture f;
    synthetic_feed_watch(f.feed, 6, +1);
    f.after = [&f] {
        if (f.frames.size() == 3)
            synthetic_feed_watch(f.feed, 6, -1);
    };
    f.run(3);
    uv_timer_t later; // the time of a dozen numbers
    uv_timer_init(&f.loop, &later);
    uv_timer_start(
        &later, [](uv_timer_t *t) { uv_close(reinterpret_cast<uv_handle_t *>(t), nullptr); }, 50,
        0);
    while (uv_is_active(reinterpret_cast<uv_handle_t *>(&later)))
        uv_run(&f.loop, UV_RUN_ONCE);
    CHECK(f.frames.size() == 3);
    synthetic_feed_watch(f.feed, 6, +1);
    f.run(4);
    CHECK(f.frames[3].number == 7);
}
