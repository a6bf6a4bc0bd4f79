// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/stored/stored_feed.h"

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "common/net/clock.h"
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
    std::vector<usec_t> times; // of `numbers`
    int64_t decides_at = -1;   // the viewer decides when this frame comes
    size_t stop_at = SIZE_MAX;
    bool is_slow = false; // each frame waits for the network
    bool waits = false;   // one does
    int ends = 0;
    std::string why; // of the end
    bool late = false;

    static screening *of(frame_sink *sink)
    {
        return static_cast<screening *>(sink);
    }
    static void on_frame(frame_sink *sink, coded_frame *f, usec_t now)
    {
        of(sink)->numbers.push_back(f->number);
        of(sink)->times.push_back(now);
        if (f->number == of(sink)->decides_at)
            (void)of(sink)->feed->ops->await_level(of(sink)->feed, false);
        of(sink)->waits = of(sink)->is_slow;
        if (f->key)
            of(sink)->keys.push_back(f->number);
        if (of(sink)->numbers.size() == of(sink)->stop_at)
            of(sink)->watch(-1);
    }
    static void on_again(frame_sink *sink, coded_frame *f, usec_t)
    {
        of(sink)->again.push_back(f->number);
    }
    static void on_end(frame_sink *sink, const char *why, usec_t)
    {
        of(sink)->ends++;
        of(sink)->why = why ? why : "";
    }

    static bool has_waiting(const frame_sink *sink)
    {
        return static_cast<const screening *>(sink)->waits;
    }

    explicit screening(bool repeats, bool exact = false, int groups = 2, int layers = 1)
        : frame_sink{}, film(groups, layers)
    {
        static const frame_sink_ops sink_ops = {on_frame, on_again, nullptr, on_end,     nullptr,
                                                nullptr,  nullptr,  nullptr, has_waiting};
        ops = &sink_ops;
        uv_loop_init(&loop);
        uv_timer_init(&loop, &deadline);
        deadline.data = this;
        uv_timer_start(
            &deadline, [](uv_timer_t *t) { static_cast<screening *>(t->data)->late = true; },
            600000, 0);
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
    // Seeks unless `seconds` is negative. The level's rate is a fifth above the film's: x264's
    // output depends on what its memory held before, by a few bytes, and all frames that a scale
    // may send are to have room.
    media_place place(double seconds, double scale = 1)
    {
        level roomy = media->ladder.levels[0];
        roomy.bitrate_bps += roomy.bitrate_bps / 5;
        const media_seek to = {seconds, &roomy, false, scale, 0};
        media_place out{};
        bool stays = seconds < 0;
        media_placed placed = feed->ops->place(feed, stays ? nullptr : &to, &out, 0);
        CHECK(placed == (stays ? MEDIA_CONTINUES : MEDIA_SOUGHT));
        return out;
    }
    // Runs until exactly `count` frames have come: a machine that is busy between two of them may
    // deliver many at once.
    void run_to_frames(size_t count)
    {
        stop_at = count;
        while (numbers.size() < count && !late)
            uv_run(&loop, UV_RUN_ONCE);
        REQUIRE(numbers.size() == count);
        stop_at = SIZE_MAX;
        watch(+1);
    }
    void drain()
    {
        waits = false;
        feed->ops->drained(feed, clock_now());
    }
    // Until another viewer, whose network is faster, has seen the film.
    void run_another()
    {
        struct viewer : frame_sink {
            bool ended = false;
        } another{};
        static const frame_sink_ops sink_ops = {[](frame_sink *, coded_frame *, usec_t) {},
                                                nullptr,
                                                nullptr,
                                                [](frame_sink *sink, const char *, usec_t) {
                                                    static_cast<viewer *>(sink)->ended = true;
                                                },
                                                nullptr,
                                                nullptr,
                                                nullptr,
                                                nullptr,
                                                nullptr};
        another.ops = &sink_ops;
        const media_feed_config config = {&loop, &another, false};
        media_feed *its = media->ops->feed_new(media, &config);
        REQUIRE(its);
        its->ops->set_speed(its, 4);
        its->ops->watch(its, 0, +1);
        while (!another.ended && !late)
            uv_run(&loop, UV_RUN_ONCE);
        its->ops->free(its);
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
    CHECK(s.why.empty());
}

TEST_CASE("stored_feed: while a frame waits for the network, no other is given")
{
    screening s(false);
    s.is_slow = true;
    s.watch(+1);
    for (size_t given = 1; given <= stored_film::FRAMES; given++) {
        while (s.numbers.size() < given && !s.late)
            uv_run(&s.loop, UV_RUN_ONCE);
        REQUIRE(s.numbers.size() == given);
        if (given == stored_film::GROUP) { // the next group is still to come, at whichever level
            s.run_another();
            REQUIRE(s.numbers.size() == given);
            CHECK(s.keys.size() == 1);
        }
        s.drain();
    }
    s.run_to_end();
    CHECK(s.numbers == range(0, stored_film::FRAMES));
}

TEST_CASE("stored_feed: the second group waits for the viewer's decision, half a group at most")
{
    screening s(false, false, 3);
    s.decides_at = GENERATE(-1, 10, 59);
    CAPTURE(s.decides_at);
    REQUIRE(s.place(0).frames.first == 0);
    REQUIRE(s.feed->ops->await_level(s.feed, true) == stored_film::GROUP);
    s.watch(+1);
    CHECK(s.feed->ops->await_level(s.feed, true) == 0); // it plays already
    s.run_to_end();
    CHECK(s.numbers == range(0, 3 * stored_film::GROUP));
    usec_t waited = s.times[stored_film::GROUP] - s.times[stored_film::GROUP - 1];
    if (s.decides_at != 10) // no level in time; with one, a busy machine may take as long
        CHECK(waited >= USEC_PER_SEC - USEC_PER_MSEC);
}

TEST_CASE("stored_feed: which group waits")
{
    const struct {
        double seconds; // where it begins; a group has 2 s of 10 frames/s
        int64_t waits;  // slot
    } rows[] = {{0, 20}, {2, 40}, {0.9, 20}, {1.1, 40}, {3.5, 0}, {4, 0}};
    for (const auto &row : rows) {
        CAPTURE(row.seconds);
        screening s(false, true, 3);
        const media_place at = s.place(row.seconds);
        int64_t until = s.feed->ops->await_level(s.feed, true);
        // Numbers continue where they were: those of the film's frames plus a constant.
        int64_t shift = at.frames.show - (int64_t)(row.seconds * 10 + .001);
        CHECK(until == (row.waits ? row.waits + shift : 0));
    }
    screening with_deadline(false, false, 3);
    with_deadline.feed->ops->set_latency(with_deadline.feed, 1000);
    CHECK(with_deadline.feed->ops->await_level(with_deadline.feed, true) == 0);
    screening fast_forward(false, false, 3);
    (void)fast_forward.place(0, 4);
    CHECK(fast_forward.feed->ops->await_level(fast_forward.feed, true) == 0);
}

TEST_CASE("stored_feed: frames come at their times once the viewer has said how long one may wait")
{
    screening s(false);
    s.is_slow = true;
    s.watch(+1);
    while (s.numbers.empty() && !s.late)
        uv_run(&s.loop, UV_RUN_ONCE);
    s.feed->ops->set_latency(s.feed, 1000);
    s.run_to_end();
    CHECK(s.numbers == range(0, stored_film::FRAMES));
}

TEST_CASE("stored_feed: a film that cannot be read to its end breaks off")
{
    screening s(false);
    std::filesystem::resize_file(s.film.path, 1000);
    s.watch(+1);
    s.run_to_end();
    CHECK(s.numbers.size() < stored_film::FRAMES);
    CHECK(s.why == "the film breaks off: a part of it cannot be read");
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
    CHECK(s.feed->ops->give_again(s.feed, 0, 3, 0));
    CHECK_FALSE(s.feed->ops->give_again(s.feed, 0, given, 0)); // it has not been delivered yet
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

TEST_CASE("stored_feed: from the begin of a group on all is sent again, with the same numbers")
{
    const struct {
        int64_t at, from; // of three groups of 20 frames
    } rows[] = {{25, 20}, {45, 20}, {5, 0}, {58, 40}, {19, 20}};
    for (const auto &row : rows) {
        CAPTURE(row.at, row.from);
        screening s(false, false, 3);
        s.watch(+1);
        s.run_to_frames((size_t)row.at + 1);
        CHECK(s.feed->ops->again(s.feed, row.from));
        s.run_to_end();
        std::vector<int64_t> expected = range(0, row.at + 1);
        for (int64_t n = row.from; n < 3 * stored_film::GROUP; n++)
            expected.push_back(n);
        CHECK(s.numbers == expected);
        CHECK(s.again.empty());
    }
}

TEST_CASE("stored_feed: what is not sent again")
{
    screening s(false, false, 3);
    auto again = [&s](int64_t from) { return s.feed->ops->again(s.feed, from); };
    CHECK_FALSE(again(0)); // it does not play yet
    s.watch(+1);
    s.run_to_frames(25);
    for (int64_t from : {-20, 1, 21, 40, 60, 4000}) { // no group, or one that was not begun
        CAPTURE(from);
        CHECK_FALSE(again(from));
    }
    CHECK(again(20));
    screening fast_forward(false, false, 3);
    (void)fast_forward.place(0, 4);
    fast_forward.watch(+1);
    CHECK_FALSE(fast_forward.feed->ops->again(fast_forward.feed, 0));
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

TEST_CASE("stored_feed: what is delivered at which scale, in both directions")
{
    // 80 frames, a key frame every 20, a base frame every 4.
    std::vector<int64_t> base_from_40, base;
    for (int64_t n = 0; n < 80; n += 4) {
        base.push_back(n);
        if (n >= 40)
            base_from_40.push_back(n - 40);
    }
    const struct {
        double from, scale, seconds;
        std::vector<int64_t> numbers; // from the place's on
    } table[] = {
        {0, 2, 0, base},
        {0, 4, 0, base},
        {0, 8, 0, {0, 20, 40, 60}},
        {3, 4, 4, base_from_40}, // the next key frame
        {3, 8, 4, {0, 20}},
        {7, 8, 6, {0}}, // there is no later one
        {7.9, -2, 6, {0, 20, 40, 60}},
        {4, -4, 4, {0, 20, 40}},
        {3.9, -8, 2, {0, 20}},
        {0, -8, 0, {0}},
    };
    for (const auto &row : table) {
        INFO(row.from << " s at " << row.scale);
        screening s(false, true, 4, 3);
        s.place(5); // numbers have begun elsewhere
        s.watch(+1);
        s.run_to_frames(3);
        media_place place = s.place(row.from, row.scale);
        CHECK(place.scale == row.scale);
        CHECK(place.seconds == Approx(row.seconds));
        CHECK(place.frames.show == place.frames.first);
        CHECK(place.frames.first > s.numbers.back());
        CHECK(place.frames.first % 4 == 0);
        s.numbers.clear();
        s.run_to_end();
        for (int64_t &n : s.numbers)
            n -= place.frames.first;
        CHECK(s.numbers == row.numbers);
    }
}

TEST_CASE("stored_feed: the place at another scale, and back to normal play from there")
{
    for (double scale : {4., -4.}) {
        INFO(scale);
        screening s(false, true, 4, 3);
        media_place begun = s.place(4, scale);
        s.watch(+1);
        s.run_to_frames(2);
        s.watch(-1);
        media_place now = s.place(-1);
        CHECK(now.scale == scale);
        double since = static_cast<double>(now.frames.first - begun.frames.first) / 10;
        CHECK(now.seconds == Approx(4 + (scale > 0 ? since : -since)));
        // A pause gives back what was not sent: the group begins again.
        s.feed->ops->rewind(s.feed, s.numbers.back());
        CHECK(s.place(-1).frames.first <= s.numbers.back());
        media_place normal = s.place(NAN, 1);
        CHECK(normal.scale == 1);
        CHECK(normal.seconds <= 6);
        CHECK(normal.seconds >= 2);
        s.numbers.clear();
        s.watch(+1);
        s.run_to_end();
        CHECK(s.numbers.back() - normal.frames.show == 79 - std::lround(normal.seconds * 10));
    }
}

TEST_CASE("stored_feed: a film that begins again does so at another scale; rewind ends")
{
    screening s(true, true, 4, 3);
    media_place place = s.place(4, 8);
    s.watch(+1);
    s.run_to_frames(6);
    CHECK(s.ends == 0);
    for (size_t i = 0; i < s.numbers.size(); i++)
        CHECK(s.numbers[i] == place.frames.first + 20 * static_cast<int64_t>(i));
    s.place(4, -8);
    s.run_to_end();
    s.watch(-1);
    s.numbers.clear();
    CHECK(s.place(NAN, 1).seconds == 0); // where the rewind ended
    s.watch(+1);
    s.run_to_frames(80);
}
