// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/feed/live_media.h"

#include <algorithm>
#include <string>

#include "media/coded/ladder.h"
#include "tests/support/film.hpp"

namespace
{

struct viewer : frame_sink {
    stream_media *media;
    media_feed *feed;
    int frames = 0, ends = 0;
    int of_size[3] = {};
    std::string tracks;            // of each audio packet
    int64_t audio_end = INT64_MIN; // of the last one
    bool overlaps = false;
    int waiting = 0; // frames, for a transport that takes none by itself
    int most_waiting = 0;
    std::string starts; // "size:number" of each frame that starts its size anew

    static void on_frame(frame_sink *sink, coded_frame *f, usec_t)
    {
        viewer *v = static_cast<viewer *>(sink);
        v->frames++;
        v->most_waiting = std::max(v->most_waiting, ++v->waiting);
        v->of_size[f->size_id]++;
        if (coded_frame_starts(f))
            v->starts += " " + std::to_string(f->size_id);
    }
    static void on_audio(frame_sink *sink, coded_audio *c, usec_t)
    {
        viewer *v = static_cast<viewer *>(sink);
        v->tracks += std::to_string(c->track);
        v->overlaps |= c->position < v->audio_end;
        v->audio_end = c->position + AUDIO_PACKET;
    }
    static bool has_waiting(const frame_sink *sink)
    {
        return static_cast<const viewer *>(sink)->waiting > 0;
    }
    void drain()
    {
        waiting = 0;
        feed->ops->drained(feed, 0);
    }
    static void on_end(frame_sink *sink, const char *, usec_t)
    {
        static_cast<viewer *>(sink)->ends++;
    }

    viewer(uv_loop_t *loop, stream_media *m, int account) : frame_sink{}, media(m)
    {
        static const frame_sink_ops sink_ops = {on_frame, nullptr, on_audio, on_end,     nullptr,
                                                nullptr,  nullptr, nullptr,  has_waiting};
        ops = &sink_ops;
        number = account;
        const media_feed_config config = {loop, this, false};
        feed = m->ops->feed_new(m, &config);
        REQUIRE(feed);
    }
    ~viewer()
    {
        feed->ops->free(feed);
    }
    viewer(const viewer &) = delete;
    viewer &operator=(const viewer &) = delete;

    void watch(int change, int size_id = 0)
    {
        feed->ops->watch(feed, size_id, change);
    }
    void play(bool plays)
    {
        feed->ops->play(feed, plays);
    }
    bool is_alone() const
    {
        return feed->ops->is_alone(feed);
    }
    // Seeks unless `seconds` is negative. Returns true if it did.
    bool place(double seconds, bool ahead, media_place *out)
    {
        const media_seek to = {seconds, &media->ladder.levels[0], ahead, 1, 0};
        return feed->ops->place(feed, seconds < 0 ? nullptr : &to, out, 0) == MEDIA_SOUGHT;
    }
};

struct house {
    uv_loop_t loop;
    uv_timer_t deadline;
    bool late = false;
    stream_media *media;

