// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>
#include <string>

extern "C" {
#include <libavformat/avformat.h>

#include "media/source/track_notes.h"
}

namespace
{
struct film {
    AVFormatContext *format = avformat_alloc_context();

    ~film()
    {
        avformat_free_context(format);
    }

    AVStream *add(AVMediaType type, AVCodecID codec, const char *language = nullptr)
    {
        AVStream *s = avformat_new_stream(format, nullptr);
        s->codecpar->codec_type = type;
        s->codecpar->codec_id = codec;
        if (language)
            av_dict_set(&s->metadata, "language", language, 0);
        return s;
    }

    std::string unused(AVMediaType type, int used, size_t cap = TRACK_NOTES, std::string out = "")
    {
        char text[TRACK_NOTES] = "";
        out.copy(text, sizeof(text) - 1);
        track_notes_unused(format, (int)format->nb_streams, type, used, text, cap);
        return text;
    }
};
} // namespace

TEST_CASE("track notes: what is not used")
{
    film f;
    f.add(AVMEDIA_TYPE_VIDEO, AV_CODEC_ID_H264);
    f.add(AVMEDIA_TYPE_AUDIO, AV_CODEC_ID_AAC, "eng");
    CHECK(f.unused(AVMEDIA_TYPE_AUDIO, 1) == "");
    CHECK(f.unused(AVMEDIA_TYPE_SUBTITLE, -1) == "");
    f.add(AVMEDIA_TYPE_AUDIO, AV_CODEC_ID_AC3, "deu");
    CHECK(f.unused(AVMEDIA_TYPE_AUDIO, 1) == "1 other audio track (deu ac3)");
    CHECK(f.unused(AVMEDIA_TYPE_AUDIO, 2) == "1 other audio track (eng aac)");
    f.add(AVMEDIA_TYPE_SUBTITLE, AV_CODEC_ID_DVD_SUBTITLE, "und");
    f.add(AVMEDIA_TYPE_SUBTITLE, AV_CODEC_ID_DVB_SUBTITLE, "pt-BR");
    f.add(AVMEDIA_TYPE_SUBTITLE, AV_CODEC_ID_SUBRIP, "eng"); // text is used
    CHECK(f.unused(AVMEDIA_TYPE_SUBTITLE, -1) ==
          "2 subtitle tracks (dvd_subtitle, pt-BR dvb_subtitle)");
    CHECK(f.unused(AVMEDIA_TYPE_SUBTITLE, -1, TRACK_NOTES, "one") ==
          "one, 2 subtitle tracks (dvd_subtitle, pt-BR dvb_subtitle)");
    f.add(AVMEDIA_TYPE_VIDEO, AV_CODEC_ID_MJPEG)->disposition = AV_DISPOSITION_ATTACHED_PIC;
    CHECK(f.unused(AVMEDIA_TYPE_VIDEO, 0) == ""); // a cover
}

TEST_CASE("track notes: a track's name")
{
    film f;
    const struct {
        const char *language, *title, *name;
    } rows[] = {{nullptr, nullptr, ""},
                {"und", nullptr, ""},
                {"eng", nullptr, "eng"},
                {nullptr, "Commentary", "Commentary"},
                {"deu", "Kommentar", "deu, Kommentar"},
                {"deu", "Kommentar von allen", "deu, Kommentar"}};
    for (const auto &row : rows) {
        AVStream *s = f.add(AVMEDIA_TYPE_AUDIO, AV_CODEC_ID_AAC, row.language);
        char name[15];
        if (row.title)
            av_dict_set(&s->metadata, "title", row.title, 0);
        track_notes_name(s, name, sizeof(name));
        CHECK(std::string(name) == row.name);
    }
}

TEST_CASE("track notes: hostile and long texts")
{
    film f;
    f.add(AVMEDIA_TYPE_AUDIO, AV_CODEC_ID_AAC, "e\nng");
    f.add(AVMEDIA_TYPE_AUDIO, AV_CODEC_ID_AAC, "abcdefghijklmnop");
    CHECK(f.unused(AVMEDIA_TYPE_AUDIO, -1) == "2 audio tracks (aac, aac)");
    for (int i = 0; i < 40; i++)
        f.add(AVMEDIA_TYPE_AUDIO, AV_CODEC_ID_AAC);
    CHECK(f.unused(AVMEDIA_TYPE_AUDIO, 0) == "41 other audio tracks (aac, aac, aac, aac ...)");
    CHECK(f.unused(AVMEDIA_TYPE_AUDIO, 0, 10) == "41 other ");
}

TEST_CASE("track notes: audio of more channels is mixed down")
{
    const struct {
        int channels;
        bool known;
        const char *text;
    } rows[] = {
        {1, true, "aac, 48000 Hz"},
        {2, true, "aac, 48000 Hz"},
        {6, true, "aac, 48000 Hz, 5.1 mixed down to stereo"},
        {8, true, "aac, 48000 Hz, 7.1 mixed down to stereo"},
        {6, false, "aac, 48000 Hz, 6 channels mixed down to stereo"},
    };
    for (const auto &row : rows) {
        AVCodecParameters *p = avcodec_parameters_alloc();
        p->codec_id = AV_CODEC_ID_AAC;
        p->sample_rate = 48000;
        if (row.known)
            av_channel_layout_default(&p->ch_layout, row.channels);
        p->ch_layout.nb_channels = row.channels;
        char text[TRACK_NOTES];
        track_notes_audio(p, text, sizeof(text));
        CHECK(text == std::string(row.text));
        avcodec_parameters_free(&p);
    }
}
