// SPDX-License-Identifier: GPL-2.0-or-later
// What each kind of media offers a viewer, as a table.
#include "server/session/stream_media.h"

#include <string>

#include "media/coded/ladder.h"
#include "sender/feed/filler_media.h"
#include "sender/feed/live_media.h"
#include "sender/feed/synthetic_media.h"
#include "server/stored/stored_media.h"
#include "tests/support/film.hpp"
#include "tests/support/stored_film.hpp"

namespace
{

std::string operations(const media_feed *f)
{
    const media_feed_ops *o = f->ops;
    std::string all;
    auto add = [&all](bool there, const char *name) {
        all += there ? std::string(" ") + name : "";
    };
    add(o->watch, "watch");
    add(o->watch_audio, "watch_audio");
    add(o->play, "play");
    add(o->set_bitrate, "set_bitrate");
    add(o->repair, "repair");
    add(o->give_again, "give_again");
    add(o->request_key, "request_key");
    add(o->begin, "begin");
    add(o->rewind, "rewind");
    add(o->is_alone, "is_alone");
    add(o->place, "place");
    add(o->set_speed, "set_speed");
    return all;
}

stream_media *goddard()
{
    synthetic s;
    synthetic_goddard(&s);
    return synthetic_media_new(&s);
}

} // namespace

TEST_CASE("stream_media: the operations of each kind of media")
{
    stored_film film_file;
    const ladder levels = film::levels();
    ladder layers;
    REQUIRE(ladder_cumulative(256, 144, levels.source_fps, 300000, &layers) == 0);
    const std::string encoded =
        " watch watch_audio play set_bitrate repair request_key begin is_alone";
    struct {
        const char *kind;
        stream_media *media;
        std::string operations;
        bool starts, describes, counts; // operations of all viewers' media
        media_filler filler;
        sdp_codec codec;
        bool reorders, stands_still;
        double duration;
    } const table[] = {
        {"a device", live_media_new(film::make(-1), &levels, SDP_H264, video_engine_at(0)), encoded,
         true, true, true, FILLER_NONE, SDP_H264, false, false, -1},
        {"a device in VP9", live_media_new(film::make(-1), &layers, SDP_VP9, video_engine_at(0)),
         encoded, true, true, true, FILLER_NONE, SDP_VP9, false, false, -1},
        {"a file", live_media_new(film::make(), &levels, SDP_H264, video_engine_at(0)),
         encoded + " place set_speed", true, true, true, FILLER_NONE, SDP_H264, false, true, 0.08},
        {"a prepared file", stored_media_new(film_file.open(), false, true),
         " watch give_again request_key rewind place set_speed", true, true, false, FILLER_NONE,
         SDP_H264, true, false, 4},
        {"synthetic", goddard(), " watch set_speed", false, false, false, FILLER_NONE,
         SDP_SYNTHETIC, false, false, -1},
        {"steady", filler_media_new(SDP_SOURCE_STEADY, 1000000), "", false, false, false,
         FILLER_STEADY, SDP_SYNTHETIC, false, false, -1},
        {"greedy", filler_media_new(SDP_SOURCE_GREEDY, 1000000), "", false, false, false,
         FILLER_GREEDY, SDP_SYNTHETIC, false, false, -1},
    };
    uv_loop_t loop;
    uv_loop_init(&loop);
    frame_sink sink{};
    for (const auto &row : table) {
        INFO(row.kind);
        REQUIRE(row.media);
        CHECK((row.media->ops->start != nullptr) == row.starts);
        if (row.starts)
            REQUIRE(row.media->ops->start(row.media, &loop) == 0);
        const media_feed_config config = {&loop, &sink, false};
        media_feed *f = row.media->ops->feed_new(row.media, &config);
        REQUIRE(f);
        CHECK(operations(f) == row.operations);
        CHECK((row.media->ops->describe != nullptr) == row.describes);
        CHECK((row.media->ops->stats != nullptr) == row.counts);
        CHECK(f->filler == row.filler);
        CHECK(row.media->codec == row.codec);
        CHECK(row.media->reorders == row.reorders);
        CHECK(f->reorders == row.reorders);
        CHECK(f->stands_still == row.stands_still);
        CHECK(row.media->duration == Approx(row.duration));
        CHECK(row.media->audio_bps == 0);
        CHECK(row.media->ladder.level_count > 0);
        f->ops->free(f);
        row.media->ops->free(row.media);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&loop) == 0);
}