    explicit house(sdp_codec codec = SDP_H264, int audio_tracks = 0,
                   source *pictures = film::make())
    {
        ladder levels = film::levels();
        if (codec == SDP_VP9)
            REQUIRE(ladder_cumulative(256, 144, levels.source_fps, 300000, &levels) == 0);
        uv_loop_init(&loop);
        uv_timer_init(&loop, &deadline);
        deadline.data = this;
        uv_timer_start(
            &deadline, [](uv_timer_t *t) { static_cast<house *>(t->data)->late = true; }, 600000,
            0);
        media = live_media_new(pictures, &levels, codec, video_engine_at(0));
        REQUIRE(media);
        for (int i = 0; i < audio_tracks; i++)
            REQUIRE(live_media_add_audio(media, audio_source_test_new(), 96000) == 0);
        REQUIRE(media->ops->start(media, &loop) == 0);
    }
    ~house()
    {
        media->ops->free(media);
        uv_close(reinterpret_cast<uv_handle_t *>(&deadline), nullptr);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
};

} // namespace

TEST_CASE("live_media: all viewers get the same frames and the end", "[threads]")
{
    house h;
    viewer gone(&h.loop, h.media, 1);
    viewer a(&h.loop, h.media, 2);
    {
        viewer left(&h.loop, h.media, 3); // between others
        viewer b(&h.loop, h.media, 4);
        a.watch(+1);
        b.watch(+1);
        while (!b.ends && !h.late)
            uv_run(&h.loop, UV_RUN_ONCE);
        CHECK(a.frames > 0);
        CHECK(a.frames == b.frames);
        CHECK(gone.frames == a.frames); // the session decides what it takes
        CHECK(a.ends == 1);
        CHECK(b.ends == 1);
        stream_stats stats{};
        h.media->ops->stats(h.media, &stats);
        CHECK(stats.encoder_count == 1);
        CHECK(stats.encoders[0].width == 64);
        CHECK(stats.encoders[0].stats.frames == film::FRAMES);
        b.watch(-1);
        a.watch(-1);
    }
    sdp description{};
    h.media->ops->describe(h.media, 0, &description);
    CHECK(std::string(description.sprop).find(',') != std::string::npos);
    CHECK(std::string(description.profile_level_id).size() == 6);
}

TEST_CASE("live_media: each viewer gets its audio track, without an overlap", "[threads]")
{
    house h(SDP_H264, 2);
    CHECK(h.media->audio_track_count == 2);
    viewer a(&h.loop, h.media, 1), b(&h.loop, h.media, 2), deaf(&h.loop, h.media, 3);
    b.feed->ops->set_audio_track(b.feed, 1);
    // Each round is the film from its beginning; the numbers go on.
    for (int rounds = 0;
         (!rounds || b.tracks.size() < 8 || a.tracks.empty() || a.tracks.back() == '0') && !h.late;
         rounds++) {
        for (viewer *v : {&a, &b}) {
            v->ends = 0;
            v->watch(+1);
            v->feed->ops->watch_audio(v->feed, +1);
        }
        while (!b.ends && !h.late) {
            uv_run(&h.loop, UV_RUN_ONCE);
            if (a.tracks.size() >= 2)
                a.feed->ops->set_audio_track(a.feed, 1);
        }
        for (viewer *v : {&a, &b}) {
            v->feed->ops->watch_audio(v->feed, -1);
            v->watch(-1);
        }
    }
    CHECK(a.tracks.find("01") != std::string::npos);
    CHECK(a.tracks.find("10") == std::string::npos);
    CHECK_FALSE(a.overlaps);
    CHECK(b.tracks.find_first_not_of('1') == std::string::npos);
    CHECK(deaf.tracks.find_first_not_of('0') == std::string::npos); // the session decides
}

TEST_CASE("live_media: in VP9 one encoder serves viewers of any size, while it has one",
          "[threads]")
{
    house h(SDP_VP9);
    viewer small(&h.loop, h.media, 1), large(&h.loop, h.media, 2);
    for (int size_id = 0; size_id < 3; size_id++)
        large.watch(+1, size_id);
    small.watch(+1);
    large.watch(-1, 2);
    large.watch(+1, 2);
    large.watch(-1, 0); // the larger ones need it all the same
    while (!small.ends && !h.late)
        uv_run(&h.loop, UV_RUN_ONCE);
    CHECK(small.of_size[0] > 0);
    for (int size_id = 0; size_id < 3; size_id++) {
        CHECK(small.of_size[size_id] == small.of_size[0]); // the session decides what it takes
        CHECK(large.of_size[size_id] == small.of_size[0]);
    }
    CHECK(large.starts == " 0 1 2"); // one picture
    stream_stats stats{};
    h.media->ops->stats(h.media, &stats);
    CHECK(stats.encoder_count == 3);
    CHECK(stats.encoders[2].width == 256);
    CHECK(stats.encoders[0].stats.keys == 1);
    CHECK(stats.encoders[2].stats.frames == stats.encoders[0].stats.frames);
    sdp description{};
    h.media->ops->describe(h.media, 0, &description);
    CHECK(description.sprop[0] == '\0');
    small.watch(-1);
    large.watch(-1, 1);
    large.watch(-1, 2);
}

TEST_CASE("live_media: a viewer is alone while no other plays", "[threads]")
{
    house h;
    viewer a(&h.loop, h.media, 1), b(&h.loop, h.media, 2);
    CHECK(a.is_alone());
    a.play(true);
    CHECK(a.is_alone());
    CHECK_FALSE(b.is_alone());
    b.play(true);
    CHECK_FALSE(a.is_alone());
    b.play(true); // counts once
    b.play(false);
    CHECK(a.is_alone());
}

TEST_CASE("live_media: a film waits for the transport of its only viewer", "[threads]")
{
    // At four times its pace it lasts two seconds. The loop's queue has 256 frames.
    const int frames = 800, queued = 256 + 64;
    house h(SDP_H264, 0, film::make(frames / 100.0, frames));
    viewer a(&h.loop, h.media, 1), other(&h.loop, h.media, 2);
    uv_timer_t quiet; // the transport takes what waits when no more has come for so long
    uv_timer_init(&h.loop, &quiet);
    quiet.data = &a;
    const auto take = [](uv_timer_t *t) {
        viewer *v = static_cast<viewer *>(t->data);
        static int before;
        if (v->frames == before)
            v->drain();
        before = v->frames;
    };
    uv_timer_start(&quiet, take, 100, 100);
    a.feed->ops->set_speed(a.feed, 4);
    a.play(true);
    a.watch(+1);
    const bool alone = GENERATE(true, false);
    CAPTURE(alone);
    if (!alone)
        other.play(true);
    while (!a.ends && !h.late && (alone || a.frames < frames))
        uv_run(&h.loop, UV_RUN_ONCE);
    CHECK(a.frames == frames);
    if (alone)
        CHECK(a.most_waiting <= queued);
    uv_close(reinterpret_cast<uv_handle_t *>(&quiet), nullptr);
    a.watch(-1);
    a.play(false);
    if (!alone)
        other.play(false);
}

TEST_CASE("live_media: the position in a file", "[threads]")
{
    house h;
    viewer a(&h.loop, h.media, 1);
    struct {
        double seconds; // negative: stays
        bool ahead;
        bool sought;
        double at;
        bool is_ahead;
    } const table[] = {
        {-1, true, false, 0, false},    {0, true, false, 0, false}, // it is there
        {0.03, true, true, 0.03, true}, {0.05, false, true, 0.05, false},
        {-1, true, false, 0.05, false},
    };
    for (const auto &row : table) {
        INFO(row.seconds);
        media_place place{};
        CHECK(a.place(row.seconds, row.ahead, &place) == row.sought);
        CHECK(place.seconds == Approx(row.at));
        CHECK(place.frames.ahead == row.is_ahead);
        CHECK(place.frames.first == place.frames.show);
    }
}

namespace
{

struct taker : picture_taker {
    int pictures = 0, ends = 0;

