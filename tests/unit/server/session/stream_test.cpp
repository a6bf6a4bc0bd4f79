// SPDX-License-Identifier: GPL-2.0-or-later
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" // functions named as their structs, which C allows
#include "server/session/stream.h"
#pragma GCC diagnostic pop

#include <catch2/catch.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "common/base/err.h"
#include "common/wire/sdp.h"
#include "sender/feed/filler_media.h"

namespace
{

// A minimal session: the part that a stream uses.
struct seat : frame_sink {
    uint64_t packets;
    std::vector<usec_t> limited; // times of on_highest

    static void on_highest(frame_sink *sink, usec_t now)
    {
        static_cast<seat *>(sink)->limited.push_back(now);
    }
    static int stats(frame_sink *sink, session_stats *out, usec_t)
    {
        *out = {};
        out->number = sink->number;
        out->packets = static_cast<seat *>(sink)->packets;
        return 1; // the transport
    }
    explicit seat(uint64_t sent = 0) : frame_sink{}, packets(sent)
    {
        static const frame_sink_ops sink_ops = {nullptr, nullptr, nullptr,    nullptr, stats,
                                                nullptr, nullptr, on_highest, nullptr};
        ops = &sink_ops;
    }
};

struct fixture {
    stats_book book{};
    stream s;

    fixture()
    {
        stream_media *media = filler_media_new(SDP_SOURCE_STEADY, 1000000);
        REQUIRE(media);
        stream_init(&s, media, nullptr);
        s.book = &book;
    }
    ~fixture()
    {
        stream_destroy(&s);
    }
};

} // namespace

TEST_CASE("stream: sessions are told when the highest level changes")
{
    fixture f;
    seat a, b;
    CHECK(stream_add(&f.s, &a) == 0);
    stream_set_highest(&f.s, 2, 100);
    CHECK(f.s.highest == 2);
    CHECK(stream_add(&f.s, &b) == 0);
    stream_set_highest(&f.s, 2, 200); // the same
    stream_set_highest(&f.s, LADDER_MAX_LEVELS - 1, 300);
    CHECK(a.limited == std::vector<usec_t>{100, 300});
    CHECK(b.limited == std::vector<usec_t>{300});
    stream_remove(&f.s, &a, 400);
    stream_remove(&f.s, &b, 400);
}

TEST_CASE("stream: sessions get numbers, up to the max number of viewers")
{
    fixture f;
    seat a, b, c;
    f.s.max_viewers = 2;
    CHECK(stream_add(&f.s, &a) == 0);
    CHECK(stream_add(&f.s, &b) == 0);
    CHECK(stream_add(&f.s, &c) == ERR_FULL);
    CHECK(a.number == 1);
    CHECK(b.number == 2);
    stream_remove(&f.s, &a, 0);
    CHECK(stream_add(&f.s, &c) == 0);
    CHECK(c.number == 1); // it is free again
    stream_remove(&f.s, &b, 0);
    stream_remove(&f.s, &c, 0);
    CHECK(f.s.sink_count == 0);
}

TEST_CASE("stream: the stats of current and of ended sessions")
{
    fixture f;
    seat a(10), b(7);
    REQUIRE(stream_add(&f.s, &a) == 0);
    REQUIRE(stream_add(&f.s, &b) == 0);
    stream_remove(&f.s, &a, 0);
    CHECK(f.book.ended.transports[1].packets == 10);
    auto out = std::make_unique<stats>();
    std::vector<int> each;
    stream_collect_stats(
        &f.s, "/live", out.get(),
        [](void *ctx, const stats *, const session_stats *one) {
            static_cast<std::vector<int> *>(ctx)->push_back(one->number);
        },
        &each, 0);
    CHECK(each == std::vector<int>{2});
    CHECK(out->stream_count == 1);
    CHECK(std::string(out->streams[0].path) == "/live");
    CHECK(std::string(out->streams[0].source) == "synthetic:steady");
    CHECK(out->streams[0].encoder_count == 0);
    CHECK(out->total.transports[1].packets == 7);
    CHECK(out->sessions[0].packets == 7);
    stream_close_stats(&f.s); // there is no encoder
    CHECK(f.book.ended.overload == 0);
    stream_remove(&f.s, &b, 0);
}

TEST_CASE("stream: the description of the media")
{
    fixture f;
    sdp out;
    stream_describe(&f.s, 0, &out);
    CHECK(out.source == SDP_SOURCE_STEADY);
    CHECK(out.codec == SDP_SYNTHETIC);
    CHECK(out.payload_type == RTP_PT_SYNTHETIC);
    CHECK_FALSE(out.reorders);
    CHECK_FALSE(out.audio.present);
    CHECK(out.bitrate_bps == 1000000);
    CHECK(std::string(out.sprop).empty());

    // Media with parameter sets and audio.
    static const stream_media_ops ops = {nullptr,
                                         nullptr,
                                         [](const stream_media *, int size_id, sdp *d) {
                                             snprintf(d->sprop, sizeof(d->sprop), "sets of %d",
                                                      size_id);
                                         },
                                         nullptr,
                                         nullptr,
                                         nullptr,
                                         nullptr,
                                         nullptr,
                                         nullptr,
                                         [](stream_media *) {}};
    stream_media media = *f.s.media;
    media.ops = &ops;
    media.kind = SDP_SOURCE_FILE;
    media.duration = 4;
    media.audio_bps = 96000;
    media.codec = SDP_H264;
    media.reorders = true;
    snprintf(media.title, sizeof(media.title), "a film");
    stream stored;
    stream_init(&stored, &media, nullptr);
    stream_describe(&stored, 0, &out);
    CHECK(std::string(out.title) == "a film");
    CHECK(out.audio_track_count == 0);
    media.audio_track_count = 1; // there is no choice
    stream_describe(&stored, 0, &out);
    CHECK(out.audio_track_count == 0);
    media.audio_track_count = 2;
    snprintf(media.audio_tracks[1], sizeof(media.audio_tracks[1]), "deu");
    stream_describe(&stored, 0, &out);
    CHECK(out.audio_track_count == 2);
    CHECK(std::string(out.audio_tracks[1]) == "deu");
    CHECK(out.duration == Approx(4));
    CHECK(out.codec == SDP_H264);
    CHECK(out.payload_type == RTP_PT_H264);
    CHECK(out.reorders);
    CHECK(out.audio.present);
    CHECK(out.audio.bitrate_bps == 96000);
    CHECK(std::string(out.sprop) == "sets of 0");
    stream_destroy(&stored);
}
