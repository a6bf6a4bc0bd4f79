// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <functional>
#include <vector>

#include "common/net/clock.h"
#include "sender/feed/synthetic_media.h"

namespace
{
struct given {
    int64_t number;
    int size_id;
    usec_t captured, now;
};

struct fixture : frame_sink {
    uv_loop_t loop;
    stream_media *media;
    media_feed *feed;
    std::vector<given> frames;
    std::function<void()> after = [] {};

    static void on_frame(frame_sink *sink, coded_frame *f, usec_t now)
    {
        auto *self = static_cast<fixture *>(sink);
        self->frames.push_back({f->number, f->size_id, f->captured, now});
        self->after();
    }
    fixture() : frame_sink{}
    {
        static const frame_sink_ops sink_ops = {on_frame, nullptr, nullptr, nullptr, nullptr,
                                                nullptr,  nullptr, nullptr, nullptr};
        uv_loop_init(&loop);
        ops = &sink_ops;
        synthetic goddard;
        synthetic_goddard(&goddard);
        media = synthetic_media_new(&goddard);
        REQUIRE(media);
        const media_feed_config config = {&loop, this, false};
        feed = media->ops->feed_new(media, &config);
        REQUIRE(feed);
        feed->ops->set_speed(feed, 4);
    }
    ~fixture()
    {
        feed->ops->free(feed);
        media->ops->free(media);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    void watch(int size_id, int change)
    {
        feed->ops->watch(feed, size_id, change);
    }
    // Runs until `count` frames have arrived, at most 60 s.
    void run(size_t count)
    {
        const usec_t deadline = clock_now() + 600 * USEC_PER_SEC;
        while (frames.size() < count && clock_now() < deadline)
            uv_run(&loop, UV_RUN_ONCE);
        REQUIRE(frames.size() >= count);
    }
};
} // namespace

TEST_CASE("synthetic_media: frames of the watched size at their times")
{
    fixture f;
    f.watch(6, +1); // 30 frames/s, here 120
    f.run(12);
    for (size_t i = 0; i < f.frames.size(); i++) {
        CHECK(f.frames[i].number == static_cast<int64_t>(2 * i + 1));
        CHECK(f.frames[i].size_id == 6);
        CHECK(f.frames[i].captured <= f.frames[i].now);
        CHECK(f.frames[i].captured - f.frames[0].captured ==
              Approx(static_cast<double>(i) * 1e6 / 120).margin(2));
    }
}

TEST_CASE(
    "synthetic_media: two sizes are delivered together, and one that is no longer watched stops")
{
    fixture f;
    f.watch(5, +1);
    f.watch(6, +1);
    f.after = [&f] {
        if (f.frames.size() == 6)
            f.watch(5, -1);
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

TEST_CASE("synthetic_media: the time line stops while no size is watched")
{
    fixture f;
    f.watch(6, +1);
    f.after = [&f] {
        if (f.frames.size() == 3)
            f.watch(6, -1);
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
    f.watch(6, +1);
    f.run(4);
    CHECK(f.frames[3].number == 7);
}