    taker() : picture_taker{}
    {
        on_picture = [](picture_taker *t, const taken_picture *taken, usec_t) {
            const picture *p = taken->picture;
            (p ? static_cast<taker *>(t)->pictures : static_cast<taker *>(t)->ends)++;
        };
    }
};

} // namespace

TEST_CASE("live_media: a picture is taken without a viewer, and the source pauses again",
          "[threads]")
{
    house h;
    taker a, b, never;
    for (int i = 1; i <= 3; i++) {
        h.media->ops->take(h.media, &a);
        h.media->ops->take(h.media, &b);
        while (a.pictures < i && !h.late)
            uv_run(&h.loop, UV_RUN_ONCE);
        REQUIRE(a.pictures == i);
        CHECK(b.pictures == i); // the same one
    }
    stream_stats stats{};
    h.media->ops->stats(h.media, &stats);
    CHECK(stats.encoders[0].stats.frames == 0); // nothing was encoded
    h.media->ops->take(h.media, &never);
    h.media->ops->leave(h.media, &never);
    h.media->ops->leave(h.media, &never);
    CHECK(never.pictures == 0);

    // With a viewer it takes one of the pictures that are encoded.
    viewer v(&h.loop, h.media, 1);
    v.watch(1);
    while (!v.frames && !h.late)
        uv_run(&h.loop, UV_RUN_ONCE);
    h.media->ops->take(h.media, &a);
    while (a.pictures + a.ends < 4 && !v.ends && !h.late)
        uv_run(&h.loop, UV_RUN_ONCE);
    // The short film may be over, even before the request: then no other picture comes.
    CHECK((a.pictures + a.ends == 4 || v.ends));
    h.media->ops->leave(h.media, &a);
    v.watch(-1);
    CHECK(never.pictures == 0);
}
