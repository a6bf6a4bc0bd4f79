// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

extern "C" {
#include "media/source/stream_follow.h"
}

#include <vector>

namespace
{
constexpr AVMediaType V = AVMEDIA_TYPE_VIDEO, A = AVMEDIA_TYPE_AUDIO;

struct file {
    AVFormatContext *format = avformat_alloc_context();
    stream_follow follow{};
    file(const char *name, const std::vector<AVMediaType> &kinds)
    {
        format->iformat = av_find_input_format(name);
        for (auto kind : kinds)
            add(kind);
    }
    ~file()
    {
        format->iformat = nullptr;
        avformat_free_context(format);
    }
    file(const file &) = delete;
    int add(AVMediaType kind, int64_t start = 0)
    {
        AVStream *s = avformat_new_stream(format, nullptr);
        s->codecpar->codec_type = kind;
        s->time_base = {1, 90000};
        s->start_time = start;
        return s->index;
    }
    void program(const std::vector<int> &streams) // what its map has now
    {
        av_new_program(format, 1)->nb_stream_indexes = 0;
        for (int i : streams)
            av_program_add_stream_index(format, 1, (unsigned)i);
    }
    bool note(int stream, int64_t pos, int64_t pts)
    {
        AVPacket *p = av_packet_alloc();
        p->stream_index = stream;
        p->pos = pos;
        p->pts = pts;
        bool is_next = stream_follow_note(&follow, format, p);
        av_packet_free(&p);
        return is_next;
    }
    int track(int stream) const
    {
        return stream_follow_track(&follow, stream);
    }
};
} // namespace

TEST_CASE("stream_follow: MPEG-TS goes on with the streams of the next program map")
{
    file f("mpegts", {V, A, A});
    f.program({0, 1, 2});
    stream_follow_init(&f.follow, f.format);
    stream_follow_probed(&f.follow, f.format);
    CHECK(f.follow.tracks == 3);
    CHECK(f.note(0, 100, 0));
    CHECK(f.note(2, 200, 0));
    int audio = f.add(A), video = f.add(V), second = f.add(A), data = f.add(AVMEDIA_TYPE_DATA);
    f.program({audio, video, data, second});
    CHECK(f.track(video) == -1); // not yet
    CHECK(f.note(video, 1000, 90000));
    CHECK(f.note(second, 1100, 90000));
    CHECK(f.note(audio, 1200, 90000));
    CHECK(f.note(data, 1300, 90000));
    CHECK(f.track(video) == 0);
    CHECK(f.track(audio) == 1);
    CHECK(f.track(second) == 2);
    CHECK(f.track(data) == -1);
    CHECK_FALSE(f.note(0, 900, 80000)); // the old PID's last packet
    CHECK(f.note(0, 2000, 180000));     // it comes again
    CHECK(stream_follow_seek(&f.follow, 0, 80000) == 0);
    CHECK(stream_follow_seek(&f.follow, 0, 100000) == video);
    CHECK(f.note(0, 100, 0)); // after a seek
}

TEST_CASE("stream_follow: MPEG-PS goes on with the streams that begin together, unless both go on")
{
    file f("mpeg", {V, A, A});
    stream_follow_init(&f.follow, f.format);
    int third = f.add(A, 900000), fourth = f.add(A, 905000);
    stream_follow_probed(&f.follow, f.format);
    CHECK(f.follow.tracks == 3);
    CHECK(f.note(1, 100, 0));
    CHECK(f.note(third, 1000, 900000));
    CHECK(f.note(fourth, 1100, 905000));
    CHECK(f.track(third) == 1);
    CHECK(f.track(fourth) == 2);
    CHECK(f.note(2, 1200, 906000));
    CHECK(f.track(third) == 1);
    CHECK(f.track(fourth) == -1); // that was another track
}

TEST_CASE("stream_follow: FLV has one track of a kind, and MP4 those of the file")
{
    file flv("flv", {V, A, A, V}), mp4("mp4", {V, A, A, V});
    for (file *f : {&flv, &mp4}) {
        stream_follow_init(&f->follow, f->format);
        stream_follow_probed(&f->follow, f->format);
    }
    CHECK(flv.follow.tracks == 2);
    CHECK(flv.note(3, 500, 0));
    CHECK(flv.note(2, 600, 0));
    CHECK(flv.track(3) == 0);
    CHECK(flv.track(2) == 1);
    CHECK(mp4.follow.tracks == 4);
    CHECK(mp4.note(3, 500, 0));
    CHECK(mp4.track(3) == 3);
}

TEST_CASE("stream_follow: streams beyond the limit continue none")
{
    file f("flv", {V, A});
    stream_follow_init(&f.follow, f.format);
    stream_follow_probed(&f.follow, f.format);
    while (f.format->nb_streams <= STREAM_FOLLOW_MAX)
        f.add(A);
    CHECK(f.note(STREAM_FOLLOW_MAX, 10, 0));
    CHECK(f.track(STREAM_FOLLOW_MAX) == -1);
}
