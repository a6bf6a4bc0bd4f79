// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/stored/stored_feed.h"

#include <vector>

#include "server/stored/stored_media.h"
#include "tests/support/stored_film.hpp"

namespace
{

// One viewer of a stored film, at four times its pace.
struct screening : frame_sink {
    stored_film film;
    uv_loop_t loop;
    uv_timer_t deadline;
    stream_media *media;
    media_feed *feed;
    std::vector<int64_t> numbers, keys, again;
    int ends = 0;
    bool late = false;

    static screening *of(frame_sink *sink)
    {
        return static_cast<screening *>(sink);
    }
    static void on_frame(frame_sink *sink, coded_frame *f, usec_t)
    {
        of(sink)->numbers.push_back(f->number);
        if (f->key)
            of(sink)->keys.push_back(f->number);
    }
    static void on_again(frame_sink *sink, coded_frame *f, usec_t)
    {
        of(sink)->again.push_back(f->number);
    }
    static void on_end(frame_sink *sink, usec_t)
    {
        of(sink)->ends++;
    }

    explicit screening(bool repeats, bool exact = false) : frame_sink{}
    {
        static const frame_sink_ops sink_ops = {on_frame, on_again, nullptr, on_end,
                                                nullptr,  nullptr,  nullptr};
        ops = &sink_ops;
        uv_loop_init(&loop);
        uv_timer_init(&loop, &deadline);
        deadline.data = this;
        uv_timer_start(
            &deadline, [](uv_timer_t *t) { static_cast<screening *>(t->data)->late = true; }, 60000,
            0);
        media = stored_media_new(film.open(), repeats, true);
        REQUIRE(media);
        REQUIRE(media->ops->start(media, &loop) == 0);
        const media_feed_config config = {&loop, this, exact};
        feed = media->ops->feed_new(media, &config);
        REQUIRE(feed);
        feed->ops->set_speed(feed, 4);
    }
    ~screening()
    {
        feed->ops->free(feed);
        media->ops->free(media);
        uv_close(reinterpret_cast<uv_handle_t *>(&deadline), nullptr);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    void watch(int change)
    {
        feed->ops->watch(feed, 0, change);
    }
    // Seeks unless `seconds` is negative.
    media_place place(double seconds, double scale = 1)
    {
        const media_seek to = {seconds, &media->ladder.levels[0], false, scale};
        media_place out{};
        bool sought = feed->ops->place(feed, seconds < 0 ? nullptr : &to, &out, 0) == MEDIA_SOUGHT;
        CHECK(sought == (seconds >= 0));
        return out;
    }
    void run_to_frames(size_t count)
    {
        while (numbers.size() < count && !late)
            uv_run(&loop, UV_RUN_ONCE);
        REQUIRE(numbers.size() >= count);
    }
    void run_to_end()
    {
        while (!ends && !late)
            uv_run(&loop, UV_RUN_ONCE);
        REQUIRE(ends == 1);
    }
};

std::vector<int64_t> range(int64_t from, int64_t to)
{
    std::vector<int64_t> all;
    for (; from < to; from++)
        all.push_back(from);
    return all;
}

} // namespace

TEST_CASE("stored_feed: all frames in order, a key frame in each group, and the end")
{
    screening s(false);
    CHECK(s.place(-1).frames.first == 0);
    s.watch(+1);
    s.run_to_end();
    CHECK(s.numbers == range(0, stored_film::FRAMES));
    CHECK(s.keys == std::vector<int64_t>{0, 20});
    CHECK(s.place(-1).seconds == 0);
}

TEST_CASE("stored_feed: numbers continue where the media starts again")
{
    screening s(true);
    s.watch(+1);
    s.run_to_frames(stored_film::FRAMES + 5);
    CHECK(s.numbers == range(0, static_cast<int64_t>(s.numbers.size())));
    CHECK(s.ends == 0);
}

TEST_CASE("stored_feed: a seek goes to the key frame before the target")
{
    for (bool exact : {false, true}) {
        screening s(false, exact);
        media_place place = s.place(2.5); // frame 25; its group begins with frame 20
        CHECK(place.seconds == Approx(exact ? 2.5 : 2.0));
        CHECK(place.frames.show == place.frames.first + (exact ? 5 : 0));
        CHECK(place.frames.ahead);
        s.watch(+1);
        s.run_to_end();
        CHECK(s.numbers == range(place.frames.first, place.frames.first + 20));
    }
}

TEST_CASE("stored_feed: lost and unsent frames are delivered again")
{
    screening s(false);
    s.watch(+1);
    s.run_to_frames(5);
    s.watch(-1);
    auto given = static_cast<int64_t>(s.numbers.size());
    s.feed->ops->give_again(s.feed, 0, 3, 0);
    s.feed->ops->give_again(s.feed, 0, given, 0); // it has not been delivered yet
    CHECK(s.again == std::vector<int64_t>{3});
    s.again.clear();
    s.feed->ops->request_key(s.feed, 0, 60 * USEC_PER_SEC);
    CHECK(s.again == range(0, given)); // with one layer, each frame depends on all earlier ones
    s.again.clear();
    s.feed->ops->request_key(s.feed, 0, 60 * USEC_PER_SEC + 1); // too soon
    CHECK(s.again.empty());
    s.feed->ops->rewind(s.feed, 2);
    CHECK(s.place(-1).frames.first == 2);
    s.numbers.clear();
    s.watch(+1);
    s.run_to_end();
    CHECK(s.numbers == range(2, stored_film::FRAMES));
}

TEST_CASE("stored_feed: with `only` these frames are delivered, again and at once")
{
    screening s(false);
    const frame_ranges only = {{2, 0}, {{{3, 4}, {30, 31}}, {}}};
    REQUIRE(s.feed->ops->only(s.feed, &only));
    CHECK(s.place(0).frames.first == 0);
    s.watch(+1);
    s.run_to_end();
    CHECK(s.numbers.empty());
    CHECK(s.again == std::vector<int64_t>{3, 4, 30, 31});
}

TEST_CASE("stored_feed: an empty `only` ends at once")
{
    screening s(true);
    const frame_ranges none = {};
    REQUIRE(s.feed->ops->only(s.feed, &none));
    s.watch(+1);
    s.run_to_end();
    CHECK(s.again.empty());
}
