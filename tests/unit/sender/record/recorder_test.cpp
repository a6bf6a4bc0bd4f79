// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/record/recorder.h"

#include "sender/feed/live_media.h"
#include "tests/support/film.hpp"
#include "tests/support/reread.hpp"

namespace
{

struct viewer : frame_sink {
    media_feed *feed;
    stream_media *media;
    int frames = 0, ends = 0;

    viewer(uv_loop_t *loop, stream_media *m) : frame_sink{}, media(m)
    {
        static const frame_sink_ops sink_ops = {
            [](frame_sink *sink, coded_frame *, usec_t) { static_cast<viewer *>(sink)->frames++; },
            nullptr,
            nullptr,
            [](frame_sink *sink, const char *, usec_t) { static_cast<viewer *>(sink)->ends++; },
            nullptr,
            nullptr,
            nullptr,
            nullptr,
            nullptr};
        ops = &sink_ops;
        number = 1;
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
};

struct rig {
    uv_loop_t loop;
    scratch_folder folder;
    stream_media *media;
    recorder *r;

    explicit rig(double duration)
    {
        uv_loop_init(&loop);
        ladder l = film::levels();
        media = live_media_new(film::make(duration), &l, SDP_H264, video_engine_at(0));
        REQUIRE(media);
        REQUIRE(media->ops->start(media, &loop) == 0);
        std::string pattern = folder.path + "/a.mkv";
        const recorder_config config = {media, pattern.c_str(), 0, {}};
        r = recorder_new(&loop, &config);
        REQUIRE(r);
    }
    ~rig()
    {
        recorder_free(r, RECORDER_END);
        media->ops->free(media);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
    rig(const rig &) = delete;
    rig &operator=(const rig &) = delete;
};

} // namespace

TEST_CASE("recorder: a film is recorded without any viewer who plays", "[threads]")
{
    rig r(usec_to_sec(film::END));
    {
        viewer v(&r.loop, r.media); // sees only its end
        while (!v.ends)
            uv_run(&r.loop, UV_RUN_ONCE);
    }
    recorder_free(r.r, RECORDER_END); // writes what waits
    r.r = nullptr;
    reread_file f(r.folder.path + "/a.mkv");
    CHECK(f.width == 64);
    CHECK_FALSE(f.has_audio);
    CHECK(f.video.size() <= film::FRAMES); // a busy machine drops pictures
    CHECK(f.decoded == f.video.size());
}

TEST_CASE("recorder: the only viewer is alone, so the encoder follows its network", "[threads]")
{
    rig r(-1);
    viewer v(&r.loop, r.media);
    v.feed->ops->play(v.feed, true);
    v.feed->ops->watch(v.feed, 0, 1);
    while (v.frames < 3)
        uv_run(&r.loop, UV_RUN_ONCE);
    CHECK(v.feed->ops->is_alone(v.feed));
    {
        viewer other(&r.loop, r.media);
        other.feed->ops->play(other.feed, true);
        CHECK_FALSE(v.feed->ops->is_alone(v.feed));
        other.feed->ops->play(other.feed, false);
    }
    v.feed->ops->watch(v.feed, 0, -1);
    v.feed->ops->play(v.feed, false);
}

TEST_CASE("recorder: a folder that does not exist is an error")
{
    uv_loop_t loop;
    uv_loop_init(&loop);
    ladder l = film::levels();
    stream_media *media = live_media_new(film::make(-1), &l, SDP_H264, video_engine_at(0));
    const recorder_config config = {media, "/nonexistent/a.mkv", 0, {}};
    CHECK_FALSE(recorder_new(&loop, &config));
    media->ops->free(media);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&loop) == 0);
}
