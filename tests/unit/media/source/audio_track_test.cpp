// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

extern "C" {
#include "media/source/audio_track.h"
}

// Two programmes: the second one's audio comes first in the file, and is its default.
TEST_CASE("audio track: of the programme whose video is the film's")
{
    AVFormatContext *format = avformat_alloc_context();
    const struct {
        AVMediaType type;
        int program; // -1: in none
    } streams[] = {{AVMEDIA_TYPE_AUDIO, 1}, {AVMEDIA_TYPE_VIDEO, 0},  {AVMEDIA_TYPE_AUDIO, 0},
                   {AVMEDIA_TYPE_VIDEO, 1}, {AVMEDIA_TYPE_AUDIO, -1}, {AVMEDIA_TYPE_AUDIO, 0}};
    for (int i = 0; i < 6; i++) {
        AVStream *s = avformat_new_stream(format, nullptr);
        s->codecpar->codec_type = streams[i].type;
        s->codecpar->codec_id =
            streams[i].type == AVMEDIA_TYPE_AUDIO ? AV_CODEC_ID_AAC : AV_CODEC_ID_H264;
        s->codecpar->sample_rate = 48000;
        s->codecpar->ch_layout.nb_channels = 2;
    }
    format->streams[0]->disposition = AV_DISPOSITION_DEFAULT;
    for (int program = 0; program < 2; program++) {
        av_new_program(format, program + 1);
        for (int i = 0; i < 6; i++)
            if (streams[i].program == program)
                av_program_add_stream_index(format, program + 1, unsigned(i));
    }
    const bool are[] = {false, false, true, false, true, true};
    for (int i = 0; i < 6; i++) {
        CAPTURE(i);
        CHECK(audio_track_is(format, i) == are[i]);
    }
    CHECK(audio_track_count(format, 6) == 3);
    const AVCodec *codec = nullptr;
    CHECK(audio_track_find(format, 6, "film", nullptr, &codec) == 2);
    CHECK(audio_track_find(format, 6, "film", "2", &codec) == 4);
    CHECK(audio_track_find(format, 6, "film", "3", &codec) == 5);
    avformat_free_context(format);
}

TEST_CASE("audio track: by number, by language, or the default")
{
    AVFormatContext *format = avformat_alloc_context();
    const struct {
        AVMediaType type;
        AVCodecID codec;
        const char *language;
        int disposition;
    } streams[] = {
        {AVMEDIA_TYPE_VIDEO, AV_CODEC_ID_H264, "deu", 0},
        {AVMEDIA_TYPE_AUDIO, AV_CODEC_ID_AAC, "eng", 0},
        {AVMEDIA_TYPE_AUDIO, AV_CODEC_ID_AAC, "deu", AV_DISPOSITION_DEFAULT},
        {AVMEDIA_TYPE_AUDIO, AV_CODEC_ID_AAC, nullptr, 0},
    };
    for (const auto &row : streams) {
        AVStream *s = avformat_new_stream(format, nullptr);
        s->codecpar->codec_type = row.type;
        s->codecpar->codec_id = row.codec;
        s->codecpar->sample_rate = 48000;
        s->codecpar->ch_layout.nb_channels = 2;
        s->disposition = row.disposition;
        if (row.language)
            av_dict_set(&s->metadata, "language", row.language, 0);
    }
    CHECK(audio_track_count(format, 4) == 3);
    CHECK(audio_track_count(format, 2) == 1);
    const struct {
        const char *track;
        int stream;
    } rows[] = {
        {nullptr, 2},
        {"1", 1},
        {"2", 2},
        {"3", 3},
        {"eng", 1},
        {"DEU", 2},
        {"4", 2},
        {"fra", 2},
        {"0", 2},
        {"-1", 2},
        {"1x", 2},
        {"", 2},
        {"99999999999999999999", 2},
    };
    for (const auto &row : rows) {
        CAPTURE(row.track ? row.track : "default");
        const AVCodec *codec = nullptr;
        CHECK(audio_track_find(format, 4, "film", row.track, &codec) == row.stream);
        CHECK(codec);
    }
    for (unsigned i = 0; i < format->nb_streams; i++)
        format->streams[i]->codecpar->codec_type = AVMEDIA_TYPE_VIDEO;
    const AVCodec *codec = nullptr;
    CHECK(audio_track_find(format, 4, "film", "1", &codec) == AVERROR_STREAM_NOT_FOUND);
    avformat_free_context(format);
}
